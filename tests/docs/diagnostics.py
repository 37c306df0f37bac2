"""docs/site-diagnostics.md out of the codes: ``python -m tests.docs.diagnostics`` writes it again."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from tenantry_site.config.diagnostics import CODE_TABLE

PAGE = Path(__file__).parents[2] / "docs" / "site-diagnostics.md"

PARTS = {
    "The configuration file": "config",
    "Pages": "markdown",
    "Components": "components",
    "OpenAPI documents and API pages": "reference",
    "Links and redirects": "outputs",
    "The site as a whole": "rendering",
    "The frame of pages": "theme",
    "Files on the disk": "building",
}
"""Headings, and the parts of ``tenantry_site`` whose codes stand under them."""

HEAD = """# Diagnostics

The diagnostics of `tenantry site check`, by code. Codes are stable, so that scripts can name them. Each diagnostic has
a severity: an error fails a check, a warning fails it with `--strict`, and an info never does. It names a file, with a
line and column or a JSON pointer, and says what the problem is and how to fix it.

```text
site.json:2:17: error CFG010: there is '}' where a value is expected
     2 |  "navigation": [}
       |                 ^
    fix: write the value, or remove '}'
```

`--format json` writes the same as JSON, and `--format sarif` as a log that code hosts and editors show at the line.
"""


def page() -> str:
    """The text of the page."""
    return HEAD + "".join(f"\n## {title}\n\n{_table(part)}" for title, part in PARTS.items())


def _table(part: str) -> str:
    codes: dict[str, str] = import_module(f"tenantry_site.{part}").CODES
    if part == "config":
        rows = [("code", "severity", "meaning"), ("---",) * 3]
        rows += [(f"`{code}`", str(CODE_TABLE[code].severity), meaning) for code, meaning in codes.items()]
        return "".join(_row(row) for row in rows)
    return "".join(
        _row(row) for row in [("code", "meaning"), ("---", "---"), *((f"`{c}`", m) for c, m in codes.items())]
    )


def _row(cells: tuple[str, ...]) -> str:
    if set(cells) == {"---"}:
        return f"|{'|'.join(cells)}|\n"
    return f"| {' | '.join(cell.replace('``', '`').replace('|', '/') for cell in cells)} |\n"


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
