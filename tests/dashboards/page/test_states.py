"""The states of panels and of the page: under way, empty, failed, old; leaving; each panel by itself."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.async_api import Locator, Page, Route

from engines.chromium import OpenPage
from tests.dashboards.page.conftest import Visit, box_of, has_run, until
from tests.dashboards.page.gallery import ORIGIN, PERIOD, figures, gallery, table
from tests.dashboards.page.stand_in import Message, StandIn, rows

ANSWER = rows({"x": "text", "n": "integer"}, ["a", 10], ["b", 30])
BAR: Message = {"kind": "bar", "bar": ["n"], "by": "x", "title": "One", "answer": ANSWER}
OTHER: Message = BAR | {"title": "Two"}


def panel(page: Page, panel_id: str) -> Locator:
    return page.locator(f"[data-panel='{panel_id}']")


async def state(page: Page, panel_id: str) -> str | None:
    return await panel(page, panel_id).get_attribute("data-state")


async def test_a_slow_panel_holds_no_other(stand_in: StandIn, visit: Visit) -> None:
    """One request for all; each is drawn when its line comes."""
    stand_in.held.add("1-1")
    page = (await visit(stand_in.show([BAR, OTHER]), settle=False)).page
    await panel(page, "1-2").locator("rect.bar").first.wait_for()
    assert await state(page, "1-1") == "waiting"
    assert len(stand_in.asked) == 1
    stand_in.held.clear()
    await panel(page, "1-1").locator("rect.bar").first.wait_for()
    assert len(stand_in.asked) == 1


DONUT: Message = {"kind": "donut", "donut": "n", "by": "x", "title": "Parts", "answer": ANSWER}


async def test_a_chart_waits_for_its_script_alone(stand_in: StandIn, visit: Visit) -> None:
    """The others are drawn meanwhile, the script is loaded once for two panels, and a page without such a chart never
    asks for it. Red when a panel is drawn before its script has come, and when all of an answer waits for it."""
    address = stand_in.show([DONUT, BAR, DONUT])
    page = (await visit("about:blank", settle=False)).page
    asked: list[Route] = []
    await page.route("**/donut.js", lambda route: asked.append(route))
    await page.goto(address)
    await panel(page, "1-2").locator("rect.bar").first.wait_for()
    await until(lambda: _is(len(asked) == 1))
    assert [await state(page, each) for each in ("1-1", "1-3")] == ["waiting", "waiting"]
    await asked[0].continue_()
    for each in ("1-1", "1-3"):
        await panel(page, each).locator("path.slice").first.wait_for()
    usual = await visit(stand_in.show([BAR]))
    assert [request.url for request in usual.requests if "donut" in request.url] == []


async def test_what_is_drawn_is_shown_before_the_rest(stand_in: StandIn, open_page: OpenPage) -> None:
    """Of an answer that comes as a whole. Red when one task draws all of its panels: nothing was shown until the last
    one was drawn."""
    address = stand_in.show(*[[BAR, BAR, BAR] for _ in range(40)])
    page = (await open_page()).page
    await page.add_init_script("""window.counts = new Set();
        const note = () => requestAnimationFrame(note) &&
            counts.add(document.querySelectorAll("[data-state=ready]").length);
        note();""")

    async def whole(route: Route) -> None:
        await route.fulfill(response=await route.fetch())

    await page.route("**/-/panels", whole)
    await page.goto(address)
    await panel(page, "40-3").locator("rect.bar").first.wait_for()
    assert {*await page.evaluate("[...counts]")} - {0, 120}


async def test_a_script_comes_while_the_rows_do(stand_in: StandIn, visit: Visit) -> None:
    """A frame without places of panels knows only from the definition which charts there are. Red when the script was
    asked for once the rows had come."""
    stand_in.held.add("1-1")
    page = (await visit("about:blank", settle=False)).page
    async with page.expect_request("**/donut.js"):
        await page.goto(stand_in.show([DONUT]))
    assert await state(page, "1-1") == "waiting"
    stand_in.held.clear()
    await panel(page, "1-1").locator("path.slice").first.wait_for()


async def test_a_chart_whose_script_does_not_come_says_so(stand_in: StandIn, visit: Visit) -> None:
    """It alone, and it is tried again. Red when the failed load is kept."""
    address = stand_in.show([DONUT, BAR])
    page = (await visit("about:blank", settle=False)).page
    await page.route("**/donut.js", lambda route: route.abort())
    await page.goto(address)
    await panel(page, "1-1").get_by_role("alert").wait_for()
    await panel(page, "1-2").locator("rect.bar").first.wait_for()
    await page.unroute("**/donut.js")
    await panel(page, "1-1").get_by_role("button", name="Try again").click()
    await panel(page, "1-1").locator("path.slice").first.wait_for()


async def test_rows_of_another_choice_are_not_drawn(stand_in: StandIn, visit: Visit) -> None:
    """A chart whose script came late shows what was asked for last. Red when rows that waited for the script are drawn
    although the panel was asked for again."""
    address = stand_in.show([DONUT], controls=[{"name": "x", "kind": "text", "label": "X", "default": None}])
    page = (await visit("about:blank", settle=False)).page
    asked: list[Route] = []
    await page.route("**/donut.js", lambda route: asked.append(route))
    async with page.expect_request_finished(lambda request: request.url.endswith("/-/panels")):
        await page.goto(address)
    await until(lambda: _is(len(asked) == 1))
    stand_in.held.add("1-1")
    await page.get_by_label("X").fill("new")
    await page.get_by_label("X").press("Enter")
    await until(lambda: _is(len(stand_in.asked) == 2))
    await asked[0].continue_()
    await has_run(page, "donut.js")
    assert await state(page, "1-1") == "waiting"
    stand_in.held.clear()
    await panel(page, "1-1").locator("path.slice").first.wait_for()


async def _is(value: bool) -> bool:
    return value


async def test_nothing_moves_when_panels_come(stand_in: StandIn, visit: Visit) -> None:
    """Skeletons are as tall as what comes. Red without the least height of a panel's body and that of its
    skeleton."""
    columns = {"x": "integer", "kind": "text", "n": "integer"}
    several = BAR | {"color": "kind", "by": "x", "answer": rows(columns, [1, "a", 3], [1, "b", 4], [2, "a", 6])}
    lines = [figures(), [BAR, several], [table()], [OTHER]]
    stand_in.show(*lines)
    stand_in.held.update(stand_in.answers)
    page = (await visit(f"{stand_in.url}/sales", settle=False)).page
    await panel(page, "4-1").wait_for()
    before = {each: await panel(page, each).bounding_box() for each in stand_in.answers}
    stand_in.held.clear()
    await until(lambda: _all_ready(page, len(stand_in.answers)))
    after = {each: await panel(page, each).bounding_box() for each in stand_in.answers}
    assert after == before


async def test_a_donut_is_as_tall_as_its_place(stand_in: StandIn, visit: Visit) -> None:
    """Beside others and in a narrow page, with a legend of two lines or of eight with long names: from the place that
    the server has drawn on. Red when a narrow one was as tall as its ring and its legend."""
    words = "A name that is far longer than the panel is wide, whatever that is"
    few, many = ([[f"{words} {n}", 40 - n] for n in range(count)] for count in (2, 12))
    donuts = [
        {
            "kind": "donut",
            "donut": "n",
            "by": "x",
            "title": "Parts",
            "answer": rows({"x": "text", "n": "integer"}, *each),
        }
        for each in (few, many, few, many)
    ]
    for width in (1440, 360):
        stand_in.show(donuts, [donuts[1] | {"title": "Wide"}])
        stand_in.held.update(stand_in.answers)
        page = (await visit(f"{stand_in.url}/sales", settle=False, width=width)).page
        await panel(page, "2-1").wait_for()
        before = {each: await panel(page, each).bounding_box() for each in stand_in.answers}
        stand_in.held.clear()
        await come_ready(page, len(stand_in.answers))
        after = {each: await panel(page, each).bounding_box() for each in stand_in.answers}
        assert after == before
        assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")


async def test_widths_are_asked_with_the_first_request(stand_in: StandIn, visit: Visit) -> None:
    """From the places that the server has drawn, in steps. Red when the definition is awaited first."""
    await visit(stand_in.show([BAR | {"width": 8}, OTHER | {"width": 4}], [table()]), width=1440)
    assert len(stand_in.asked) == 1
    assert [(each["id"], each["width"]) for each in stand_in.asked[0]["panels"]] == [
        ("1-1", 1920),
        ("1-2", 640),
        ("2-1", 2560),
    ]


async def test_an_empty_panel_is_a_line_with_a_reason(stand_in: StandIn, visit: Visit) -> None:
    """In the author's words, and with a way back where a viewer has chosen."""
    empty = BAR | {"answer": rows({"x": "text", "n": "integer"}), "empty": "No flight was cancelled."}
    address = stand_in.show([empty], controls=[ORIGIN])
    page = (await visit(address)).page
    assert await panel(page, "1-1").locator(".panel-empty").inner_text() == "No flight was cancelled."
    assert (await box_of(panel(page, "1-1")))["height"] < 100
    chosen = (await visit(f"{address}#origin=LGA")).page
    await chosen.get_by_role("button", name="Show the defaults").click()
    await until(lambda: _asked(stand_in, 3))
    assert stand_in.asked[-1]["filters"] == {}


