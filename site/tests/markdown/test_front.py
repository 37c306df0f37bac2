"""Front matter."""

from __future__ import annotations

import pytest

from tenantry_site.markdown import front_matter


def head(text: str) -> object:
    return front_matter("x.mdx", f"---\n{text}\n---\nbody\n")[0]


def test_every_key() -> None:
    """Red when a key is not honoured, or lands in another field."""
    front, body, notes = front_matter(
        "x.mdx",
        "---\n"
        "title: \"A: title\"\nsidebarTitle: Short\ndescription: 'It'\nicon: book-open\niconType: solid\n"
        "api: POST /v1/x\nopenapi: openapi.json get /x\nauthMethod: bearer\nplayground: simple\ncontentType: a/b\n"
        'mode: wide\nurl: https://example.com/a#b\nversion: v1\ntags: [a, "b c"]\nkeywords: x, y\nnoindex: true\n'
        'hideApiMarker: true\n"og:title": Card\nrobots: none\nother: 1\n---\nbody\n',
    )
    assert notes == ()
    assert body == "body\n"
    assert (front.title, front.sidebar_title, front.description) == ("A: title", "Short", "It")
    assert (front.icon, front.icon_type, front.api, front.auth_method) == ("book-open", "solid", "POST /v1/x", "bearer")
    assert (front.openapi, front.mode, front.version) == ("openapi.json get /x", "wide", "v1")
    assert (front.playground, front.content_type, front.hide_api_marker) == ("simple", "a/b", True)
    assert front.url == "https://example.com/a#b"
    assert (front.tags, front.keywords, front.noindex) == (("a", "b c"), ("x", "y"), True)
    assert dict(front.meta) == {"og:title": "Card", "robots": "none"}


@pytest.mark.parametrize(
    ("line", "title"),
    [
        ("title: Plain words", "Plain words"),
        ("title: 'single'", "single"),
        ('title: "a \\" b"', 'a " b'),
        ("title: 'it''s'", "it's"),
        ("title: 1.10", "1.10"),
        ("title: yes", "yes"),
        ("title: 2024-01-01", "2024-01-01"),
        ("title: a # comment", "a"),
        ("title: a#b", "a#b"),
        ("title: >-\n  two\n  lines", "two lines"),
        ("title:", ""),
        ("title: 🚀 go", "🚀 go"),
        ("title: null", ""),
        ("title:   spaces  ", "spaces"),
        ("title: x\r", "x"),
        ("title: C:\\dir", "C:\\dir"),
        ("title: https://x.y", "https://x.y"),
        ('title: "tab\\tx"', "tab\tx"),
    ],
)
def test_texts(line: str, title: str) -> None:
    """Red when the quick reader and YAML differ about a text."""
    assert front_matter("x.mdx", f"---\n{line}\n---\n")[0].title == title


def test_quick_and_thorough_agree() -> None:
    """Red when a head means one thing read line by line, and another as soon as one line of it needs YAML."""
    lines = "title: A b\ndescription: \"c: d\"\nicon: 'e'\nmode: wide\nsidebarTitle: /x y"
    assert head(lines) == head(f"{lines}\nunknown: [1]")


@pytest.mark.parametrize(
    ("text", "title", "line"),
    [
        ("title: Part: two", "Part: two", 2),
        ("description: x\ntitle: 'open", "'open", 0),
        ("title: [a", "[a", 0),
        ("title: @x", "@x", 2),
        ("title: `x`", "`x`", 2),
        ("\ttitle: x\ntitle: y", "y", 2),
        ("title: *x*", "*x*", 0),
    ],
)
def test_bad_yaml_is_read_all_the_same(text: str, title: str, line: int) -> None:
    """Red when a mistake in the head loses it, or is not spoken of."""
    front, body, notes = front_matter("x.mdx", f"---\n{text}\n---\nbody")
    assert (front.title, body) == (title, "body")
    assert [note.code for note in notes] == ["PAGE001"]
    assert notes[0].fix
    assert line in (0, notes[0].line)


def test_near_misses() -> None:
    """Red when ``Title`` is no title, or nobody says so."""
    front, _, notes = front_matter("x.mdx", "---\nTitle: A\nsidebar-title: B\nog_title: C\n---\n")
    assert (front.title, front.sidebar_title) == ("A", "B")
    assert [(note.code, note.fix) for note in notes] == [("PAGE002", "write title"), ("PAGE002", "write sidebarTitle")]


def test_a_list_where_a_text_belongs() -> None:
    """Red when it becomes the text of a list."""
    front, _, notes = front_matter("x.mdx", "---\ntitle: [a, b]\ndescription: {a: b}\n---\n")
    assert (front.title, front.description) == ("", "")
    assert [note.code for note in notes] == ["PAGE003", "PAGE003"]


@pytest.mark.parametrize(
    "text", ["no head", "---\nno end", "", "---", "text\n---\na: b\n---\n", "---\nprose\n\nmore\n---\nx"]
)
def test_what_is_no_head_stays_text(text: str) -> None:
    """Red when text between two rules is taken for metadata and lost."""
    front, body, _ = front_matter("x.mdx", text)
    assert front.title == ""
    assert body == text


def test_byte_order_mark_and_line_ends() -> None:
    """Red when a file from another system has no metadata."""
    front, body, _ = front_matter("x.mdx", "\ufeff---\r\ntitle: A\r\nicon: b\r\n---\r\nbody\r\n")
    assert (front.title, front.icon, body) == ("A", "b", "body\r\n")
