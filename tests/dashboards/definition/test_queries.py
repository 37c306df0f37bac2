"""A dashboard beside its queries: what does not fit between them is found when they are read, at its place."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import pytest

from tenantry.dashboards.definition.model import DashboardFile
from tenantry.dashboards.definition.queries import find_queries
from tenantry.dashboards.definition.reader import read_dashboard
from tenantry.dashboards.folder import mistyped_controls
from tenantry.errors import TemplateError
from tenantry.sql.query_file import Query

HEADER = "/* ---\nparams:\n  period: date range\n  region: list of text\n--- */\n"
QUERIES = {
    "by_day": Query(
        HEADER + "select 1 where {{ params.period | within(day) }} [[ and r in {{ params.region }} ]]", "by_day"
    ),
    "plain": Query("select 1 [[ where r in {{ params.region }} ]] [[ and s = {{ params.s }} ]]", "plain"),
    "mistyped": Query("select 1 as a [[ where x = {{ params.regoin }} ]]", "mistyped", file="mistyped.sql"),
    "list": Query("select 1 [[ where r in {{ params.other }} ]]", "list"),
    "unset": Query("select 1 [[ where r in {{ params.towns }} ]]", "unset", fragments={}),
    "ranged": Query("select 1 where {{ params.othr | within(day) }}", "ranged"),
    "all": Query("select 1", "all"),
    "needs": Query(
        "/* ---\nparams:\n  region: {type: text, required: true}\n--- */\nselect {{ params.region }} as r", "needs"
    ),
    "regions": Query("select r from regions where country = {{ country }}", "regions"),
}


def _read(rows: str, controls: str = "{}") -> DashboardFile:
    return read_dashboard(f"title: Sales\ncontrols: {controls}\nrows:\n  - {rows}\n", "sales", "sales.yaml")


def test_a_query_is_typed_by_the_controls_where_it_declares_nothing_itself() -> None:
    """A statement in the file needs no header, and a number of a control is a number in every query.

    Red when the controls were not declared: the text of the address was bound.
    """
    controls = "{least: {number: 5}, period: {range: last 7 days}, region: {choices: {query: regions}, many: true}}"
    sql = '"select 1 where a >= {{ params.least }} and {{ params.period | within(day) }} [[ and b = {{ params.b }} ]]"'
    panels = f"[{{bar: a, by: b, query: {{sql: {sql}}}, click: {{filter: b}}}}, {{table: plain}}, {{table: by_day}}]"
    dashboard = _read(panels, controls)
    queries = find_queries(dashboard, QUERIES)
    kinds = {
        panel.id: {name: each.kind for name, each in template.parameters.items()}
        for panel in dashboard.panels
        for template in queries.panels[panel.id].templates
    }
    assert kinds["1-1"] == {"b": "text", "least": "decimal", "period": "date range", "region": "list of text"}
    assert kinds["1-2"] == {"region": "list of text", "s": "text"}
    assert kinds["1-3"] == {"period": "date range", "region": "list of text"}
    assert queries.parameters == {"least", "period", "region", "b", "s"}
    assert queries.choices["region"] is QUERIES["regions"]
    assert [*mistyped_controls(dashboard, queries)] == []


def slips(
    panels: str,
    controls: str,
    opened_with: Collection[str] = (),
    set_somewhere: Collection[tuple[str, str]] | None = None,
    folder: Mapping[str, Query] = QUERIES,
) -> dict[str, tuple[str, str]]:
    dashboard = _read(panels, controls)
    found = mistyped_controls(dashboard, find_queries(dashboard, folder), opened_with, set_somewhere)
    return {f"{each.line}:{each.column} {each.code}": (each.message, each.fix) for _, each in found}


UNUSED = "2:12 unused-control"


def test_a_control_that_nothing_reads_is_found() -> None:
    """It works, and is probably a typing error: with the name that a query reads. Red without the names that nothing
    sets: the fix said nothing of `s`."""
    assert slips("{table: all}", "{region: {text: }}")[UNUSED][1].startswith("write [[ and … = {{ params.region }} ]]")
    (found,) = slips("{table: mistyped}", "{region: {text: }}").items()
    assert found[0] == UNUSED
    assert found[1][1].startswith("did you mean regoin, which mistyped.sql:1:28 reads? Otherwise write [[")


def test_a_filter_that_no_control_sets_is_found() -> None:
    """Where a control is nearly called so: the panel would show all rows, whatever the viewer chooses. A click that
    sets it, here or in another dashboard, is enough. Red when only controls are looked at."""
    two = "[{table: plain}, {table: mistyped}]"
    controls = "{region: {choices: [a, b], many: true}, s: {text: }}"
    (found,) = slips(two, controls).items()
    assert found[0] == "1:28 unset-parameter"
    assert found[1][0] == "no control of the dashboard sales sets params.regoin"
    assert found[1][1].startswith("did you mean region? ")
    assert slips(two, controls, ["regoin"]) == {}
    assert slips(f"{two[:-1]}, {{bar: a, by: b, query: all, click: {{filter: regoin}}}}]", controls) == {}
    assert slips("{table: plain}", "{region: {choices: [a, b], many: true}}") == {}  # another dashboard may set s


def test_a_filter_that_no_dashboard_sets_is_found() -> None:
    """Its name resembles that of no control, or there is no control. A query may read it for another dashboard, and a
    header, also of a fragment, says that a link may set it. Red when only names like those of a control were reported,
    when the headers of fragments did not count, and when a statement in the dashboard had the place within itself."""
    mistyped = QUERIES["mistyped"]
    assert slips("{table: mistyped}", "{}") == {}
    (found,) = slips("{table: mistyped}", "{}", (), ()).items()
    assert found[0] == "1:28 unset-parameter"
    assert found[1][1].startswith("declare regoin in the query's header, if a link or the host page sets it")
    assert slips("{table: mistyped}", "{}", (), {("mistyped.sql", "regoin")}) == {}
    statement = "{table: {sql: 'select 1 [[ where x = {{ params.regoin }} ]]'}}"
    assert slips(statement, "{}", (), ()).keys() == {"4:13 unset-parameter"}
    declared = "/* ---\nparams:\n  regoin: text\n--- */\n"
    folder = {"declared": Query(declared + mistyped.text, "declared")}
    folder["including"] = Query("{{> declared }}", "including", fragments=folder)
    assert slips("[{table: declared}, {table: including}]", "{}", (), (), folder) == {}


REFUSED = {
    "{table: al}": ("4:13", "there is no query al", "did you mean all?"),
    "{figure: a, query: all, sparkline: al}": ("4:40", "there is no query al", "did you mean all?"),
    "{table: {sql: 'select {{ x'}}": ("4:13", "in this statement, 1:8: this {{ has no }}", "close the tag"),
    "{table: {sql: 'select {{ params.x }} + 1'}}": ("4:13", "params.x is not declared", ""),
    "{table: ranged}": (
        "4:13",
        "no control is called othr; ranged:1:",
        "did you mean other?",
    ),
    "{table: list}": ("list:1", "params.other is not a list", ""),
    "{table: unset}": (
        "4:13",
        "no control is called towns; unset:1:24: params.towns is not a list",
        "Add a control, such as `towns: {choices: […], many: true}`",
    ),
    "{figure: a, query: all, compare: previous-period}": ("4:5", "the query reads no range", "within(column)"),
    "{table: all, click: {filter: regoin}}": ("4:25", "no query reads params.regoin", "[[ and"),
    "{table: needs}": ("4:5", "the query needs params.region, which no control sets", "Add a control region"),
}


@pytest.mark.parametrize("rows", REFUSED)
def test_what_leads_nowhere_is_refused_at_its_place(rows: str) -> None:
    """Red for each when its check was left out: the panel failed when a viewer came."""
    place, problem, fix = REFUSED[rows]
    with pytest.raises(TemplateError) as caught:
        find_queries(_read(rows, "{other: {text: }}"), QUERIES)
    file = "" if ":" in place and place.startswith("list") else "sales.yaml:"
    assert caught.value.message.startswith(f"{file}{place}:"), caught.value.message
    assert problem in caught.value.message
    assert fix in caught.value.message.partition("fix: ")[2], caught.value.message