async def test_a_failed_panel_says_why_and_can_be_tried_again(stand_in: StandIn, visit: Visit) -> None:
    """The others stay."""
    failing = BAR | {"answer": {"error": {"code": "query_timeout", "message": "The data source took too long."}}}
    page = (await visit(stand_in.show([failing, OTHER]))).page
    assert "The data source took too long." in await panel(page, "1-1").get_by_role("alert").inner_text()
    assert await state(page, "1-2") == "ready"
    stand_in.answers["1-1"] = ANSWER
    await panel(page, "1-1").get_by_role("button", name="Try again").click()
    await panel(page, "1-1").locator("rect.bar").first.wait_for()
    assert [each["id"] for each in stand_in.asked[-1]["panels"]] == ["1-1"]


async def test_a_panel_that_cannot_be_drawn_holds_no_other(stand_in: StandIn, visit: Visit) -> None:
    """Red when what one panel raises ends the reading of the answer: the others would say that it broke off."""
    seen = await visit(stand_in.show([BAR | {"answer": ANSWER | {"rows": None}}, OTHER], [table()]))
    assert "could not be drawn" in await panel(seen.page, "1-1").get_by_role("alert").inner_text()
    assert [await state(seen.page, each) for each in ("1-2", "2-1")] == ["ready", "ready"]
    assert len(seen.console) == 1


