"""The Markdown file of a page: text that a program reads without knowing the components."""

from __future__ import annotations

import json
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


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A.\n\n{/* unseen */}\n\n<!-- unseen -->\n\nB {/* unseen */} <!-- unseen -->c.", "A.\n\nB c.\n"),
        ("## Head {/* unseen */}\n\n- one {/* unseen */}\n\n> two <!-- unseen -->", "## Head\n\n- one\n\n> two\n"),
        ("| a {/* unseen */} | b |\n|---|---|\n| c | <!-- unseen --> |", "| a | b |\n|---|---|\n| c |  |\n"),
        ("## Head {#unseen}\n\nA.", "## Head\n\nA.\n"),
        ("A.\n\n[//]: # (unseen)\n\nB.", "A.\n\nB.\n"),
        ("A.\n\n<script>unseen</script>\n\nB.", "A.\n\nB.\n"),
        ('It is {"shown"}.', "It is shown.\n"),
        ("`<!-- shown -->`\n\n```\n{/* shown */}\n```", "`<!-- shown -->`\n\n```\n{/* shown */}\n```"),
    ],
)
def test_what_a_page_hides_is_not_in_its_file_either(text: str, expected: str) -> None:
    """Red when a page without components is always its source: comments of authors reached readers and crawlers."""
    page = read(f"---\ntitle: T\n---\n{text}")
    assert page.markdown == expected
    assert "unseen" not in re.sub(' (id|href)="#?unseen"', "", page.html)


def test_comments_are_in_no_file_of_a_site() -> None:
    """Red when titles or labels of tables are made from the source, or when the Markdown of descriptions in OpenAPI
    documents is passed on."""
    operation = {
        "summary": "Make",
        "description": "Makes it. <!-- unseen -->",
        "parameters": [{"name": "q", "in": "query", "description": "A word {/* unseen */}", "schema": {}}],
        "responses": {"200": {"description": "<!-- unseen\n\nunseen -->\n\nIt is made."}},
    }
    files = {
        "docs.json": json.dumps(
            {"name": "Docs", "openapi": "/api.json", "navigation": [{"group": "All", "pages": ["a", "b", "make"]}]}
        ),
        "a.mdx": "# The `user_group` {/* unseen */}\n\nText.\n\n| a <!-- unseen --> | b |\n|---|---|\n| c | d |\n",
        "b.md": "# B <!-- unseen -->\n\nText.\n",
        "api.json": json.dumps({"openapi": "3.1.0", "info": {}, "paths": {"/things": {"post": operation}}}),
        "make.mdx": '---\nopenapi: "POST /things"\n---\n',
    }
    rendered = render(files)
    found = {path for path, content in rendered.items() if b"unseen" in content}
    assert found == {"api.json"}  # the document itself
    assert "[The user_group](" in rendered["llms.txt"].decode()
    assert 'aria-label="a, b"' in rendered["a.html"].decode()
    assert "Makes it." in rendered["make.md"].decode()


@each_site
def test_no_page_of_a_real_site_has_a_tag(folder: Path) -> None:
    """Red when a component of a page is passed on: 43 of the 51 pages of both sites had tags."""
    texts = {path: content for path, content in render(dict(SiteFiles(scan(folder)))).items() if path.endswith(".md")}
    assert len(texts) > 20
    for path, content in texts.items():
        assert tags(content.decode()) == [], path
