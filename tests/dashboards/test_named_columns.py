"""Only the columns that a panel names leave the server: to its page, in its file, and as an order of its rows."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path
from typing import Any, Final

import duckdb
import pytest

from tenantry.dashboards.definition.file_schema import PANELS
from tenantry.dashboards.definition.model import PanelKind
from tenantry.dashboards.definition.reader import read_dashboard
from tenantry.datasources import ResultCache
from tenantry.errors import TemplateError
from tests.dashboards.served import Site, serve
from tests.dashboards.test_tables import Stored

SECRET: Final = "TOP-SECRET"
HIDDEN: Final = {"secret", "margin"}
"""Columns of the query that no panel of ``KINDS`` names."""
KINDS: Final[dict[PanelKind, tuple[str, set[str]]]] = {
    PanelKind.HEADING: ("{heading: Words}", set()),
    PanelKind.TEXT: ("{text: Words}", set()),
    PanelKind.FIGURE: (
        "{figure: delay, query: all, compare: previous-period, sparkline: small}",
        {"delay"},
    ),
    PanelKind.TABLE: (
        "{table: all, columns: [day, {delay: integer}], sort: -day, click: {filter: route}}",
        {"day", "delay", "route"},
    ),
    PanelKind.LINE: ("{line: [delay, size], by: day, color: route, query: all}", {"delay", "size", "day", "route"}),
    PanelKind.AREA: ("{area: delay, by: day, stack: sum, color: route, query: all}", {"delay", "day", "route"}),
    PanelKind.BAR: ("{bar: delay, by: route, query: all, click: {filter: day}}", {"delay", "route", "day"}),
    PanelKind.DONUT: ("{donut: delay, by: route, sort: largest, query: all}", {"delay", "route"}),
    PanelKind.SCATTER: (
        "{scatter: delay, by: day, size: size, label: route, query: all}",
        {"delay", "day", "size", "route"},
    ),
    PanelKind.HEATMAP: ("{heatmap: delay, by: day, rows: route, query: all}", {"delay", "day", "route"}),
    PanelKind.VEGA: (
        "{vega: {transform: [{filter: datum.size > 0}], encoding: {x: {field: day}, y: {field: delay}}}, query: all}",
        {"day", "delay", "size"},
    ),
}
"""A panel of each kind, and the columns that it names."""
CONTROLS: Final = """controls:
  period: {range: last 30 days}
  route: {choices: {query: routes}}
  day: {text: }"""
QUERIES: Final = {
    "queries/all.sql": f"""select day, route, delay, delay + 1 as size, '{SECRET}' as secret, delay * 7 as margin
from flights where carrier = {{{{ carrier }}}} and {{{{ params.period | within(day) }}}}
[[ and route = {{{{ params.route }}}} ]] [[ and day = {{{{ params.day }}}} ]] order by day""",
    "queries/small.sql": f"""select day, delay, '{SECRET}' as secret from flights
where carrier = {{{{ carrier }}}} and {{{{ params.period | within(day) }}}} order by day""",
    "queries/routes.sql": f"""select distinct route, 'To ' || route as label, '{SECRET}' as secret