async def test_rows_that_are_too_old_say_so(stand_in: StandIn, visit: Visit) -> None:
    """A word where they are some minutes old; a warning with a way out where newer ones should have come."""
    page = (
        await visit(
            stand_in.show(
                [BAR | {"answer": ANSWER | {"age": 185.0}}, OTHER | {"answer": ANSWER | {"age": 185.0}, "refresh": 60}]
            )
        )
    ).page
    assert await panel(page, "1-1").locator(".panel-note").inner_text() == "3 min old"
    late = panel(page, "1-2").locator(".panel-note.late")
    assert "3 min old. Newer ones have not come." in await late.inner_text()
    await late.get_by_role("button", name="Ask again").click()
    await until(lambda: _asked(stand_in, 2))
    assert stand_in.asked[-1]["fresh"]  # red when the server may answer with the same old rows


REFUSED: Message = {"error": {"code": "query_timeout", "message": "The data source took too long."}}


async def test_a_refresh_that_fails_keeps_the_rows(stand_in: StandIn, visit: Visit) -> None:
    """With their age, the reason and a way to ask again. The next rows take the words away. Red when the error took the
    rows' place."""
    page = (await visit(stand_in.show([BAR | {"refresh": 1, "answer": ANSWER | {"age": 121.0}}, OTHER]))).page
    note = panel(page, "1-1").locator(".panel-note.late")
    stand_in.answers["1-1"] = REFUSED
    await until(lambda: _says(note, "These numbers are 2 min old.", "The data source took too long."))
    assert await panel(page, "1-1").locator("rect.bar").count() == 2
    assert await state(page, "1-1") in {"ready", "waiting"}
    stand_in.held.add("1-1")  # or the next refresh takes the button away before it is clicked
    await until(lambda: _is("1-1" in stand_in.delayed))
    stand_in.answers["1-1"] = ANSWER
    await note.get_by_role("button", name="Ask again").click()
    await until(lambda: _asked_freshly(stand_in))
    stand_in.held.clear()
    await until(lambda: _count(note, 0))


