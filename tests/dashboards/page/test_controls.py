"""Controls: they apply at once, chips say what is chosen, the address keeps it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from playwright.async_api import Page

from tests.dashboards.page.conftest import Visit, until
from tests.dashboards.page.gallery import NAME, ORIGIN, PERIOD, ROUTE
from tests.dashboards.page.stand_in import Message, StandIn, rows

BAR: Message = {
    "kind": "bar",
    "bar": ["n"],
    "by": "x",
    "title": "One",
    "answer": rows({"x": "text", "n": "integer"}, ["a", 10]),
}
NUMBER: Message = NAME | {"name": "least", "kind": "number", "label": "At least", "min": "0", "max": "100"}
DAY: Message = NAME | {"name": "day", "kind": "date", "label": "Day"}


async def asked(stand_in: StandIn, filters: Message) -> None:
    """Waits for a request with these filters."""

    async def last() -> bool:
        return bool(stand_in.asked) and stand_in.asked[-1]["filters"] == filters

    await until(last)


async def chips(page: Page) -> list[str]:
    return await page.locator(".chip").all_inner_texts()


async def test_a_preset_applies_at_once(stand_in: StandIn, visit: Visit) -> None:
    """With the keyboard alone; the document is the same, the address has it, the focus comes back."""
    page = (await visit(stand_in.show([BAR], controls=[PERIOD]))).page
    button = page.locator(".control-range .choice")
    assert await button.inner_text() == "Last 30 days"
    await page.evaluate("window.same = true")
    await button.focus()
    await page.keyboard.press("Enter")
    await page.locator(".preset:focus", has_text="Last 30 days").wait_for()
    await page.keyboard.press("Tab")
    await page.keyboard.press("Enter")
    await asked(stand_in, {"period": {"preset": "this-year"}})
    assert await button.inner_text() == "This year"
    await page.wait_for_url(lambda url: url.endswith("#period=this-year"))
    assert await chips(page) == ["Period: This year"]
    assert await page.evaluate("window.same && document.activeElement.classList.contains('choice')")


async def test_two_dates(stand_in: StandIn, visit: Visit) -> None:
    """A first day after the last one, or one that is missing, is said there, and nothing is asked."""
    page = (await visit(stand_in.show([BAR], controls=[PERIOD]))).page
    await page.locator(".control-range .choice").click()
    await page.get_by_label("From").fill("2013-03-31")
    await page.get_by_role("button", name="Apply").click()
    assert await page.get_by_role("alert").inner_text() == "Choose both days."
    await page.get_by_label("To", exact=True).fill("2013-03-01")
    await page.get_by_role("button", name="Apply").click()
    assert await page.get_by_role("alert").inner_text() == "The first day is after the last day."
    assert len(stand_in.asked) == 1
    await page.get_by_label("From").fill("2013-02-01")
    await page.get_by_role("button", name="Apply").click()
    await asked(stand_in, {"period": {"start": "2013-02-01", "end": "2013-03-01"}})
    assert await chips(page) == ["Period: Feb 1, 2013 – Mar 1, 2013"]
    await page.wait_for_url(lambda url: url.endswith("#period=2013-02-01..2013-03-01"))


async def test_several_choices_with_a_search(stand_in: StandIn, visit: Visit) -> None:
    """Values filled by a query; each choice applies at once, and has a chip of its own."""
    control = ORIGIN | {"choices": None}
    stand_in.choices["origin"] = [{"value": f"A{n}", "label": f"Airport {n}"} for n in range(30)]
    page = (await visit(stand_in.show([BAR], controls=[control]))).page
    await page.get_by_role("button", name="Origin All").click()
    await page.get_by_label("Search Origin").fill("port 2")
    assert await page.locator(".option").count() == 11
    await page.get_by_label("Airport 21").check()
    await asked(stand_in, {"origin": ["A21"]})
    await page.get_by_label("Airport 22").check()
    await asked(stand_in, {"origin": ["A21", "A22"]})
    assert await chips(page) == ["Origin: Airport 21", "Origin: Airport 22"]
    await page.keyboard.press("Escape")
    assert await page.locator(".options").is_hidden()
    await page.get_by_role("button", name="Remove Origin: Airport 21").click()
    await asked(stand_in, {"origin": ["A22"]})


async def test_one_choice(stand_in: StandIn, visit: Visit) -> None:
    """The browser's own list; nothing chosen is all."""
    page = (await visit(stand_in.show([BAR], controls=[ROUTE]))).page
    await page.get_by_label("Route", exact=True).select_option("JFK → LAX")
    await asked(stand_in, {"route": "JFK → LAX"})
    await page.get_by_label("Route", exact=True).select_option("All")
    await asked(stand_in, {})


