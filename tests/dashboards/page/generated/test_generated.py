"""Each kind of panel with generated data, whole in the browser: marks, labels and tooltips keep their promises."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence
from itertools import combinations
from pathlib import Path

import pytest
from playwright.async_api import Page

from tests.dashboards.page.conftest import Visit, come
from tests.dashboards.page.generated.checks import check
from tests.dashboards.page.generated.data import KINDS, Case, case
from tests.dashboards.page.generated.kept import KEPT
from tests.dashboards.page.generated.texts import check_texts
from tests.dashboards.page.generated.tips import check_tips
from tests.dashboards.page.marks import drawn, faults, measured
from tests.dashboards.page.stand_in import StandIn

HERE = Path(__file__).parent
LABELS = (HERE / "labels.js").read_text(encoding="utf-8")
TIPS = (HERE / "tips.js").read_text(encoding="utf-8")
FITTED = """async () => {
    const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
    for (const _ of [1, 2]) {
        await frame();
        await frame();
        await new Promise((resolve) => setTimeout(resolve, 70));
    }
}"""
"""Longer than a panel waits after its size has changed, by the page's own clock, twice: a panel may change another."""

STILL = """() => {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(":root { visibility: hidden; } .mark { transition: none !important; }");
    document.adoptedStyleSheets.push(sheet);
}"""
"""What is only measured is not painted, and thousands of bars do not fade for each tooltip."""

WIDTHS = (1440, 820, 390)
Turns = Sequence[Sequence[int]]
ALL = 300
SAMPLE = 4
OF_A_LANGUAGE = 6
STOPS = 5
TIPS_OF = 7
"""One of so many is asked for its tooltips at each width; the others at their narrowest one."""
ON_A_PAGE = 100
"""All names of a page get colours of their own: many pages of few panels cost a fourth of one of three hundred."""
TURNS = tuple(combinations(WIDTHS, 2))
"""The widths of one page after another: of the three hundred of a kind, each hundred is drawn for two of the three."""
LOCALES = [("ar-EG", "EGP"), ("de-DE", "EUR"), ("hi-IN", "INR"), ("ja-JP", "JPY")]
SHOWN = 20
"""Faults of a red test that are printed."""


def in_rows(cases: Sequence[Case]) -> list[list[Case]]:
    """From one to four in a row, so that each kind is drawn for many widths."""
    found: list[list[Case]] = []
    rest = list(cases)
    while rest:
        count = len(found) % 4 + 1
        found.append(rest[:count])
        rest = rest[count:]
    return found


async def fitted(page: Page, width: int) -> None:
    """Waits until each panel is drawn for a width of the page."""
    await page.set_viewport_size({"width": width, "height": 900})
    await page.evaluate(FITTED)


async def wrong(page: Page, cases: dict[str, Case], width: int, narrowest: int) -> list[str]:
    """The faults of all panels at a width, each with the call that makes its data."""
    await fitted(page, width)
    panels = await drawn(page)
    found: list[str] = []

    def note(panel: str, each: Iterator[str]) -> None:
        made = cases[panel]
        found.extend(f"case({made.kind!r}, {made.seed}) at {width} px: {fault}" for fault in each)

    for labels in await measured(page, LABELS):
        panel = labels["id"]
        note(panel, iter(labels["faults"]))
        note(panel, faults(panels[panel]))
        note(panel, check(cases[panel], panels[panel], labels))
        note(panel, check_texts(cases[panel], panels[panel], labels))
    asked = [panel for panel, made in cases.items() if width == narrowest or made.seed % TIPS_OF == 0]
    for tips in await measured(page, TIPS, {"most": STOPS, "panels": asked}):
        note(tips["id"], iter(tips["faults"]))
        note(tips["id"], check_tips(cases[tips["id"]], tips["found"]))
    if await page.evaluate("document.documentElement.scrollWidth > innerWidth"):
        found.append(f"the page scrolls sideways at {width} px")
    return found


async def shown(
    stand_in: StandIn, visit: Visit, cases: Sequence[Case], turns: Turns = (WIDTHS,), **more: str
) -> AsyncIterator[tuple[Page, dict[str, Case], Sequence[int]]]:
    """One page after another, each with its cases by the ids of their panels, and its widths by turns."""
    seen = await visit("about:blank", settle=False)
    for place, first in enumerate(range(0, len(cases), ON_A_PAGE)):
        lines = in_rows(cases[first : first + ON_A_PAGE])
        places = {f"{line}-{place}": each for line, row in enumerate(lines, 1) for place, each in enumerate(row, 1)}
        widths = turns[place % len(turns)]
        stand_in.clear()
        await seen.page.set_viewport_size({"width": widths[0], "height": 900})
        panels = [[each.panel for each in row] for row in lines]
        await seen.page.goto(stand_in.show(*panels, name=f"from-{first}", **more))  # by one name, a page knows colours
        await seen.page.evaluate(STILL)
        await come(seen)
        assert await seen.page.locator("[data-state=failed]").count() == 0
        assert seen.console == []
        yield seen.page, places, widths


async def check_all(stand_in: StandIn, visit: Visit, cases: Sequence[Case], turns: Turns = (WIDTHS,)) -> None:
    found: list[str] = []
    async for page, places, widths in shown(stand_in, visit, cases, turns):
        for width in widths:
            found += await wrong(page, places, width, min(widths))
    assert found == [], "\n".join([f"{len(found)} faults", *found[:SHOWN]])


async def test_a_sample_of_each_kind(stand_in: StandIn, visit: Visit) -> None:
    """A few data sets of each kind. Red when a bar is not as tall as its value, a text not the value, a label over
    another one."""
    await check_all(stand_in, visit, [case(kind, seed) for kind in KINDS for seed in range(SAMPLE)])


async def test_what_was_wrong_once(stand_in: StandIn, visit: Visit) -> None:
    """Each of them is red when its fix is taken out."""
    await check_all(stand_in, visit, KEPT)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
async def test_many_of_each_kind(stand_in: StandIn, visit: Visit, kind: str) -> None:
    """Three hundred of each."""
    await check_all(stand_in, visit, [case(kind, seed) for seed in range(ALL)], TURNS)


@pytest.mark.slow
@pytest.mark.parametrize(("locale", "currency"), LOCALES)
async def test_labels_of_other_languages(stand_in: StandIn, visit: Visit, locale: str, currency: str) -> None:
    """They are neither cut nor over one another, with other digits, signs and words of other lengths. Each language has
    data sets of its own."""
    first = LOCALES.index((locale, currency)) * OF_A_LANGUAGE
    cases = [case(kind, seed) for kind in KINDS for seed in range(first, first + OF_A_LANGUAGE)]
    async for page, places, widths in shown(stand_in, visit, cases, locale=locale, currency=currency):
        for width in widths:
            await fitted(page, width)
            panels = await drawn(page)
            found = [fault for each in await measured(page, LABELS) for fault in each["faults"]]
            found += [f"{places[name].name}: {fault}" for name, panel in panels.items() for fault in faults(panel)]
            assert found == [], width