async def test_the_rows_of_another_choice_do_not_stay(stand_in: StandIn, visit: Visit) -> None:
    """They would be believed to be those of the new one. Red when a failure always kept what was there."""
    page = (await visit(stand_in.show([BAR | {"reads": ["origin"]}], controls=[ORIGIN]))).page
    stand_in.answers["1-1"] = REFUSED
    await page.get_by_role("button", name="Origin All").click()
    await page.get_by_label("Kennedy").check()
    await panel(page, "1-1").get_by_role("alert").wait_for()
    assert await panel(page, "1-1").locator("rect.bar").count() == 0


async def _says(found: Locator, *words: str) -> bool:
    text = await found.inner_text() if await found.count() else ""
    return all(word in text for word in words)


async def test_a_panel_asks_again_when_its_time_has_come(stand_in: StandIn, visit: Visit) -> None:
    """By itself, and what is there stays until the answer comes."""
    page = (await visit(stand_in.show([BAR | {"refresh": 1}, OTHER]))).page
    await until(lambda: _asked(stand_in, 3))
    assert [[each["id"] for each in body["panels"]] for body in stand_in.asked[1:3]] == [["1-1"], ["1-1"]]
    assert await panel(page, "1-1").locator("rect.bar").count() == 2


async def test_another_choice_stops_what_runs_and_asks_what_reads_it(stand_in: StandIn, visit: Visit) -> None:
    """The connection of the first request is closed; a panel that does not read the choice and is there stays. Red
    when the older request is left open."""
    reading, other = BAR | {"reads": ["origin"]}, OTHER | {"reads": ["period"]}
    stand_in.held.add("1-1")
    page = (await visit(stand_in.show([reading, other], controls=[PERIOD, ORIGIN]), settle=False)).page
    await panel(page, "1-2").locator("rect.bar").first.wait_for()
    await page.get_by_role("button", name="Origin All").click()
    await page.get_by_label("Kennedy").check()
    await until(lambda: _left(stand_in, ["1-1"]))
    stand_in.held.clear()
    await come_ready(page, 2)
    assert [each["id"] for each in stand_in.asked[-1]["panels"]] == ["1-1"]
    assert stand_in.asked[-1]["filters"] == {"origin": ["JFK"]}


async def test_a_change_is_asked_when_it_is_said(live: StandIn, visit: Visit) -> None:
    """By the answer that stays open; another choice leaves it open. Red when it is closed with what runs."""
    page = (await visit(live.show([BAR, OTHER], controls=[ORIGIN]))).page
    await until(lambda: _open(live, 1))
    live.answers["1-2"] = rows({"x": "text", "n": "integer"}, ["a", 1], ["b", 2], ["c", 3])
    live.events.append({"changed": ["1-2"]})
    await until(lambda: _count(panel(page, "1-2").locator("rect.bar"), 3))
    assert [each["id"] for each in live.asked[-1]["panels"]] == ["1-2"]
    await page.get_by_role("button", name="Origin All").click()
    await page.get_by_label("Kennedy").check()
    await until(lambda: _asked(live, 3))
    assert [bool(each.get("live")) for each in live.asked] == [True, False, False]
    assert live.open == 1
    await page.goto("about:blank")
    await until(lambda: _open(live, 0))


async def test_an_answer_stays_open_after_a_rotation_too(live: StandIn, visit: Visit) -> None:
    """The answer that said that the token is dead ends; the page asks anew, and that answer stays open at once, so
    that the next rotation is heard as quickly as this one. Red when the answer that ends still counts as open: then no
    other stays open until the page asks by itself, half a minute later."""
    await visit(live.show([BAR]))
    await until(lambda: _open(live, 1))
    for rotations in (1, 2):
        live.events.append({"token": "ended"})
        await until(lambda count=rotations + 1: _asked(live, count))
        await until(lambda: _open(live, 1))
    assert [bool(each.get("live")) for each in live.asked] == [True, True, True]