DEFAULTED: Message = ROUTE | {"default": "JFK → LAX", "clearable": True}
SEVERAL: Message = ORIGIN | {"default": ["LGA"], "clearable": True}
WORD: Message = NAME | {"default": "united", "clearable": True}


async def test_all_is_a_choice_where_there_is_a_default(stand_in: StandIn, visit: Visit) -> None:
    """Of one value, of several and of a text: it is sent, stands in the address, survives a reload, and its chip leads
    back to the default. Red when an empty value was the default again."""
    page = (await visit(stand_in.show([BAR], controls=[DEFAULTED, SEVERAL, WORD]))).page
    route = page.get_by_label("Route", exact=True)
    assert await route.input_value() == "JFK → LAX"
    await route.select_option("All")
    await asked(stand_in, {"route": ""})
    await page.get_by_role("button", name="Origin LaGuardia").click()
    await page.get_by_role("button", name="Clear").click()
    await asked(stand_in, {"route": "", "origin": []})
    await page.keyboard.press("Escape")
    await page.get_by_label("Airline", exact=True).fill("")
    everything = {"route": "", "origin": [], "name": ""}
    await asked(stand_in, everything)
    await page.wait_for_url(lambda url: url.endswith("#route=&origin=&name="))
    assert await chips(page) == ["Route: All", "Origin: All", "Airline: All"]
    stand_in.asked.clear()
    await page.reload()
    await asked(stand_in, everything | {"origin": ""})
    await until(lambda: _chips_are(page, ["Route: All", "Origin: All", "Airline: All"]))
    assert await route.input_value() == ""
    assert await page.get_by_label("Airline", exact=True).input_value() == ""
    await page.get_by_role("button", name="Origin All").click()
    await page.get_by_label("Kennedy").check()
    await asked(stand_in, everything | {"origin": ["JFK"]})
    await page.keyboard.press("Escape")
    for name in ("Route: All", "Origin: Kennedy", "Airline: All"):
        await page.get_by_role("button", name=f"Remove {name}").click()
    await asked(stand_in, {})
    assert await route.input_value() == "JFK → LAX"


async def test_all_is_no_choice_where_a_value_is_needed(stand_in: StandIn, visit: Visit) -> None:
    """A control with a default that its queries cannot be without, or one that is required, offers none."""
    needed = DEFAULTED | {"clearable": False}
    required = ROUTE | {"name": "must", "label": "Must", "required": True}
    page = (await visit(stand_in.show([BAR], controls=[needed, required]))).page
    for label, first in (("Route", "EWR → SFO"), ("Must", "Choose…")):
        options = await page.get_by_label(label, exact=True).locator("option").all_inner_texts()
        assert options[0] == first
        assert "All" not in options


async def test_a_range_without_an_end(stand_in: StandIn, visit: Visit) -> None:
    """Where the queries can do without it: by one day alone, in words and in the address. Red when both were needed."""
    open_both, open_end = PERIOD | {"open": ["end", "start"]}, PERIOD | {"open": ["end"]}
    page = (await visit(stand_in.show([BAR], controls=[open_both]))).page
    await page.locator(".control-range .choice").click()
    await page.get_by_role("button", name="Apply").click()
    assert await page.get_by_role("alert").inner_text() == "Choose a day."
    await page.get_by_label("To", exact=True).fill("2013-03-01")
    await page.get_by_role("button", name="Apply").click()
    await asked(stand_in, {"period": {"start": None, "end": "2013-03-01"}})
    assert await chips(page) == ["Period: Until Mar 1, 2013"]
    await page.wait_for_url(lambda url: url.endswith("#period=..2013-03-01"))
    page = (await visit(stand_in.show([BAR], controls=[open_end]))).page
    await page.locator(".control-range .choice").click()
    await page.get_by_label("To", exact=True).fill("2013-03-01")
    await page.get_by_role("button", name="Apply").click()
    assert await page.get_by_role("alert").inner_text() == "Choose the first day too."
    await page.get_by_label("To", exact=True).fill("")
    await page.get_by_label("From").fill("2013-02-01")
    await page.get_by_role("button", name="Apply").click()
    await asked(stand_in, {"period": {"start": "2013-02-01", "end": None}})
    assert await chips(page) == ["Period: From Feb 1, 2013"]


