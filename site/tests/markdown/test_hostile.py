"""Nothing of a page can be executed, whatever its author writes."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engines.hypothesis_profile import examples
from tenantry_site.markdown import front_matter
from tests.markdown.reading import reader
from tests.markdown.safety import allowed, wrong
from tests.markdown.vectors import PLACES, SCHEMES, VECTORS, everything

READERS = (reader(), reader(external_media=True))


def outputs(text: str) -> list[str]:
    quiet, media = READERS
    html = [quiet.read("index.mdx", text).html, quiet.read("a/b.md", text).html]
    framed = media.read("index.mdx", text).html
    html.append(framed.replace("<iframe", "<x-frame"))  # frames are allowed there; their addresses are judged
    return [*html, quiet.inline(text), quiet.block(text)]


def test_there_are_enough_vectors() -> None:
    """Red when the list shrinks below what was promised."""
    assert len(everything()) >= 150
    assert len(set(VECTORS)) == len(VECTORS) > 200


@pytest.mark.parametrize("text", VECTORS, ids=lambda text: ascii(text)[:60])
def test_a_known_attack(text: str) -> None:
    """Red when escaping, or the allow-list of elements, is taken away."""
    for html in outputs(text):
        assert wrong(html) == [], html


@pytest.mark.parametrize("scheme", SCHEMES, ids=ascii)
def test_a_known_address(scheme: str) -> None:
    """Red when an address is written without being judged, in any of the places that take one."""
    for place in PLACES:
        for html in outputs(place.format(scheme)):
            assert wrong(html) == [], html


def test_the_checker_sees() -> None:
    """Red when the judge of this test is blind: each of these is what it must not overlook."""
    bad = (
        "<script>x</script>",
        "<p onclick=x>y</p>",
        "<a href=' java\tscript:x'>y</a>",
        "<svg onload=1>",
        "<p style='x'>",
        "<iframe src=x>",
        "<img src='data:x'>",
        "<table><script>1</script></table>",
    )
    assert [html for html in bad if not wrong(html)] == []
    assert allowed("x.html#a:b")
    assert not allowed("\x01java\nscript:1")


SAFE_PARTS = st.sampled_from(
    [
        "<",
        ">",
        "</",
        "/>",
        "{",
        "}",
        "{/*",
        "*/}",
        "<!--",
        "-->",
        '"',
        "'",
        "`",
        "```",
        "\n",
        "\n\n",
        " ",
        "    ",
        "\t",
        "=",
        "&",
        "&#x6a;",
        "&quot;",
        "\\",
        "[",
        "]",
        "(",
        ")",
        "![",
        "](",
        "javascript:",
        "onerror=",
        "href=",
        "src=",
        "style=",
        "script",
        "Card",
        "Note",
        "Step",
        "a",
        "img",
        "div",
        "svg",
        "style",
        "table",
        "td",
        "iframe",
        "title=",
        "pre",
        "code",
        "*",
        "**",
        "_",
        "~~",
        "#",
        "- ",
        "1. ",
        "> ",
        "| ",
        "|-|",
        ":",
        "---",
        "===",
        "x",
        "é",
        "\0",
        "\x01",
        "import ",
        "export ",
        "[^1]",
        "[^1]: ",
        "[r]",
        "[r]: ",
        "https://x.y/",
        "<Note>",
        "</Note>",
        "<div>",
        "</div>",
        "<Tabs>",
        "<Tab title='x'>",
        "</Tab>",
        "</Tabs>",
        "<a href='",
        "<b>",
        "</b>",
        "<p>",
        "</p>",
        "<li>",
        "<Tooltip tip='x'>",
        "</Tooltip>",
        "[!NOTE]",
        "[ ] ",
    ]
)


@settings(max_examples=examples(250), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(SAFE_PARTS, max_size=60).map("".join))
def test_a_made_attack(text: str) -> None:
    """Red when any combination of what this syntax is made of raises, or gets through."""
    for html in outputs(text):
        assert wrong(html) == [], html


@settings(max_examples=examples(100), deadline=None)
@given(st.text(max_size=300))
def test_any_text_is_a_page(text: str) -> None:
    """Red when a page raises: lone surrogates, control characters, anything."""
    page = READERS[0].read("x/y.mdx", text)
    page.html.encode()
    page.markdown.encode()
    READERS[0].block(text).encode()


@settings(max_examples=examples(150), deadline=None)
@given(
    st.lists(
        st.sampled_from(
            [
                "a",
                ": ",
                ":",
                "\n",
                "- ",
                "[",
                "]",
                "{",
                "}",
                '"',
                "'",
                "&x",
                "*x",
                "|",
                ">",
                "#",
                " ",
                "!!x ",
                "? ",
                "title",
                "tags",
                "\t",
                "é",
                "\\",
                "%",
                "@",
                "~",
                "1",
            ]
        ),
        max_size=40,
    ).map("".join)
)
def test_any_head_is_read(head: str) -> None:
    """Red when front matter raises."""
    front_matter("x.md", f"---\n{head}\n---\ntext")


def test_deep_yaml_is_an_error_like_any_other() -> None:
    """Red when the head goes to a loader that recurses: that ends the process, not only the test."""
    for each in ("[", "- ", "? ", "{a: "):
        _, body, notes = front_matter("x.md", f"---\nx: y\nz: {each * 20_000}\n---\ntext")
        assert body == "text"
        assert [note.code for note in notes] == ["PAGE001"], each