async def test_a_page_begins_anew_when_its_group_has_changed(live: StandIn, visit: Visit) -> None:
    """With what is the group's now, its title too, and with an answer that stays open. Red when the page takes no
    notice of the message."""
    page = (await visit(live.show([BAR]))).page
    await until(lambda: _open(live, 1))
    (shown,) = live.dashboards.values()
    shown["title"] = "Of another name"
    live.events.append({"group": "changed"})
    await until(lambda: _asked(live, 2))
    await until(lambda: _open(live, 1))
    assert [bool(each.get("definition")) for each in live.asked[:2]] == [True, True]
    await page.get_by_role("heading", name="Of another name").wait_for()


async def test_a_page_with_vega_begins_anew(live: StandIn, visit: Visit) -> None:
    """Its bundle is there already, then. Red when the view of Vega has no skeleton: nothing came any more, on a page
    whose files an author changed, and on one whose group had changed."""
    vega = {"mark": "bar", "encoding": {"x": {"field": "k"}, "y": {"field": "v", "type": "quantitative"}}}
    free = {"kind": "vega", "title": "Free", "vega": vega, "answer": rows({"k": "text", "v": "integer"}, ["a", 1])}
    page = (await visit(live.show([free, BAR]))).page
    await until(lambda: _open(live, 1))
    await page.locator(".vega svg").wait_for()
    (shown,) = live.dashboards.values()
    shown["title"] = "Of another name"
    live.events.append({"group": "changed"})
    await page.get_by_role("heading", name="Of another name").wait_for()
    await page.locator(".vega svg").wait_for()
    await page.locator("rect.bar").first.wait_for()


async def test_a_third_frame_keeps_no_connection(live: StandIn, visit: Visit) -> None:
    """Six are all that a browser opens to a host over HTTP/1.1. Red when every frame stays connected: the seventh
    would never load."""
    address = live.show([BAR])
    first = (await visit(address)).page
    for count in (2, 2, 2):
        page = await first.context.new_page()
        await page.goto(address)
        await panel(page, "1-1").locator("rect.bar").first.wait_for()
        await until(lambda count=count: _open(live, count))
    assert [bool(each.get("live")) for each in live.asked] == [True, True, False, False]


async def test_leaving_stops_what_runs(stand_in: StandIn, visit: Visit) -> None:
    """The queries of a viewer who has gone are not worth their time."""
    stand_in.held.add("1-1")
    page = (await visit(stand_in.show([BAR, OTHER]), settle=False)).page
    await panel(page, "1-2").locator("rect.bar").first.wait_for()
    await page.goto("about:blank")
    await until(lambda: _left(stand_in, ["1-1"]))


async def test_a_refused_address_has_a_way_out(stand_in: StandIn, visit: Visit) -> None:
    """A filter that the dashboard does not have: the server's sentence, and the defaults."""
    address = stand_in.show([BAR])
    reason = {"code": "invalid_parameter", "message": "this dashboard has no filter regoin."}
    stand_in.refusal = (422, {"error": reason})
    page = (await visit(f"{address}#regoin=eu")).page
    assert "this dashboard has no filter regoin." in await page.get_by_role("alert").inner_text()
    stand_in.refusal = None
    await page.get_by_role("button", name="Show the defaults").click()
    await panel(page, "1-1").locator("rect.bar").first.wait_for()
    await page.wait_for_url(address)


async def test_a_dead_token_is_said(stand_in: StandIn, visit: Visit) -> None:
    """In plain words."""
    address = stand_in.show([BAR])
    stand_in.refusal = (401, {"error": {"code": "unknown_token"}})
    page = (await visit(address)).page
    assert await page.get_by_role("heading", name="This access has ended").count() == 1