async def _chips_are(page: Page, expected: list[str]) -> bool:
    return await chips(page) == expected


async def test_texts_numbers_and_days(stand_in: StandIn, visit: Visit) -> None:
    """A text is asked when the viewer pauses; a number beyond its limits is not. Red when each letter is asked."""
    page = (await visit(stand_in.show([BAR], controls=[NAME, NUMBER, DAY]), clock=True)).page
    milliseconds = await page.evaluate("Date.now()")
    # From here on its clock stands still: a busy machine would pause between two letters.
    await page.clock.pause_at(datetime.fromtimestamp(milliseconds / 1000, UTC) + timedelta(minutes=5))
    await page.get_by_label("Airline", exact=True).press_sequentially("united")
    await page.clock.run_for(1_000)
    await page.clock.resume()
    await asked(stand_in, {"name": "united"})
    assert [body["filters"] for body in stand_in.asked if body["panels"]] == [{}, {"name": "united"}]
    await page.get_by_label("At least", exact=True).fill("7")
    await asked(stand_in, {"name": "united", "least": "7"})
    await page.get_by_label("At least", exact=True).fill("700")
    await page.get_by_label("Day", exact=True).fill("2013-05-04")
    await asked(stand_in, {"name": "united", "least": "7", "day": "2013-05-04"})
    assert await chips(page) == ["Airline: united", "At least: 7", "Day: May 4, 2013"]
    await page.get_by_role("button", name="Reset").click()
    await asked(stand_in, {})
    assert await page.get_by_label("Airline", exact=True).input_value() == ""
    await page.wait_for_url(lambda url: url.endswith("/sales"))


async def test_a_reload_and_a_shared_address_bring_the_choice_back(stand_in: StandIn, visit: Visit) -> None:
    """With the first request. Red when the fragment is read after the defaults were asked."""
    address = (
        stand_in.show([BAR], controls=[PERIOD, ORIGIN, NAME]) + "#origin=JFK&origin=LGA&period=2013-01-01..&name=a+b"
    )
    page = (await visit(address)).page
    chosen = {"origin": ["JFK", "LGA"], "period": "2013-01-01..", "name": "a b"}
    assert stand_in.asked[0]["filters"] == chosen
    assert await chips(page) == ["Origin: Kennedy", "Origin: LaGuardia", "Period: From Jan 1, 2013", "Airline: a b"]
    stand_in.asked.clear()
    await page.reload()
    await asked(stand_in, chosen)
    assert len(stand_in.asked) == 1


async def test_a_text_of_an_address_stays_a_text(stand_in: StandIn, visit: Visit) -> None:
    """Before the controls are known nobody can tell a range from a text. Red when one with two dots was sent as a
    preset, which the server refuses."""
    for text in ("a..b", "2013-01-01..2013-02-01", ".."):
        page = (await visit(stand_in.show([BAR], controls=[NAME]) + f"#name={text}")).page
        assert stand_in.asked[-1]["filters"] == {"name": text}
        assert await chips(page) == [f"Airline: {text}"]


async def test_the_history_does_not_grow(stand_in: StandIn, visit: Visit) -> None:
    """A frame's steps would be those of the host's page. Red with pushState."""
    page = (await visit(stand_in.show([BAR], controls=[ROUTE]))).page
    before = await page.evaluate("history.length")
    await page.get_by_label("Route", exact=True).select_option("JFK → LAX")
    await asked(stand_in, {"route": "JFK → LAX"})
    assert await page.evaluate("history.length") == before


async def test_a_choice_that_depends_on_another(stand_in: StandIn, visit: Visit) -> None:
    """Its values are asked again with the panels."""
    stand_in.choices["route"] = [{"value": "1", "label": "one"}]
    controls = [ORIGIN, ROUTE | {"choices": None, "depends": ["origin"]}]
    page = (await visit(stand_in.show([BAR], controls=controls))).page
    stand_in.choices["route"] = [{"value": "2", "label": "two"}]
    await page.get_by_role("button", name="Origin All").click()
    await page.get_by_label("Kennedy").check()
    await asked(stand_in, {"origin": ["JFK"]})
    assert stand_in.asked[-1]["choices"] == ["route"]
    await until(lambda: _options(page, ["All", "two"]))


async def _options(page: Page, expected: list[str]) -> bool:
    return await page.locator("select option").all_inner_texts() == expected
