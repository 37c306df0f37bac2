"""The Markdown file of a page: text that a program reads without knowing the components."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from engines.corpus import each_site
from tenantry_site import render
from tenantry_site.building import SiteFiles, scan
from tests.markdown.reading import read

SNIPPETS = {"snippets/a.mdx": "A **bold** {name}\n\n## Head"}
CODE = r"^[ >]*(`{3,}).*?^[ >]*\1|(`+)(?:(?!\2).)+?\2(?!`)|\\<"
TAGS = re.compile(CODE + r"|(</?[A-Z]|^(?:import|export) )", re.DOTALL | re.MULTILINE)


def tags(markdown: str) -> list[str]:
    """The tags of components, imports and exports outside of code."""
    return [found[3] for found in TAGS.finditer(markdown) if found[3]]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('import A from "/snippets/a.mdx"\n\n<A name="N" />', "A **bold** N\n\n## Head\n"),
        ("<Note>\nBe **careful**.\n\n- one\n- two\n</Note>", "> **Note**\n>\n> Be **careful**.\n>\n> - one\n> - two\n"),
        ('<Card title="More" icon="x" href="/guides/more">Read on</Card>', "[More](more.md)\n\nRead on\n"),
        ('See <DocLink href="/guides/more#x">this *one*</DocLink>.', "See [this *one*](more.md#x).\n"),
        (
            '<ParamField body="key" type="string" required default="a">The key.</ParamField>',
            "`key`: string, required, default a\n\nThe key.\n",
        ),
        (
            '<Steps>\n<Step title="First">\n```python title="x.py"\nprint("<Note>")\n```\n</Step>\n</Steps>',
            '**First**\n\n```python x.py\nprint("<Note>")\n```\n',
        ),
        (
            "<Tip>x</Tip>\n\n| A | B |\n|---|---|\n| `a` | y |",
            "> **Tip**\n>\n> x\n\n| A | B |\n|---|---|\n| `a` | y |\n",
        ),
        ('1. a\n   - b\n2. c\n\n<Icon icon="x" />', "1. a\n   - b\n2. c\n"),
        ("- [x] done\n- [ ] open <Badge>new</Badge>", "- [x] done\n- [ ] open new\n"),
        ("a \\* b \\<Note> `<Note>` c_d<br />e <Badge>f</Badge>", "a \\* b \\<Note> `<Note>` c_d\\\ne f\n"),
        (
            "<Badge>x</Badge>\n\n![alt](/images/a.png)\n\n---\n\n## `f()` {#own}",
            "x\n\n![alt](../images/a.png)\n\n---\n\n## `f()`\n",
        ),
        ("Only *Markdown*\n  and <b>HTML</b>.", "Only *Markdown*\n  and <b>HTML</b>."),
    ],
)
def test_components_become_text(text: str, expected: str) -> None:
    """Red when the file is the source with its tags."""
    assert read(f"---\ntitle: T\n---\n{text}", snippets=SNIPPETS).markdown == expected


@each_site
def test_no_page_of_a_real_site_has_a_tag(folder: Path) -> None:
    """Red when a component of a page is passed on: 43 of the 51 pages of both sites had tags."""
    texts = {path: content for path, content in render(dict(SiteFiles(scan(folder)))).items() if path.endswith(".md")}
    assert len(texts) > 20
    for path, content in texts.items():
        assert tags(content.decode()) == [], path
