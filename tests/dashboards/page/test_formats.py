"""How values are written, by what a group says of its language and its money."""

from __future__ import annotations

import pytest

from engines.chromium import OpenPage
from tenantry.dashboards.panels.formats import is_currency, is_locale
from tests.dashboards.page.conftest import Visit
from tests.dashboards.page.gallery import PERIOD, charts, figures
from tests.dashboards.page.stand_in import StandIn

TAGS = [
    *("en", "en-US", "EN-us", "zh-Hant-TW", "es-419", "de-1996", "sl-rozaj-biske", "de-AT-u-nu-latn", "en-x-a", "und"),
    *("en_US", "", "e", "x", "-", "en-", "englishing-UK", "en-US.UTF-8", "de-1996-1996", "en-u-nu-u-ca", "é", "12"),
    *("en-a-bb-x-a-1", "en-0-abc", "en-a", "sr-Latn-RS-ekavsk", "en-US-US", "a-DE", "abcd", "en\n"),
]
CODES = ["EUR", "usd", "EURO", "€", "EU1", "", "É12", "eur\n"]
FIGURES = ["336,776", "12.64 min", "78.1%"]


@pytest.mark.parametrize("locale", ["en_US", "-", "x", "12"])
async def test_a_locale_that_is_none_breaks_nothing(stand_in: StandIn, visit: Visit, locale: str) -> None:
    """It is as if there were none; a range of two days writes its days before any panel has come. Red when it goes to
    Intl as it is, which throws: a dashboard with such a range was never built."""
    days = PERIOD | {"default": {"start": "2026-01-01", "end": "2026-01-31"}}
    seen = await visit(stand_in.show(figures(), charts()[0], locale=locale, controls=[days]), locale="de-AT")
    assert (await seen.page.locator(".figure-value").all_inner_texts())[:3] == FIGURES
    assert await seen.page.locator(".choice-text").inner_text() == "Jan 1, 2026 – Jan 31, 2026"
    assert seen.console == []


@pytest.mark.parametrize("currency", ["EURO", "€", "1"])
async def test_a_currency_that_is_none_breaks_nothing(stand_in: StandIn, visit: Visit, currency: str) -> None:
    """The amount has no sign, and never that of dollars."""
    vega = {
        "mark": "bar",
        "encoding": {"y": {"field": "flights", "type": "quantitative", "axis": {"format": "$,.0f"}}},
    }
    panel = {"kind": "vega", "vega": vega, "title": "Of one's own", "answer": figures()[0]["answer"]}
    seen = await visit(stand_in.show(figures(), [panel], currency=currency))
    assert (await seen.page.locator(".figure-value").all_inner_texts())[3] == "1,204,501"
    assert await seen.page.locator("[data-state=failed]").count() == 0
    assert seen.console == []


async def test_the_check_knows_what_a_browser_takes(open_page: OpenPage) -> None:
    """``tenantry dashboards check`` against Intl. Red when a variant may come twice."""
    seen = await open_page()
    script = """([tags, codes]) => {
        const taken = (make) => { try { make(); return true; } catch { return false; } };
        return [
            tags.map((tag) => taken(() => Intl.getCanonicalLocales(tag))),
            codes.map((currency) => taken(() => new Intl.NumberFormat("en", { style: "currency", currency }))),
        ];
    }"""
    tags, codes = await seen.page.evaluate(script, [TAGS, CODES])
    assert {tag: is_locale(tag) for tag in TAGS} == dict(zip(TAGS, tags, strict=True))
    assert {code: is_currency(code) for code in CODES} == dict(zip(CODES, codes, strict=True))
