"""Writing, running and saving a query, by keys alone; stopping it; what the result shows."""

from __future__ import annotations

from playwright.async_api import expect

from tests.editor.page.conftest import Visit, shows, until, write
from tests.editor.page.stand_in import QUERY, SECOND, StandIn, refusal, run_lines


async def test_a_query_is_written_run_and_saved_by_keys(stand_in: StandIn, visit: Visit) -> None:
    """Red when the page does not listen for Ctrl+Enter or Ctrl+S, and when it sends another text than the typed one."""
    page = (await visit()).page
    typed = "select day, 1 as flights from flights where carrier = {{ carrier }}"
    await write(page, typed)
    await page.keyboard.press("ControlOrMeta+Enter")
    await expect(page.locator(".rows tbody tr")).to_have_count(3)
    (body,) = stand_in.bodies("run")
    assert body == {
        "path": QUERY,
        "text": typed,
        "drafts": {},
        "environment": "production",
        "group": "ua",
        "viewer": None,
        "schema": "main",
        "params": {},
        "dashboard": None,
        "unguarded": False,
    }
    await page.keyboard.press("ControlOrMeta+s")
    await until(lambda: stand_in.files[QUERY] == typed)
    await expect(page.get_by_role("button", name="Save", exact=True)).to_be_disabled()
    await expect(page.locator(".facts")).to_contain_text("As United Air Lines · 3 rows · 34 ms · warehouse")


async def test_a_query_is_stopped(stand_in: StandIn, visit: Visit) -> None:
    """The request ends, which stops the query; the focus stays with the button. Red when Stop does not abort."""
    page = (await visit()).page
    stand_in.held.add("run")
    await page.get_by_role("button", name="Run", exact=True).press("Enter")
    stop = page.get_by_role("button", name="Stop")
    await expect(stop).to_be_focused()
    await until(lambda: stand_in.bodies("run"))
    await stop.press("Enter")
    await until(lambda: "run" in stand_in.left)
    await expect(page.locator(".rows")).to_contain_text("The query was stopped.")
    await expect(page.get_by_role("button", name="Run", exact=True)).to_be_focused()


async def test_an_error_leads_to_its_place(stand_in: StandIn, visit: Visit) -> None:
    """Red when the error's place is not used."""
    error = {"code": "query_failed", "message": "There is no column nothing.", "from": 7, "to": 14}
    stand_in.answers["run"] = [{"error": error}]
    page = (await visit()).page
    await page.keyboard.press("ControlOrMeta+Enter")
    await expect(page.get_by_role("alert").filter(has_text="There is no column nothing.")).to_be_visible()
    await page.get_by_role("button", name="Show the place").click()
    assert await page.evaluate("document.querySelector('tenantry-code').contains(document.activeElement)")


async def test_a_refused_run_says_why(stand_in: StandIn, visit: Visit) -> None:
    """Red when an answer of another status than 200 is taken for an empty result."""
    stand_in.answers["run"] = refusal(422, "missing_variable", "The property carrier is missing.")
    page = (await visit()).page
    await page.keyboard.press("ControlOrMeta+Enter")
    await expect(page.locator(".rows")).to_contain_text("The property carrier is missing.")


async def test_rows_have_pages_and_an_order(stand_in: StandIn, visit: Visit) -> None:
    """Exact numbers that no double holds are in order, and rows without a value are last. Red when they are compared as
    doubles, or as strings."""
    large = ["9007199254740992", "9007199254740993", "10"]
    many = [["2026-01-01", value] for value in (*large, None, *range(200))]
    stand_in.answers["run"] = run_lines(*many, cut=True)
    page = (await visit()).page
    await page.keyboard.press("ControlOrMeta+Enter")
    await expect(page.locator(".rows tbody tr")).to_have_count(50)
    await expect(page.locator(".facts")).to_contain_text("Cut after 204 rows")
    await page.get_by_role("button", name="flights").last.click()
    cells = page.locator(".rows tbody td")
    await expect(cells.nth(0)).to_have_text("9,007,199,254,740,993")
    await expect(cells.nth(1)).to_have_text("9,007,199,254,740,992")
    for _ in range(4):
        await page.get_by_role("button", name="Next").click()
    await expect(page.locator(".rows tbody tr")).to_have_count(4)
    await expect(cells.last).to_have_text("NULL")


