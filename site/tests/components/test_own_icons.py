"""Icons that are drawn or named by an element in an attribute: shown, and safe."""

from __future__ import annotations

import re

import pytest

from tenantry_site.components.icons import own_svg
from tests.markdown.reading import codes, read, reader

PATH = '<path d="M12 2L2 22h20z"/>'
SHAPES = {
    "in braces": f'<Card title="t" icon={{<svg viewBox="0 0 24 24">{PATH}</svg>}}>x</Card>',
    "on lines of its own": f'<Card\n  title="t"\n  icon={{\n    <svg viewBox="0 0 24 24" fill="none">\n      {PATH}\n    </svg>\n  }}\n>x</Card>',  # noqa: E501
    "in parentheses": f'<Card title="t" icon={{(<svg viewBox="0 0 24 24">{PATH}</svg>)}} href="/">x</Card>',
    "as a text": f"<Card title='t' icon='<svg viewBox=\"0 0 24 24\">{PATH}</svg>'>x</Card>",
    "JSX": f'<Card title="t" icon={{<svg className="w-4" viewBox="0 0 24 24" strokeWidth={{1.5}} style={{{{width: 24}}}}>{PATH}</svg>}}>x</Card>',  # noqa: E501
    "without a viewBox": f'<Card title="t" icon={{<svg width="24" height="24px" xmlns="http://www.w3.org/2000/svg">{PATH}</svg>}}>x</Card>',
    "in a fragment": f'<Card title="t" icon={{<><svg viewBox="0 0 24 24">{PATH}</svg></>}}>x</Card>',
    "in a span": f'<Card title="t" icon={{(<span className="w-4">\n<svg viewBox="0 0 24 24">{PATH}</svg>\n</span>)}}>x</Card>',  # noqa: E501
    "in two": f'<Card title="t" icon={{<div style={{{{a: 1}}}}><i><svg viewBox="0 0 24 24">{PATH}</svg></i></div>}}>x</Card>',  # noqa: E501
    "of an accordion": f'<Accordion title="t" icon={{<svg viewBox="0 0 24 24">{PATH}</svg>}}>x</Accordion>',
    "of a step": f'<Steps><Step title="t" icon={{<svg viewBox="0 0 24 24">{PATH}</svg>}}>x</Step></Steps>',
    "of a tab": f'<Tabs><Tab title="t" icon={{<svg viewBox="0 0 24 24">{PATH}</svg>}}>x</Tab></Tabs>',
    "of an icon": f'<Icon icon={{<svg viewBox="0 0 24 24">{PATH}</svg>}} />',
    "with touching attributes": f'<Card title="t"icon={{<svg viewBox="0 0 24 24">{PATH}</svg>}}href="/">x</Card>',
}


@pytest.mark.parametrize("text", SHAPES.values(), ids=SHAPES)
def test_an_svg_in_an_attribute_is_shown(text: str) -> None:
    """Red when it is left out as an expression, or its tag is printed."""
    page = read(text)
    drawn, *_ = re.findall(r'<svg class="icon icon-own"[^>]*>.*?</svg>', page.html, re.DOTALL)
    assert 'viewBox="0 0 24 24"' in drawn
    assert 'd="M12 2L2 22h20z"' in drawn
    assert 'width="16" height="16" aria-hidden="true"' in drawn
    assert "style=" not in page.html
    assert "className" not in page.html
    assert "w-4" not in page.html
    assert "&lt;" not in page.html
    assert codes(page) == []
    if "strokeWidth" in text:
        assert 'stroke-width="1.5"' in drawn


