"""Pages: titles, headings, links, sections, code, tables, footnotes."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenantry_site.markdown import inline_renderer
from tenantry_site.page import Heading, Link, Section
from tests.markdown.reading import codes, read, reader


@pytest.mark.parametrize(
    ("text", "title", "levels"),
    [
        ("---\ntitle: T\n---\n# T\n\n## A\n\n### B", "T", [2, 3]),
        ("---\ntitle: T\n---\n## A", "T", [2]),
        ("---\ntitle: T\n---\n# Other\n\n## A\n\n###### F", "T", [2, 3, 6]),
        ("# First *x*\n\n## A", "First x", [2]),
        ("# First\n\n# Second\n\n## A", "First", [2, 3]),
        ("text", "Start", []),
        ("T\n=\n\nA\n-", "T", [2]),
        ("---\ntitle: ' t '\n---\n#  T  \n\n## A", " t ", [2]),
    ],
)
def test_one_heading_of_level_1(text: str, title: str, levels: list[int]) -> None:
    """Red when the title stands twice, or a heading of level 1 stands in the text."""
    page = read(text)
    assert page.title == title
    assert "<h1" not in page.html
    assert [each.level for each in page.headings] == levels


def test_identifiers() -> None:
    """Red when an id changes: links from elsewhere name it."""
    page = read(
        "## Hello, World!\n## Hello, World!\n"
        "## `code` & more\n## Über das Größte\n## 日本 語\n## हिन्दी\n## !!!\n## a_b - c\n"
        "## Hello, World! 1\n## Content"
    )
    assert [each.id for each in page.headings] == [
        "hello-world",
        "hello-world-2",
        "code-&-more",
        "über-das-größte",
        "日本-語",
        "हिन्दी",
        "section",
        "a_b-c",
        "hello-world-1",
        "content",
    ]
    assert page.headings[2] == Heading(2, "code-&-more", "code & more")
    assert '<h2 id="code-&amp;-more">' in page.html
    assert '<a class="anchor" href="#code-&amp;-more"' in page.html


@pytest.mark.parametrize(
    ("heading", "identifier"),
    [
        ("link.created", "link-created"),
        ("What's next?", "what’s-next"),
        ("`create_user()`", "create_user"),
        ("Step 1: Issue a key", "step-1-issue-a-key"),
        ("Input/Output & more", "input/output-&-more"),
        ("v2.1.0 – the second", "v2-1-0-the-second"),
        ("fooBar", "foobar"),
        ("示例\uff1a内容", "示例\uff1a内容"),
        ("Limits {#limits.Now}", "limits.Now"),
    ],
)
def test_identifiers_of_the_format(heading: str, identifier: str) -> None:
    """The rules that the documentation of the format lists. Red when a period is dropped: links to it break."""
    page = read(f"---\ntitle: T\n---\n## {heading}\n\n{heading.partition(' {#')[0]}\n---\n")
    assert page.headings[0].id == identifier
    if heading.endswith("}"):
        assert page.headings[0].text == "Limits"


def test_identifiers_that_an_author_wrote() -> None:
    """As written, since links name them so; none twice, none of the frame's. Red when they are made lower case."""
    page = read(
        '<div id="myPart">a</div>\n\n<a name="A.1"></a>\n\n<div id="myPart">b</div>\n\n<p id="Site-content">c</p>'
    )
    assert re.findall(r' id="([^"]+)"', page.html) == ["myPart", "A.1", "mypart", "site-content"]


def test_links() -> None:
    """Red when a link does not lead where its author meant, or is not reported for the check."""
    page = read(
        "---\ntitle: x\n---\n[a](more) [b](/guides/more.mdx#x) [c](../index.md)\n[d](/nowhere) [e](#here) [f](/api)\n\n"
        "![g](/images/a.png) [h](mailto:a@b.c) [i](https://e.com 't') <https://e.com/j>"
    )
    for href in (
        "more.html",
        "more.html#x",
        "../index.html",
        "../nowhere",
        "#here",
        "../api/index.html",
        "mailto:a@b.c",
    ):
        assert f'href="{href}"' in page.html
    assert '<a href="https://e.com" title="t" rel="noopener">' in page.html
    assert '<a href="https://e.com/j" rel="noopener">' in page.html
    assert page.links == (
        Link("more", 4),
        Link("/guides/more.mdx#x", 4),
        Link("../index.md", 4),
        Link("/nowhere", 5),
        Link("#here", 5),
        Link("/api", 5),
        Link("/images/a.png", 7),
    )


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("see https://e.com/a_b*c.", "https://e.com/a_b*c"),
        ("(https://e.com/x)", "https://e.com/x"),
        ("https://e.com/x_(y)", "https://e.com/x_(y)"),
        ("https://e.com/?a=b&c=d!", "https://e.com/?a=b&amp;c=d"),
        ("http://localhost:3000, x", "http://localhost:3000"),
    ],
)
def test_bare_addresses(text: str, address: str) -> None:
    """Red when the punctuation of the sentence goes into the link."""
    assert f'<a href="{address}" rel="noopener">{address}</a>' in read(text).html