async def test_values_are_exact(stand_in: StandIn, visit: Visit) -> None:
    """Each digit of a decimal and of a double, and NULL is no empty string. Red when values are rounded as dashboards
    round them."""
    columns = [{"name": "a", "type": "decimal"}, {"name": "b", "type": "float"}, {"name": "c", "type": "text"}]
    stand_in.answers["run"] = run_lines(["0.1234567890123456789", 12.3456789, ""], [None, 1, None], columns=columns)
    page = (await visit()).page
    await page.keyboard.press("ControlOrMeta+Enter")
    await expect(page.locator(".rows tbody tr")).to_have_count(2)
    texts = await page.locator(".rows tbody .cell").all_inner_texts()
    assert texts == ["0.1234567890123456789", "12.3456789", "", "NULL", "1", "NULL"]


async def test_two_columns_of_one_name_are_both_shown(stand_in: StandIn, visit: Visit) -> None:
    """Red when the second column shows the values of the first."""
    columns = [{"name": "id", "type": "integer"}, {"name": "id", "type": "integer"}]
    stand_in.answers["run"] = run_lines([1, 2], columns=columns)
    page = (await visit()).page
    await page.keyboard.press("ControlOrMeta+Enter")
    await expect(page.locator(".rows tbody tr")).to_have_count(1)
    assert await page.locator(".rows tbody tr .cell").all_inner_texts() == ["1", "2"]


async def test_the_bound_sql_has_parameters_with_their_origin(stand_in: StandIn, visit: Visit) -> None:
    """Red when the tab shows the template."""
    page = (await visit()).page
    await page.keyboard.press("ControlOrMeta+Enter")
    await page.locator(".rows tbody tr").first.wait_for()
    await page.get_by_role("tab", name="Bound SQL").click()
    await expect(page.get_by_label("Bound SQL").last).to_contain_text("where carrier = $1")
    assert await page.locator(".bound tbody tr code").all_inner_texts() == ["$1", "carrier", "text", "UA", "property"]


async def test_the_plan_is_asked_for_when_it_is_shown(stand_in: StandIn, visit: Visit) -> None:
    """Red when each run asks for a plan."""
    page = (await visit()).page
    await page.keyboard.press("ControlOrMeta+Enter")
    await page.locator(".rows tbody tr").first.wait_for()
    assert stand_in.bodies("plan") == []
    await page.get_by_role("tab", name="Plan").click()
    await expect(page.locator(".plan pre")).to_have_text("Seq Scan on flights")


async def test_a_quick_chart_is_drawn(stand_in: StandIn, visit: Visit) -> None:
    """Red when the chart's bundle is not found, or the columns are not offered."""
    seen = await visit()
    page = seen.page
    await page.keyboard.press("ControlOrMeta+Enter")
    await page.locator(".rows tbody tr").first.wait_for()
    await page.get_by_role("tab", name="Chart").click()
    await page.locator(".quick-chart .line").first.wait_for()
    await page.get_by_label("Kind").select_option("bar")
    await expect(page.locator(".quick-chart rect.bar")).to_have_count(3)
    assert seen.console == []
    assert await seen.violations() == []


async def test_parameters_have_fields_of_their_types(stand_in: StandIn, visit: Visit) -> None:
    """What is typed there goes with the next run; a field that is empty again does not. Red when an empty string is
    sent, and when a field loses the focus at each answer."""
    params = [
        {"name": "since", "type": "date"},
        {"name": "status", "type": "choice", "choices": ["open", "paid"]},
        {"name": "tags", "type": "list of text"},
        {"name": "period", "type": "date range", "default": "last 90 days"},
        {"name": "month", "type": "relative range"},
        {"name": "several", "type": "list of choice", "choices": ["a", "b", "c"]},
        {"name": "anything", "type": None},
    ]
    stand_in.answers["variables"] = {"variables": [], "params": params, "fragments": [], "dashboards": []}
    page = (await visit()).page
    await page.get_by_label("since").fill("2026-01-02")
    await page.get_by_label("status").select_option("paid")
    await page.get_by_label("tags").fill("a, b")
    await page.get_by_label("anything").fill("x")
    await page.get_by_label("month").select_option("last 6 months")
    await expect(page.get_by_label("period", exact=True).locator("option").first).to_have_text("Last 90 days")
    await page.get_by_label("period", exact=True).select_option("dates")
    await page.get_by_label("period, first").fill("2026-01-01")
    await page.get_by_label("several").select_option(["a", "c"])
    count = len(stand_in.bodies("variables"))
    await write(page, "select 1 as one")
    await until(lambda: len(stand_in.bodies("variables")) > count)
    await expect(page.get_by_label("tags")).to_have_value("a, b")
    await page.keyboard.press("ControlOrMeta+Enter")
    expected = {
        "since": "2026-01-02",
        "status": "paid",
        "tags": ["a", "b"],
        "anything": "x",
        "period": {"start": "2026-01-01"},
        "month": "last 6 months",
        "several": ["a", "c"],
    }
    await until(lambda: stand_in.bodies("run"))
    assert stand_in.bodies("run")[-1]["params"] == expected
    await page.get_by_label("since").fill("")
    await page.keyboard.press("ControlOrMeta+Enter")
    await until(lambda: len(stand_in.bodies("run")) == 2)
    del expected["since"]
    assert stand_in.bodies("run")[-1]["params"] == expected