HOSTILE = [
    "<svg onload=alert(1) viewBox='0 0 1 1'>{}</svg>",
    "<svg viewBox='0 0 1 1'><script>alert(1)</script>{}</svg>",
    "<svg><style>@import url(//evil.example)</style>{}</svg>",
    "<svg style='background:url(//evil.example)'>{}</svg>",
    "<svg>{}<image href='https://evil.example/x.png'/></svg>",
    "<svg>{}<use href='https://evil.example/x.svg#a'/></svg>",
    "<svg>{}<use xlink:href='data:image/svg+xml,<svg/>#a'/></svg>",
    "<svg fill='url(https://evil.example/#a)'>{}</svg>",
    "<svg fill='u\\72l(https://evil.example/#a)'>{}</svg>",
    "<svg><a href='javascript:alert(1)'>{}</a></svg>",
    "<svg>{}<animate attributeName='href' to='javascript:alert(1)'/></svg>",
    "<svg>{}<set attributeName='onload' to='alert(1)'/></svg>",
    "<svg>{}<foreignObject><iframe src='https://evil.example'></iframe></foreignObject></svg>",
    "<svg>{}</svg><img src=x onerror=alert(1)>",
    "<svg><p>{}<img src=x onerror=alert(1)></svg>",
    "<span onclick=alert(1)><svg>{}</svg><img src=x onerror=alert(1)></span>",
    "<svg>{}<title><img src=x onerror=alert(1)></title></svg>",
    "<svg><mask id='x'></mask>{}<path mask='url(//evil.example)' d='M0 0'/></svg>",
    "<svg>{}<!--><img src=x onerror=alert(1)>--></svg>",
    "<svg>{}<![CDATA[<img src=x onerror=alert(1)>]]></svg>",
]


@pytest.mark.parametrize("hostile", HOSTILE)
def test_nothing_in_it_runs_or_loads(hostile: str) -> None:
    """Each was red with the step that removes it left out: elements, attributes, values, what stands behind."""
    drawn = own_svg(hostile.replace("{}", PATH), "icon")
    for bad in (
        "alert",
        "evil",
        "<script",
        "<style",
        "style=",
        "<image",
        "<img",
        "<a",
        "onload",
        "onerror",
        "javascript",
        "data:",
    ):
        assert bad not in drawn, drawn
    assert drawn == "" or re.fullmatch(r"<svg [^>]*>.*</svg>", drawn, re.DOTALL)
    page = read(f'<Card title="t" icon={{{hostile.replace("{}", PATH)}}}>kept</Card>').html
    assert not re.search(r"<[^>]*(?:evil|alert|onerror|onload)", page), page


def test_a_drawing_of_nothing_is_reported() -> None:
    page = read('<Card title="t" icon={<svg><script>1</script></svg>}>x</Card>')
    assert codes(page) == ["PAGE053"]
    assert "icon-own" not in page.html


def test_ids_stay_apart() -> None:
    """Two drawings with the same gradient. Red when the ids of a drawing are the page's."""
    text = (
        '<Card title="t" icon={<svg viewBox="0 0 1 1"><defs><linearGradient id="a"><stop offset="0" stopColor="#f00"/>'
        '</linearGradient></defs><path fill="url(#a)" d="M0 0"/></svg>}>x</Card>'
    )
    html = read(f"{text}\n\n{text}").html
    ids = re.findall(r'<linearGradient[^>]* id="([^"]+)"', html)
    assert len(set(ids)) == 2
    assert re.findall(r"url\(#([^)]+)\)", html) == ids
    assert 'stop-color="#f00"' in html


IMAGES = [
    '<Card title="t" icon={<img src="/images/a.png" alt="x" />}>x</Card>',
    "<Card title='t' icon={<img src={'/images/a.png'} width={20} />}>x</Card>",
    '<Card title="t" icon={(<img className="w-4" src="../images/a.png"/>)}>x</Card>',
    "<Card title='t' icon='<img src=\"/images/a.png\">'>x</Card>",
    '<Card title="t" icon={<span><img src="/images/a.png" /></span>}>x</Card>',
]


@pytest.mark.parametrize("text", IMAGES)
def test_an_img_in_an_attribute_is_shown(text: str) -> None:
    page = read(text)
    assert '<img class="icon" src="../images/a.png" alt=""' in page.html
    assert codes(page) == []


def test_an_img_of_another_host_follows_the_rule_for_images() -> None:
    """Red when it is shown where the site shows no picture of another host."""
    text = '<Card title="t" icon={<img src="https://example.com/a.png" />}>x</Card>'
    assert "<img" not in read(text).html
    assert "PAGE015" in codes(read(text))
    allowed = reader(external_media=True).read("guides/start.mdx", text)
    assert 'src="https://example.com/a.png"' in allowed.html
    for address in ("javascript:alert(1)", "data:text/html,x"):
        assert "<img" not in read(text.replace("https://example.com/a.png", address)).html


def test_an_icon_element_names_an_icon() -> None:
    page = read('<Card title="t" icon={<Icon icon="github" iconType="brands" />}>x</Card>')
    assert "icon-brands" in page.html
    assert codes(page) == []
    assert codes(read('<Card title="t" icon={<Other />}>x</Card>')) == ["PAGE007"]
