"""One synthetic site, written for each tool that builds it: pages of 3.5 KB with tables, code in three languages.

No two blocks of code are alike, so that no tool gains from having seen one before.
"""

from __future__ import annotations

import json
from pathlib import Path

GROUP = 10
"""Pages in a group of the navigation."""

WORDS = (
    "A request carries a token, and the token names a group. The group has properties, which a query reads as bound "
    "parameters; what is missing is an error and never an empty filter. The cache answers while its lease holds, and "
    "a rotation ends it for every worker of the host before the caller hears of it."
)


def page(number: int, count: int) -> str:
    """The Markdown of one page, some 3.5 KB."""
    other, third = (number * 7 + 1) % count, (number * 13 + 5) % count
    rows = "\n".join(f"| field_{number}_{row} | string | no | The value of row {row}. |" for row in range(8))
    return f"""# Page {number}

{WORDS}

## Reading {number}

{WORDS} See [page {other}]({name(other)}.md) and [page {third}]({name(third)}.md#writing-{third}).

```python
def page_{number}(rows: list[int], limit: int = {number}) -> int:
    \"\"\"Adds up what is above the limit of page {number}.\"\"\"
    total = sum(row for row in rows if row > limit)
    if total % {number + 2} == 0:
        raise ValueError(f"page {number}: {{total}}")
    return total
```

| Field | Type | Required | Meaning |
|---|---|---|---|
{rows}

## Writing {number}

- One thing that is *said* here, with `code_{number}` in it
- Another, with a [link](https://example.com/{number})
- **A third**

{WORDS}

```json
{{"page": {number}, "items": [{{"id": {number * 3}, "open": true}}, {{"id": {number * 3 + 1}, "open": null}}], "name": "p{number}"}}
```

### Details of {number}

{WORDS}

```bash
curl --request POST https://api.example.com/pages/{number} \\
  --header "Authorization: Token $TOKEN_{number}" --data '{{"limit": {number}}}'
for i in 1 2 3; do echo "page {number} $i" | tee -a page-{number}.log; done
```

> {WORDS}

1. First of {number}
2. Second of {number}

{WORDS}
"""  # noqa: E501  # the line is a line of the page


def name(number: int) -> str:
    """A page's path without its suffix."""
    return f"page-{number:04}"


def write_pages(folder: Path, count: int) -> None:
    """The same pages for both."""
    folder.mkdir(parents=True)
    for number in range(count):
        (folder / f"{name(number)}.md").write_text(page(number, count), "utf-8")


def groups(count: int) -> dict[str, list[str]]:
    """The navigation: the pages of each group."""
    firsts = range(0, count, GROUP)
    return {f"Group {first // GROUP}": [name(n) for n in range(first, min(first + GROUP, count))] for first in firsts}


def write_ours(folder: Path, count: int) -> None:
    """A folder for ``tenantry-site build``."""
    write_pages(folder, count)
    navigation = [{"group": group, "pages": pages} for group, pages in groups(count).items()]
    colors = {"primary": "#2f5bd8", "light": "#8aa8ff", "dark": "#2f5bd8"}
    config = {"name": "Bench", "favicon": "/favicon.svg", "colors": colors, "navigation": navigation}
    (folder / "site.json").write_text(json.dumps(config), "utf-8")
    (folder / "favicon.svg").write_text("<svg xmlns='http://www.w3.org/2000/svg'/>", "utf-8")


def write_mkdocs(folder: Path, count: int, *, theme: str) -> None:
    """The same pages for mkdocs: with its own theme it highlights in the browser, with Material at the build."""
    write_pages(folder / "docs", count)
    lines = [f"site_name: Bench\nsite_url: https://example.com/\ntheme:\n  name: {theme}\nnav:"]
    for group, pages in groups(count).items():
        lines += [f"  - {group}:", *(f"      - {each}.md" for each in pages)]
    extensions = ["tables", "toc"]
    extensions += ["pymdownx.highlight", "pymdownx.superfences"] if theme == "material" else ["fenced_code"]
    lines += ["markdown_extensions:", *(f"  - {each}" for each in extensions)]
    (folder / "mkdocs.yml").write_text("\n".join(lines) + "\n", "utf-8")