@pytest.mark.parametrize(
    ("code", "title"),
    [
        ("embedding_not_allowed", "This dashboard may not be shown here"),
        ("missing_scope", "This preview is of another dashboard"),
        ("of_a_proxy", "There is no access to this dashboard"),
    ],
)
async def test_a_refusal_is_no_end(stand_in: StandIn, visit: Visit, code: str, title: str) -> None:
    """The access goes on, and the page says what was refused. Red when every 403 reads as an access that has ended."""
    address = stand_in.show([BAR])
    stand_in.refusal = (403, {"error": {"code": code}})
    page = (await visit(address)).page
    assert await page.get_by_role("heading", level=1).all_inner_texts() == [title]


async def test_the_key_figure_says_its_change_in_words(stand_in: StandIn, visit: Visit) -> None:
    """Good or bad as the author says; shares change by points. Both values have the same number of decimals."""
    page = (await visit(stand_in.show(figures()))).page
    words = [await each.inner_text() for each in await page.locator(".change").all()]
    assert words == [
        "Up 4.9% from 321,004 before",
        "Up 25.1% from 10.10 before",
        "As before",
    ]
    assert await page.locator(".change.good").count() == await page.locator(".change.bad").count() == 1
    assert await page.locator(".figure-value").all_inner_texts() == ["336,776", "12.64 min", "78.1%", "$1,204,501"]


@pytest.mark.parametrize(("now", "text"), [(0.51, "Up 1 point from 50.0%"), (0.53, "Up 3 points from 50.0%")])
async def test_one_point_is_no_points(stand_in: StandIn, visit: Visit, now: float, text: str) -> None:
    """Red when the word was always the same."""
    answer = rows({"v": "float"}, [now], compare=rows({"v": "float"}, [0.5]))
    page = (await visit(stand_in.show([{"kind": "figure", "figure": "v", "format": "percent", "answer": answer}]))).page
    assert (await page.locator(".change").inner_text()).startswith(text)


async def test_beside_what_is_below_nought_a_change_is_a_difference(stand_in: StandIn, visit: Visit) -> None:
    """Percents of it mean nothing: a fall from just below nought would be one of thousands. Red without that case."""
    given = [(-4.8, -0.1), (-2.9, 11.6), (3.5, -1.5)]
    page = (
        await visit(
            stand_in.show(
                [
                    {
                        "kind": "figure",
                        "figure": "delay",
                        "digits": 1,
                        "answer": rows({"delay": "float"}, [now], compare=rows({"delay": "float"}, [before])),
                    }
                    for now, before in given
                ]
            )
        )
    ).page
    words = await page.locator(".change").all_inner_texts()
    assert words == [
        "Down 4.7 from \N{MINUS SIGN}0.1 before",
        "Down 14.5 from 11.6 before",
        "Up 5.0 from \N{MINUS SIGN}1.5 before",
    ]


async def test_what_is_to_come_is_not_compared(stand_in: StandIn, visit: Visit) -> None:
    """The figure has all of its period, and its change is of what has passed, which it names. Red when the change was
    of all, and when it did not say 206: 214 is up 9.2% from 196."""
    answer = rows({"v": "integer"}, [214], so_far=rows({"v": "integer"}, [206]), compare=rows({"v": "integer"}, [196]))
    page = (await visit(stand_in.show([{"kind": "figure", "figure": "v", "answer": answer}]))).page
    assert await page.locator(".figure-number").inner_text() == "214"
    assert await page.locator(".change").inner_text() == "206 so far: up 5.1% from 196 before"