async def test_controls_of_a_dashboard_are_fields(stand_in: StandIn, visit: Visit) -> None:
    """With their labels and presets; the choices of a query are read once the field is used. Red when names and values
    are shown instead, and when only the first value of a list has suggestions."""
    params = [
        {"name": "step", "label": "Step", "type": "choice", "choices": ["d", "w"], "labels": ["Day", "Week"]},
        {"name": "period", "type": "date range", "presets": ["last-7-days", "last-90-days"], "default": "last 90 days"},
        {"name": "origin", "label": "From", "type": "list of text", "choices_query": "delays"},
    ]
    stand_in.answers["variables"] = {"variables": [], "params": params, "fragments": [], "dashboards": []}
    stand_in.answers["run"] = run_lines(["JFK", "John F Kennedy"], ["LAX", "Los Angeles"])
    page = (await visit()).page
    await page.get_by_label("Step").wait_for()
    texts = await page.get_by_label("Step").locator("option").all_inner_texts()
    assert texts == ["not set", "Day", "Week"]
    texts = await page.get_by_label("period").locator("option").all_inner_texts()
    assert texts == ["Last 90 days", "Last 7 days", "Dates …"]
    assert stand_in.bodies("run") == []
    await page.get_by_label("From").focus()
    await expect(page.locator("datalist option")).to_have_count(2)
    offered = "(all) => all.map((each) => each.value)"
    assert await page.locator("datalist option").evaluate_all(offered) == ["JFK", "LAX"]
    await page.keyboard.type("JFK,")
    assert await page.locator("datalist option").evaluate_all(offered) == ["JFK, LAX"]
    assert stand_in.bodies("run")[-1]["path"] == SECOND


async def test_parameters_of_a_dashboard_say_which(stand_in: StandIn, visit: Visit) -> None:
    """Of several, one can be chosen; the query takes its schema. Red when the choice is not sent, and when the schema
    is not taken because the server was slow to say which ones the group has."""
    dashboards = [{"name": "delays", "schema": "flights"}, {"name": "overview", "schema": None}]
    params = [{"name": "since", "type": "date"}]
    stand_in.answers["variables"] = {"variables": [], "params": params, "fragments": [], "dashboards": dashboards}
    group = {"id": "ua", "name": "United Air Lines", "schemas": ["main", "flights"], "suspended": False}
    stand_in.answers["group"] = group
    stand_in.held.add("group")
    page = (await visit()).page
    await expect(page.get_by_label("As in")).to_be_visible()
    stand_in.held.clear()
    await expect(page.get_by_label("Schema")).to_have_value("flights")
    await page.get_by_label("As in").select_option("overview")
    await until(lambda: stand_in.last("check").get("dashboard") == "overview")
    await page.keyboard.press("ControlOrMeta+Enter")
    await until(lambda: stand_in.bodies("run"))
    body = stand_in.bodies("run")[-1]
    assert (body["dashboard"], body["schema"]) == ("overview", "flights")


async def test_problems_are_listed_and_fixed(stand_in: StandIn, visit: Visit) -> None:
    """Red when a fix does not change the text, or findings stay after it."""
    page = (await visit()).page
    await write(page, "select {{ wrong }} as one")
    problems = page.get_by_label("Problems")
    await expect(problems).to_contain_text("Line 1")
    await expect(problems).to_contain_text("There is no variable wrong.")
    await problems.get_by_role("button", name="Fix").click()
    await shows(page, "select {{ carrier }} as one")
    await expect(problems).to_be_hidden()
