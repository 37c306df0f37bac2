"""Components that are not known here: what leads somewhere stays a link; and fields whose attributes touch."""

from __future__ import annotations

import pytest

from tests.markdown.reading import read


def test_a_field_whose_attributes_touch() -> None:
    """Red when its tag is printed as text."""
    page = read('<ParamField body="key"type="str" required>\nThe key.\n</ParamField>')
    assert "&lt;" not in page.html
    assert page.diagnostics == ()
    for part in ("key", "str", "required", "The key."):
        assert part in page.html


LINKS = [
    ('<LinkButton href="/guides/more">Go on</LinkButton>', '<p><a href="more.html">Go on</a></p>'),
    (
        'Read <DocLink href="/guides/more">**this**</DocLink> now',
        '<p>Read <a href="more.html"><strong>this</strong></a> now</p>',
    ),
    ('<DocLink href="/guides/more">This</DocLink> is it', '<p><a href="more.html">This</a> is it</p>'),
    ('<DocLink href="/guides/more" /> is it', '<p><a href="more.html">/guides/more</a> is it</p>'),
    ('See <DocLink href="/guides/more" />.', '<p>See <a href="more.html">/guides/more</a>.</p>'),
    ('<HeroCard title="More" href="/guides/more" />', '<p><a href="more.html">More</a></p>'),
    ('<Foo.Bar label="More"href="/guides/more" />', '<p><a href="more.html">More</a></p>'),
    (
        '<HeroCard title="More" href="/guides/more">\n\nA *text*.\n\n</HeroCard>',
        '<p><a href="more.html">More</a></p>\n<p>A <em>text</em>.</p>',
    ),
    (
        '<Tile href="/guides/more">\n\nA [link](/).\n\n</Tile>',
        '<p><a href="more.html">/guides/more</a></p>\n<p>A <a href="../index.html">link</a>.</p>',
    ),
    ('<Tile href="/guides/more">\n  Go on\n</Tile>', '<p><a href="more.html">Go on</a></p>'),
    ('<my-link href="/guides/more">Go on</my-link>', '<p><a href="more.html">Go on</a></p>'),
    (
        '<Tile href="https://example.com/a?b=1&c=2">Go</Tile>',
        '<p><a href="https://example.com/a?b=1&amp;c=2">Go</a></p>',
    ),
    ('<Tile href={"/guides/more"}>Go</Tile>', '<p><a href="more.html">Go</a></p>'),
]


@pytest.mark.parametrize(("text", "drawn"), LINKS)
def test_an_unknown_component_with_an_address_is_a_link(text: str, drawn: str) -> None:
    """Red when its contents are shown without the link. What a link cannot hold stands behind it."""
    page = read(text)
    assert page.html.strip().replace(' rel="noopener"', "") == drawn
    assert [note.code for note in page.diagnostics] in (["PAGE006"], ["PAGE012"])
    assert "link" in page.diagnostics[0].message
    if "example.com" not in text:
        assert "/guides/more" in [link.target for link in page.links], "it is checked like every link"


@pytest.mark.parametrize("address", ["javascript:alert(1)", "JaVaScRiPt:x", "data:text/html,x", " ", ""])
def test_an_unknown_component_leads_nowhere_else(address: str) -> None:
    page = read(f'<Tile href="{address}" title="x">kept</Tile>')
    assert "kept" in page.html
    assert "<a" not in page.html


def test_links_of_html_that_lead_nobody_anywhere() -> None:
    for text in ('<link rel="stylesheet" href="x.css">kept', '<base href="https://evil.example/">kept'):
        assert "<a" not in read(text).html