async def test_a_change_of_a_day_that_is_not_over(stand_in: StandIn, visit: Visit) -> None:
    """Where a query cannot end within a day, the change says which whole day it is from; else both end at the same
    time. Red when both said "from 20 before", and the first day of a month was "in the whole day before"."""

    def between(first: str, last: str, until: str = "") -> Message:
        return {"start": f"2026-{first}", "end": f"2026-{last}{until}"}

    def periods(days: Message, before: Message, **more: Any) -> Message:
        return {"shown": days, "before": before, "whole": between("11-01", "11-30"), **more}

    now, today, yesterday = "T11:00", between("11-28", "11-28"), between("11-27", "11-27")
    given = [
        (periods(today, yesterday), "on the whole of Nov 27, 2026"),
        (periods(today, between("10-28", "10-28")), "on the whole of Oct 28, 2026"),
        (periods(between("11-28", "11-28", now), between("11-27", "11-27", now), whole_dates=True), "before"),
        (periods(between("11-01", "11-28"), between("10-01", "10-28")), "before"),
        (periods(between("11-01", "11-28", now), between("10-01", "10-28", now)), "before"),
    ]
    answers = [
        rows({"v": "integer"}, [12], compare=rows({"v": "integer"}, [20]), now="2026-11-28T11:00:00", periods=each)
        for each, _ in given
    ]
    page = (await visit(stand_in.show([{"kind": "figure", "figure": "v", "answer": each} for each in answers]))).page
    assert await page.locator(".change").all_inner_texts() == [f"Down 40% from 20 {words}" for _, words in given]
    titles = await page.locator(".change").evaluate_all("all => all.map((each) => each.title)")
    assert [title.replace("\N{NARROW NO-BREAK SPACE}", " ").replace(", 2026", "") for title in titles] == [
        "Nov 28 against Nov 27; today is not over",
        "Nov 28 against Oct 28; today is not over",
        "Nov 28, until 11:00 AM against Nov 27, until 11:00 AM; dates without a time are whole days",
        "Nov 1 – Nov 28 against Oct 1 – Oct 28; today is not over",
        "Nov 1 – Nov 28, 11:00 AM against Oct 1 – Oct 28, 11:00 AM",
    ]


async def test_a_value_that_is_gone(stand_in: StandIn, visit: Visit) -> None:
    """Red when it said that there was no value before."""
    answer = rows({"v": "integer"}, [None], compare=rows({"v": "integer"}, [196]))
    page = (await visit(stand_in.show([{"kind": "figure", "figure": "v", "answer": answer}]))).page
    assert await page.locator(".change").inner_text() == "196 before"


async def test_values_are_written_as_the_group_writes_them(stand_in: StandIn, visit: Visit) -> None:
    """Locale and currency of the definition, whatever the browser's."""
    page = (await visit(stand_in.show(figures(), locale="de-AT", currency="EUR"), locale="en-US")).page
    assert (await page.locator(".figure-value").all_inner_texts())[-1].replace("\xa0", " ") == "€ 1.204.501"


async def test_a_theme_of_the_group(stand_in: StandIn, visit: Visit) -> None:
    """Its accent is kept readable; its mode counts for more than the system's."""
    address = stand_in.show([BAR], theme={"accent": "#ffe066", "mode": "dark"})
    page = (await visit(address)).page
    fill = "getComputedStyle(document.querySelector('rect.bar')).fill"
    assert await page.evaluate(fill) == "rgb(255, 224, 102)"
    address = stand_in.show([BAR], theme={"accent": "#ffe066"})
    light = (await visit(address)).page
    assert await light.evaluate(fill) != "rgb(255, 224, 102)"


async def test_the_page_without_a_panel_that_fits(stand_in: StandIn, visit: Visit) -> None:
    """The whole gallery at once: every panel is ready, empty or failed, in one request."""
    page = (await visit(gallery(stand_in))).page
    states = await page.locator("[data-state]").evaluate_all("all => all.map((each) => each.dataset.state)")
    assert {each: states.count(each) for each in set(states)} == {"ready": len(states) - 2, "empty": 1, "failed": 1}
    assert len(stand_in.asked) == 1


async def come_ready(page: Page, count: int) -> None:
    await until(lambda: _all_ready(page, count))


async def _all_ready(page: Page, count: int) -> bool:
    return await page.locator("[data-state=ready]").count() == count


async def _asked(stand_in: StandIn, count: int) -> bool:
    return len(stand_in.asked) >= count


async def _asked_freshly(stand_in: StandIn) -> bool:
    return bool(stand_in.asked[-1].get("fresh"))


async def _open(stand_in: StandIn, count: int) -> bool:
    return stand_in.open == count


async def _count(found: Locator, count: int) -> bool:
    return await found.count() == count


async def _left(stand_in: StandIn, ids: list[str]) -> bool:
    return stand_in.left == ids
