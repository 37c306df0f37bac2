"""A host's page and a direct page on paper: all of it, with its filters, and no page is blank."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from urllib.parse import urlencode

import pytest
from playwright.async_api import Frame, Page

from engines.chromium import OpenPage
from engines.either_browser import IN_CHROMIUM
from tenantry.tokens import KeyRing, SigningKey
from tests.browser.embedding.frames import dashboards, until
from tests.browser.embedding.pdf import texts_of
from tests.browser.embedding.sites import Sites, serving
from tests.dashboards.served import write_files

pytestmark = [IN_CHROMIUM, pytest.mark.slow]  # test_print_firefox.py is about Firefox

FLIGHTS = """{sql: "select day, route, count(*) as flights from flights where carrier = {{ carrier }}
      [[ and route = {{ params.route }} ]] [[ and day >= {{ params.period.start }} ]]
      group by day, route order by day, route"}"""
FILES = {
    "sales/regions.yaml": f"""title: Printed
controls:
  period: {{range: last-30-days, presets: [last-7-days, last-30-days]}}
  route: {{choices: [A-B, A-C]}}
rows:
  - [{{figure: flights, title: F1, query: {FLIGHTS}}}, {{figure: flights, title: F2, query: {FLIGHTS}}}]
  - [{{line: flights, by: day, title: L1, query: {FLIGHTS}}}, {{bar: flights, by: day, title: L2, query: {FLIGHTS}}}]
  - {{area: flights, by: day, title: A1, query: {FLIGHTS}}}
  - {{donut: flights, by: route, title: D1, query: {FLIGHTS}}}
  - {{table: {FLIGHTS}, title: T1}}
  - {{text: The last words.}}
""",
}
TITLES = ("Product", "F1", "F2", "L1", "L2", "A1", "D1", "T1", "The last words.", "After the frame")
COUNT_HEIGHTS = """window.told = 0;
const { prototype } = CSSStyleSheet;
const replace = prototype.replaceSync;
prototype.replaceSync = function (text) {
  if (text.startsWith("@media print")) window.told += 1;
  return replace.call(this, text);
};"""
"""How often the host has been told how tall the page is on paper."""
NEVER_QUIET = """const later = window.setTimeout;
window.setTimeout = (run, delay, ...rest) => (delay === 1000 ? 0 : later(run, delay, ...rest));"""
"""The page waits until nothing has changed for so long before it tells."""


@pytest.fixture
def real(tmp_path: Path) -> Iterator[Sites]:
    with serving(KeyRing([SigningKey("k1", b"7" * 32)]), write_files(tmp_path, FILES)) as served:
        yield served


async def embedded(open_page: OpenPage, real: Sites, width: int, style: str = "", *, script: str = "") -> Page:
    """A host's page with a heading before the frame, and words after it."""
    page = (await open_page(width=width, new=True)).page
    await page.add_init_script(COUNT_HEIGHTS + script)
    query = {"groups": "acme", "more": "<h1>Product</h1>"}
    await page.goto(f"{real.host}/?{urlencode(query)}")
    await until(lambda: _whole(page, real), "all panels")
    await can_print(dashboards(page, real)[0])
    await page.evaluate(
        """(style) => { document.querySelector("#acme").style.cssText += style;
            document.body.append(Object.assign(document.createElement("p"), {textContent: "After the frame"})); }""",
        style,
    )
    return page


async def knows_paper(page: Page) -> None:
    """Waits until the host has been told how tall the page is on paper."""
    await until(lambda: page.evaluate("window.told"), "the heights on paper")


async def _whole(page: Page, real: Sites) -> bool:
    frames = dashboards(page, real)
    return bool(frames) and await frames[0].locator("[data-state=ready]").count() == 7


async def can_print(frame: Frame) -> None:
    """Waits for the chunk that prepares the page for paper: it is loaded once the dashboard is shown."""
    address = await frame.locator("meta[data-file='print.js']").get_attribute("content")
    await frame.evaluate("async (address) => void (await import(address))", address)


async def printed(page: Page) -> list[str]:
    """The texts of the pages; a picture is not looked at."""
    return texts_of(await page.pdf(format="A4"))


def days(texts: list[str]) -> int:
    """How many rows of the table there are."""
    return len(re.findall(r"20\d\d-\d\d-\d\d", "".join(texts).replace("\n", "")))


@pytest.mark.parametrize("width", [1440, 900])
@pytest.mark.parametrize("style", ["", "width: 560px"])
async def test_a_host_prints_the_whole_frame(open_page: OpenPage, real: Sites, width: int, style: str) -> None:
    """Wider on the screen than on paper, and the other way round: each panel, all rows of the table and what follows
    the frame, in letters of their usual size, and no page is blank. Red when the frame was as tall as on the screen,
    and when it stood in the flow of the page: the first page held the heading alone."""
    page = await embedded(open_page, real, width, style)
    await knows_paper(page)
    sizes = await note_sizes(dashboards(page, real)[0])
    texts = await printed(page)
    assert await sizes() == ["", ""]
    assert [title for title in TITLES if title not in "".join(texts)] == []
    assert "Printed" in texts[0]
    assert days(texts) == 50
    assert min(len(text) for text in texts[:-1]) > 50
    assert len(texts) <= 5


async def test_what_is_printed_at_once_is_small_and_whole(open_page: OpenPage, real: Sites) -> None:
    """Before the host knows how tall the page is on paper. Red when it was cut at the height of the screen."""
    page = await embedded(open_page, real, 1440, script=NEVER_QUIET)
    sizes = await note_sizes(dashboards(page, real)[0])
    texts = await printed(page)
    assert (await sizes())[0] != ""
    assert [title for title in TITLES if title not in "".join(texts)] == []
    assert days(texts) == 50


async def note_sizes(frame: Frame) -> Callable[[], Awaitable[list[str]]]:
    """How much smaller the page in the frame was on paper, and after it."""
    script = """() => { window.sizes = []; matchMedia("print").addEventListener("change", () =>
        window.sizes.push(document.querySelector("#dashboard").style.zoom)); }"""
    await frame.evaluate(script)
    return lambda: frame.evaluate("window.sizes")


async def test_paper_says_what_was_chosen(open_page: OpenPage, real: Sites) -> None:
    """In words: what is chosen and the defaults, with the time; nothing to press. Red when the fields were left out and
    only chips stayed: the period, a default, was not on paper."""
    page = await embedded(open_page, real, 1440)
    await page.evaluate("document.querySelector('#acme').setFilters({route: 'A-C'})")
    frame = dashboards(page, real)[0]
    await frame.locator(".chip").wait_for()
    await until(lambda: _whole(page, real), "all panels again")
    text = "".join(await printed(page)).replace("\n", "")
    assert "Period: Last 30 days · Route: A-C · " in text
    assert "Search" not in text
    assert await frame.locator(".on-paper").is_hidden()


async def test_a_direct_page_prints_whole(open_page: OpenPage, real: Sites) -> None:
    """With charts of the paper's width, and as on the screen after it. Red when they were drawn for the screen and made
    smaller: their letters were half as large."""
    page = (await open_page()).page
    await page.goto(f"{real.mount}/sales/regions?USER_GROUP_TOKEN={await real.token('acme')}")
    await until(lambda: _ready(page), "all panels")
    await can_print(page.main_frame)
    script = """() => { window.widths = [];
        matchMedia("print").addEventListener("change", () => {
            for (const plot of document.querySelectorAll(".plot:not(.plot-donut)"))
                window.widths.push(Number(plot.getAttribute("width")) - plot.parentNode.clientWidth); }); }"""
    await page.evaluate(script)
    texts = await printed(page)
    inside = [title for title in TITLES if title not in ("Product", "After the frame")]
    assert [title for title in inside if title not in "".join(texts)] == []
    assert "Period: Last 30 days" in texts[0]
    assert days(texts) == 50
    assert min(len(text) for text in texts) > 50
    widths = await page.evaluate("window.widths")
    assert len(widths) == 6
    assert max(abs(width) for width in widths) < 1


async def _ready(page: Page) -> bool:
    return await page.locator("[data-state=ready]").count() == 7