@pytest.mark.parametrize(
    "text", ["`https://e.com`", "[https://e.com](/api)", "xhttps://e.com", "https://", "```\nhttps://e.com\n```"]
)
def test_no_bare_address(text: str) -> None:
    """Red when code, or the text of a link, becomes a link."""
    assert 'href="https' not in read(text).html


def test_sections() -> None:
    """Red when the search does not find what a reader sees."""
    page = read(
        "Before.\n\n## One\n\nText with `code` and [link](x).\n\n| A | B |\n|---|---|\n| c | d |\n\n"
        "```py title.py\nx = 1\n```\n\n"
        '### Two\n\n<Card title="Card title">Inside</Card>\n\n- item\n- item two\n\n![alt](/images/a.png)'
    )
    assert page.sections == (
        Section("", "", "Before."),
        Section("one", "One", "Text with code and link. A B c d title.py x = 1"),
        Section("two", "Two", "Card title Inside item item two alt"),
    )


def test_code() -> None:
    """Red when title, highlighting, marked lines or the copy button are lost."""
    drawn = read('```python app.py {1,3-4} wrap\nx = \'a\'\ny = 2\nz\n"""d\n```').html
    assert drawn.startswith(
        '<figure class="code" data-language="python"><figcaption class="code-title">app.py</figcaption>'
    )
    assert (
        '<button type="button" class="copy" data-copy hidden>Copy</button><pre tabindex="0" class="wrap"><code>'
        in drawn
    )
    assert drawn.count('<span class="line">') == 1
    assert drawn.count('<span class="line marked">') == 3
    assert '<span class="s">&#39;a&#39;</span>' in drawn
    assert read("```nonsense\n<x>\n```").html == (
        '<div class="code" data-language="nonsense"><button type="button" class="copy" data-copy hidden>Copy</button>'
        '<pre tabindex="0"><code>&lt;x&gt;</code></pre></div>\n'
    )


@pytest.mark.parametrize(
    ("info", "title"),
    [
        ('js title="a b.js"', "a b.js"),
        ("js filename='x'", "x"),
        ("js My title", "My title"),
        ("js {1,2}", ""),
        ("js lines wrap", ""),
        ("js{1}", ""),
        ("bash theme={null}", ""),
        ('bash theme={"theme":{"light":"a","dark":"b"}}', ""),
        ('json "x"', "x"),
        ("ts app.ts {2} lines", "app.ts"),
        ("", ""),
        ("title=only.js", "only.js"),
    ],
)
def test_titles_of_code(info: str, title: str) -> None:
    """Red when an option is taken for a title, or a title for an option."""
    drawn = read(f"```{info}\nx\n```").html
    assert (f">{title}</figcaption>" in drawn) if title else ("figcaption" not in drawn)


def test_highlighted_lines_stand_alone() -> None:
    """Red when a string over lines makes a span over lines: marked lines would be torn."""
    drawn = read('```python {2}\nx = """a\nb\nc"""\n```').html
    assert drawn.count("<span") == drawn.count("</span>")
    for line in drawn.split("<code>")[1].split("</code>")[0].split('<span class="line')[1:]:
        assert line.count("<span") + 1 == line.count("</span>")


def test_absurd_blocks_are_plain() -> None:
    """Red when a block of a megabyte is highlighted."""
    assert '<span class="' not in read("```python\n" + "x = 1\n" * 200_000 + "```").html