from flights where carrier = {{{{ carrier }}}}""",
}
FED: Final = [kind for kind in KINDS if kind not in (PanelKind.HEADING, PanelKind.TEXT)]


def one_panel(panel: str) -> dict[str, str]:
    return {"dashboards/routes.yaml": f"title: A\n{CONTROLS}\nrows:\n  - {panel}\n", **QUERIES}


async def answer(site: Site, **wanted: Any) -> str:
    """Everything that a page gets: the dashboard, choices and the panel."""
    body = {"definition": True, "panels": [{"id": "1-1", **wanted}]}
    got = await site.post("routes/-/panels", body)
    assert got.status_code == 200, got.text
    return str(got.text)


def panel_of(text: str) -> dict[str, Any]:
    lines = [json.loads(line) for line in text.splitlines()]
    return next(line for line in lines if "panel" in line)


def columns_of(rows: dict[str, Any]) -> set[str]:
    names = [each["name"] for each in rows["columns"]]
    assert all(len(row) == len(names) for row in rows["rows"])
    return set(names)


def test_every_kind_of_panel_is_tested_here() -> None:
    """Red when a kind is added to the language, and no test says which of its columns are sent."""
    assert set(KINDS) == set(PanelKind) == set(PANELS)


@pytest.mark.parametrize("kind", KINDS)
async def test_a_page_gets_the_named_columns(tmp_path: Path, kind: PanelKind) -> None:
    """With their rows, also reduced ones, and those of the period before and the small line. Red for each kind when
    ``rows_line`` encodes the whole result; for the figure when the small line is sent whole."""
    panel, named = KINDS[kind]
    async with serve(tmp_path, one_panel(panel)) as site:
        for width in (0, 5):
            text = await answer(site, width=width)
            assert SECRET not in text
            if kind not in FED:
                continue
            line = panel_of(text)
            assert columns_of(line) == named
            assert line["rows"]
            assert line["reduced"] == (width > 0 and kind is PanelKind.LINE)
            if kind is PanelKind.FIGURE:
                assert columns_of(line["compare"]) == {"delay"}
                assert columns_of(line["sparkline"]) == {"delay", "day"}


@pytest.mark.parametrize("kind", FED)
async def test_a_file_has_the_named_columns(tmp_path: Path, kind: PanelKind) -> None:
    """In the order of the query. Red when the stream is not told the columns."""
    panel, named = KINDS[kind]
    async with serve(tmp_path, one_panel(panel), store=Stored) as site:
        issued = await site.post("routes/-/panels/1-1/download", {})
        file = await site.follow(issued.json()["address"])
        assert file.status_code == 200, file.text
        head, *rows = file.text.removeprefix("\ufeff").splitlines()
        assert head.split(",") == [name for name in ("day", "route", "delay", "size") if name in named]
        assert len(rows) == 60
        assert SECRET not in file.text


@pytest.mark.parametrize("kind", FED)
async def test_all_says_otherwise(tmp_path: Path, kind: PanelKind) -> None:
    """``columns: all`` sends every column, to the page and to the file, for every kind. Red when ``all`` is read as the
    name of a column."""
    panel = KINDS[kind][0].replace("columns: [day, {delay: integer}]", "columns: all")
    panel = panel if "columns: all" in panel else f"{panel[:-1]}, columns: all}}"
    async with serve(tmp_path, one_panel(panel), store=Stored) as site:
        line = panel_of(await answer(site))
        assert columns_of(line) == {"day", "route", "delay", "size", *HIDDEN}
        issued = await site.post("routes/-/panels/1-1/download", {})
        assert (await site.follow(issued.json()["address"])).text.count(SECRET) == 60


@pytest.mark.parametrize("kind", [kind for kind in FED if kind is not PanelKind.TABLE])
async def test_columns_adds_to_what_a_panel_names(tmp_path: Path, kind: PanelKind) -> None:
    """For the table of a chart, its file, and what a specification reads by computed names."""
    panel, named = KINDS[kind]
    async with serve(tmp_path, one_panel(f"{panel[:-1]}, columns: [margin]}}")) as site:
        text = await answer(site)
        assert columns_of(panel_of(text)) == {*named, "margin"}
        assert SECRET not in text


@pytest.mark.parametrize("limits", [{}, {"row_limit": 30}], ids=["whole", "by the engine"])
async def test_a_hidden_column_is_no_order(tmp_path: Path, limits: dict[str, int]) -> None:
    """A viewer would read it off the order of the rows. The author's own ``sort`` is one, though its column is not
    sent, in its own direction alone. Red when every column of the query is accepted, when the column of ``sort`` counts
    as one to send, and when a viewer may turn it round."""
    database = tmp_path / "pay.duckdb"
    with closing(duckdb.connect(str(database))) as connection:
        connection.execute(
            "create table staff as select 'n' || i % 2 as name, i * 37 % 100 as salary, -i as rank from range(100) r(i)"
        )
    panel = "{table: {sql: 'select name, salary, rank from staff'}, columns: [name], sort: -rank, page: 20}"
    async with serve(tmp_path, one_panel(panel), limits=limits) as site:
        site.directory.registered.clear()
        site.directory.add(1, f"duckdb:///{database}")
        for sort in ("salary", "-salary", "rank", "name; --", "nothing"):
            assert panel_of(await answer(site, sort=sort))["error"]["code"] == "invalid_parameter"
        for sort in ("name", "-name", "-rank", ""):
            line = panel_of(await answer(site, sort=sort))
            assert columns_of(line) == {"name"}
            assert (len(line["rows"]), line["total"]) == (20, 100)
        own = [row[0] for row in panel_of(await answer(site))["rows"]]
        assert own == ["n0", "n1"] * 10


async def test_panels_of_one_query_get_their_own_columns(tmp_path: Path) -> None:
    """Also of one cached answer, whoever asks first. Red when what is cached are the columns of the first panel."""
    panels = "[{table: all, columns: [day]}, {table: all, columns: [secret]}, {donut: delay, by: route, query: all}]"
    async with serve(tmp_path, one_panel(panels), limits={"cache": ResultCache()}) as site:
        for order in (("1-1", "1-2", "1-3"), ("1-3", "1-2", "1-1")):
            found = await site.panels("routes", panels=[{"id": each} for each in order])
            shown = {each: columns_of(line) for each, line in found.items()}
            assert shown == {"1-1": {"day"}, "1-2": {"secret"}, "1-3": {"delay", "route"}}


async def test_a_line_above_the_row_limit_has_its_columns(tmp_path: Path) -> None:
    """Its rows are reduced while they are read. Red when ``rows_line`` encodes the whole result."""
    database = tmp_path / "large.duckdb"
    with closing(duckdb.connect(str(database))) as connection:
        connection.execute(
            f"create table large as select i as moment, i % 7 as n, '{SECRET}' as secret from range(5000) r(i)"
        )
    panel = "{line: n, by: moment, query: {sql: select * from large order by moment}}"
    async with serve(tmp_path, one_panel(panel), limits={"row_limit": 1000}) as site:
        site.directory.registered.clear()
        site.directory.add(1, f"duckdb:///{database}")
        text = await answer(site, width=20)
        assert (columns_of(panel_of(text)), panel_of(text)["reduced"], SECRET in text) == ({"moment", "n"}, True, False)


async def test_a_name_may_be_a_property_of_the_group(tmp_path: Path) -> None:
    """Then each group gets the column that its own property names. Red when the name of the file is compared."""
    panel = '{bar: "{{ measure }}", by: route, query: all}'
    for measure, secret in (("delay", False), ("secret", True)):
        async with serve(tmp_path / measure, one_panel(panel), properties={"measure": measure}) as site:
            text = await answer(site)
            assert (columns_of(panel_of(text)), SECRET in text) == ({measure, "route"}, secret)


@pytest.mark.parametrize(
    "text", ["Of {{ params.memo }}", "{{ params.memo }}", "{{ nick }} & more"], ids=["viewer", "whole", "property"]
)
async def test_what_is_put_into_a_text_names_no_column(tmp_path: Path, text: str) -> None:
    """A viewer who types ``datum.secret`` into a control that a specification's title repeats. Red when expressions are
    looked for after the values are put in."""
    panel = (
        f"{{vega: {{title: '{text}', transform: [{{filter: 'datum.{{{{ measure }}}} >= 0'}}], "
        "encoding: {x: {field: day}}}, query: all}"
    )
    files = one_panel(panel)
    files["dashboards/routes.yaml"] = files["dashboards/routes.yaml"].replace("rows:", "  memo: {text: }\nrows:")
    properties = {"nick": "datum['secret']", "measure": "delay"}
    async with serve(tmp_path, files, properties=properties) as site:
        got = await site.post("routes/-/panels", {"filters": {"memo": "datum.secret"}, "panels": [{"id": "1-1"}]})
        assert (columns_of(panel_of(got.text)), SECRET in got.text) == ({"day", "delay"}, False)


@pytest.mark.parametrize("control", ["{text: }", "{choices: {query: routes}}", "{choices: {delay: Delay, size: Size}}"])
@pytest.mark.parametrize(
    "panel",
    [
        "{bar: '{{ params.m }}', by: route, query: all}",
        "{bar: delay, by: route, color: 'a{{ params.m }}', query: all}",
        "{table: all, columns: [day, '{{ params.m }}']}",
        "{table: all, columns: [day], sort: '-{{ params.m }}'}",
        "{vega: {encoding: {x: {field: day}, y: {field: '{{ params.m }}'}}}, query: all}",
        "{vega: {transform: [{fold: [day, '{{ params.m }}']}], encoding: {x: {field: day}}}, query: all}",
        "{vega: {repeat: {row: ['{{ params.m }}']}, spec: {encoding: {x: {field: {repeat: row}}}}}, query: all}",
        "{vega: {transform: [{filter: 'datum.{{ params.m }} > 0'}], encoding: {x: {field: day}}}, query: all}",
    ],
)
def test_a_viewer_may_choose_columns_and_type_none(panel: str, control: str) -> None:
    """Red when the name may come from a control that takes any text: a viewer wrote ``secret`` there."""
    text = f"title: A\ncontrols:\n  m: {control}\nrows:\n  - {panel}\n"
    if "delay: Delay" in control:
        read_dashboard(text, "routes")
    else:
        with pytest.raises(TemplateError, match="could name any column"):
            read_dashboard(text, "routes")


async def test_a_panel_whose_columns_are_not_there_sends_none(tmp_path: Path) -> None:
    """A wrong name is no reason to send the others. Red when no match means all."""
    async with serve(tmp_path, one_panel("{table: all, columns: [nosuch]}"), store=Stored) as site:
        line = panel_of(await answer(site))
        assert (columns_of(line), line["total"]) == (set(), 60)
        issued = await site.post("routes/-/panels/1-1/download", {})
        assert (await site.follow(issued.json()["address"])).text == "\ufeff"


async def test_choices_have_a_value_and_a_label(tmp_path: Path) -> None:
    """The other columns of their query stay on the server. Red when the rows are sent."""
    async with serve(tmp_path, one_panel("{text: Words}")) as site:
        text = await answer(site)
        choices = next(json.loads(line) for line in text.splitlines() if "choices" in json.loads(line))
        assert choices["values"][0] == {"value": "A-B", "label": "To A-B"}
        assert SECRET not in text