def test_the_same_block_is_highlighted_once() -> None:
    """Red when every page pays again."""
    mine = reader()
    first = mine.read("index.mdx", "```python\nx = 1\n```").html
    from tenantry_site.markdown import code_blocks

    lexed, code_blocks._highlight = code_blocks._highlight, lambda *_: pytest.fail("highlighted again")
    try:
        assert mine.read("index.mdx", "text\n\n```python\nx = 1\n```").html.endswith(first)
    finally:
        code_blocks._highlight = lexed


def test_tables() -> None:
    """Red when a table cannot be scrolled with the keyboard, or its cells lose their side."""
    drawn = read("| A `x` | B |\n|:-:|--:|\n| a\\|b | <br> |").html
    assert drawn.startswith('<div class="table" role="group" tabindex="0" aria-label="A x, B"><table>')
    assert '<th scope="col" class="center">A <code>x</code></th><th scope="col" class="right">B</th>' in drawn
    assert '<td class="center">a|b</td><td class="right"><br></td>' in drawn


def test_lists() -> None:
    """Red when a list loses its start, or a task its box."""
    drawn = read("3. a\n4. b\n\n- [x] done `c`\n- [ ] open\n- [y] none").html
    assert '<ol start="3">' in drawn
    assert '<li class="task"><input type="checkbox" disabled aria-label="done" checked> done <code>c</code>' in drawn
    assert '<li class="task"><input type="checkbox" disabled aria-label="to do"> open' in drawn
    assert "<li>[y] none" in drawn


def test_footnotes() -> None:
    """Red when a note is lost, doubled or cannot be come back from."""
    page = read("a[^x] b[^y] c[^x] d[^none]\n\n[^y]: Second *note*\n[^x]: First\n\n[^unused]: Nobody\n")
    first, second = (f'<a href="#Site-fn.{number}" id="Site-fn.{number}.back">{number}</a>' for number in (1, 2))
    assert f'{first}</sup> b<sup class="footnote">{second}' in page.html
    assert 'id="Site-fn.1.back.2"' in page.html
    assert page.html.index("First") < page.html.index("Second <em>note</em>")
    assert "Nobody" not in page.html
    assert "d[^none]" in page.html


def test_paragraphs_and_headings_of_markdown() -> None:
    """Red when the site's own rules for paragraphs part from Markdown's."""
    for text, expected in (
        ("a\nb", "<p>a\nb</p>\n"),
        ("a  \nb", "<p>a<br>\nb</p>\n"),
        ("a\n\nb", "<p>a</p>\n<p>b</p>\n"),
        ("a\n- b", "<p>a</p>\n<ul>\n<li>b\n</li>\n</ul>\n"),
        ("a\n2. b", "<p>a\n2. b</p>\n"),
        ("a\n> b", "<p>a</p>\n<blockquote>\n<p>b</p>\n</blockquote>\n"),
        ("> a\nb", "<blockquote>\n<p>a\nb</p>\n</blockquote>\n"),
        ("a\n***", "<p>a</p>\n<hr>\n"),
        ("a\n#b", "<p>a\n#b</p>\n"),
        ("~~a~~", "<p><s>a</s></p>\n"),
        ("a $x_1$ $y_2$", "<p>a $x_1$ $y_2$</p>\n"),
        ("*a _b_ c*", "<p><em>a <em>b</em> c</em></p>\n"),
        ("&copy; &amp; &x;", "<p>© &amp; &amp;x;</p>\n"),
    ):
        assert read(text).html == expected


def test_what_readers_of_markdown_get() -> None:
    """Red when they get front matter or imports."""
    page = read(
        '---\ntitle: x\n---\nimport A from "/snippets/a.mdx"\nexport const b = 1\n\n# T\n\ntext\n',
        snippets={"snippets/a.mdx": "A"},
    )
    assert page.markdown == "## T\n\ntext\n"
    assert codes(page) == []


def test_line_ends_and_encodings() -> None:
    """Red when a file from another system reads otherwise, or its text cannot be written."""
    assert read("# a\r\n\r\ntext\rmore\r\n").html == read("# a\n\ntext\nmore\n").html
    read("\ud800 \0").html.encode()


@given(st.text("ab1_é中.!( \u00a0\u0301²", min_size=1, max_size=12))
def test_text_without_marks_is_what_the_parser_makes_of_it(text: str) -> None:
    """Such as ``user_group``. Red when the short way for plain text takes an underscore that means something."""
    short = read(text).html
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(inline_renderer, "SPECIAL", re.compile(""))
        assert read(text).html == short
