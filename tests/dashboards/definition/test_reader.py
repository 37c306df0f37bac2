"""The file of a dashboard: what it may say, and what an author reads who wrote something else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from engines.json_schema import validator
from tenantry.dashboards.definition.file_schema import dashboard_schema
from tenantry.dashboards.definition.model import Click, DashboardFile, Panel, PanelKind, QueryUse
from tenantry.dashboards.definition.reader import read_dashboard
from tenantry.errors import TemplateError

FLIGHTS = """\
title: Departures of {{ name }}
refresh: 5 min
cache: 30
colors: {AA: accent, "true": "#0b7a75", null: 3, UA: bad}
controls:
  period: {range: last-30-days, presets: [last-30-days, this-year]}
  origin: {choices: {query: airports}, many: true}
  carrier: {choices: [AA, UA], label: Airline, default: AA}
  delay: {number: 15, min: 0, max: 600}
  note: {text: }
rows:
  - heading: Key figures
  - - {figure: flights, query: key_figures, compare: previous-period, sparkline: by_month}
    - {figure: on_time_share, query: key_figures, format: percent, digits: 1, better: higher}
  - - {line: [mean_delay, p90], by: month, query: months, title: Mean departure delay, unit: min, width: 8}
    - {bar: flights, by: route, query: routes, click: {filter: route}, sort: largest, limit: 10, horizontal: true}
  - {area: flights, by: month, color: carrier, stack: share, query: {sql: select 1}, reference: 15}
  - - {donut: flights, by: carrier, query: routes, colors: {AA: 8, UA: "#ABC"}}
    - {scatter: delay, by: distance, size: flights, label: route, query: routes}
    - {heatmap: flights, by: hour, rows: weekday, query: hours, diverging: true}
  - {table: routes, columns: [route, {flights: {bar: true, title: Flights}}, {share: percent}],
     page: 20, sort: -flights}
  - {text: "All times are local to {{ user_group.properties.city }}.", width: 6}
  - {vega: {mark: bar, encoding: {x: {field: month}}}, query: months, cache: 0, schema: archive, show_query: true}
  - {table: {sql: "select {{ params.origin }}"}, click: {open: route, with: [route]}, refresh: 30 s}
"""


def test_everything_that_a_file_may_say() -> None:
    """The whole of it is read; what the page draws is apart from what the server does."""
    dashboard = read_dashboard(FLIGHTS, "flights")
    assert [[panel.kind for panel in row] for row in dashboard.rows][1] == [PanelKind.FIGURE, PanelKind.FIGURE]
    assert dashboard.variables == ("name", "user_group.properties.city")
    assert [control.label for control in dashboard.controls.values()] == [
        *("Period", "Origin", "Airline", "Delay", "Note"),
    ]
    assert dashboard.colors == {"AA": "accent", "true": "#0b7a75", "null": 3, "UA": "bad"}
    donut = _panel(dashboard, "5-1").view.substitute({})
    assert donut == {"kind": "donut", "donut": "flights", "by": "carrier", "colors": {"AA": 8, "UA": "#ABC"}}
    origin, period = dashboard.controls["origin"].parameter, dashboard.controls["period"]
    assert (origin.kind, origin.choices_query) == ("list of text", "airports")
    assert (period.parameter.kind, str(period.parameter.default)) == ("date range", "last 30 days")
    assert period.presets == ("last-30-days", "this-year")
    assert dashboard.controls["note"].parameter.default is None
    figure, bar, table, vega, inline = (_panel(dashboard, each) for each in ("2-1", "3-2", "6-1", "8-1", "9-1"))
    assert (figure.query, figure.compare) == (QueryUse("key_figures", offset=_at("key_figures")), "previous-period")
    assert figure.sparkline == QueryUse("by_month", offset=_at("by_month"))
    assert (figure.refresh, figure.max_age, figure.schema) == (300, 30, "main")
    assert bar.click == Click({"route": "route"}, offset=_at("{filter: route}"))
    drawn = {"bar": ["flights"], "by": "route", "sort": "largest", "limit": 10, "horizontal": True}
    assert bar.view.substitute({}) == {"kind": "bar", **drawn}
    columns = [{"name": "route"}, {"name": "flights", "bar": True, "title": "Flights"}]
    columns.append({"name": "share", "format": "percent"})
    assert table.view.substitute({}) == {"kind": "table", "columns": columns, "page": 20, "sort": "-flights"}
    assert (vega.schema, vega.max_age, vega.show_query) == ("archive", 0, True)
    assert inline.query == QueryUse(sql="select {{ params.origin }}", offset=_at('{sql: "select {{'))
    assert inline.click == Click({"route": "route"}, "route", _at("{open: route"))
    assert inline.refresh == 30


def _panel(dashboard: DashboardFile, panel_id: str) -> Panel:
    panel = dashboard.panel(panel_id)
    assert panel is not None
    return panel


def _at(text: str) -> int:
    return FLIGHTS.index(text)


def test_json_is_read_as_yaml_is() -> None:
    """A file may be JSON."""
    text = json.dumps({"title": "Sales", "rows": [{"table": "orders", "title": "Ä\u2028"}]}, indent=1)
    panel = _panel(read_dashboard(text, "sales"), "1-1")
    assert panel.view.substitute({}) == {"kind": "table", "title": "Ä\u2028"}


def _file(panel: str = "{table: orders}", controls: str = "") -> str:
    return f"title: Sales\ncontrols: {{{controls}}}\nrows:\n  - {panel}\n"


REFUSED = {
    "rows: []": ("1:1", "a dashboard has no title", "write `title: …`"),
    "title: a": ("1:1", "a dashboard has no rows", "write `rows:`"),
    "title: a\nrows: []": ("2:7", "rows must be a list", "figure"),
    "title: a\nrows: {table: a}": ("2:7", "rows must be a list", "figure"),
    "title: a\nrow: []": ("2:1", "a dashboard has no key row", "did you mean rows?"),
    "title: [a]\nrows: [{table: a}]": ("1:8", "this must be text", "quotes"),
    "title: a\ncolors: {Lost: bda}\nrows: [{table: a}]": ("2:16", "this is not a colour", "did you mean bad?"),
    "title: a\ncolors:\n  Won: #2456c4\nrows: [{table: a}]": ("3:7", "this is not a colour", "in quotes"),
    "title: a\ncolors: {Lost: 9}\nrows: [{table: a}]": ("2:16", "this is not a colour", "from 1 to 8"),
    "title: a\ncolors: {Lost: '#12345'}\nrows: [{table: a}]": ("2:16", "this is not a colour", "#2456c4"),
    "title: a\ncolors: [bad]\nrows: [{table: a}]": ("2:9", "colors must be a mapping", "{Won: good"),
    "title: '{{ a + b }}'\nrows: [{table: a}]": ("1:8", "is not a path", "write a path"),
    _file("[]"): ("4:5", "this row has no panel", "remove the row"),
    _file("orders"): ("4:5", "a panel must be a mapping", "{table: routes}"),
    _file("{tabel: orders}"): ("4:5", "this panel has no kind", "did you mean table?"),
    _file("{table: a, line: b}"): ("4:16", "this panel is table and line at once", "make two panels"),
    _file("{line: a, query: q}"): ("4:5", "a panel with line has no by", "write `by: …`"),
    _file("{line: a, by: b}"): ("4:5", "a panel with line has no query", "write `query: …`"),
    _file("{table: orders, colums: [a]}"): ("4:21", "a panel with table has no key colums", "did you mean columns?"),
    _file("{table: q, query: q}"): ("4:16", "a panel with table has no key query", "`table:` already names the query"),
    _file("{text: Hello, world}"): ("4:19", "a panel with text has no key world", "a comma in quotes"),
    _file("{table: orders, columns: []}"): ("4:30", "this list is empty", "remove the key"),
    _file("{table: orders, columns: [{a: prcent}]}"): ("4:35", "this word is not allowed", "did you mean percent?"),
    _file("{table: orders, columns: [{a: percent, b: date}]}"): (
        "4:31",
        "this must be one name",
        "one item for each name",
    ),
    _file("{table: 7}"): ("4:13", "the name of a query file", "write a name"),
    _file("{table: a b}"): ("4:13", "this is not a name of a query file", "letters, digits, _ and -; write / between"),
    _file("{table: {sql: ' '}}"): ("4:19", "this statement is empty", "write select"),
    _file("{table: a, refresh: soon}"): ("4:25", "this is not a valid length of time", "5 min"),
    _file("{table: a, refresh: 0}"): ("4:25", "this is not a valid length of time", "from 1 to 86400"),
    _file("{table: a, width: 13}"): ("4:23", "this is not an integer", "from 1 to 12"),
    _file("{table: a, show_query: yes}"): ("4:28", "this must be true or false", "write true"),
    _file("[{table: a, width: 8}, {table: b, width: 8}]"): ("4:5", "take 16 of this row's 12 columns", "narrower"),
    _file("[{table: a, width: 12}, {table: b}]"): ("4:5", "take 12 of this row's 12 columns", "narrower"),
    _file("{table: a, click: {filter: b, open: c}}"): ("4:23", "filters this page, opens another", "filter: route"),
    _file("{table: a, click: {with: b}}"): ("4:23", "filters this page, opens another", "open: route"),
    _file("{vega: {data: {url: /x.csv}}, query: q}"): ("4:20", "must not have addresses", "rows of the query"),
    _file(controls="a: {}"): ("2:12", "the control a has no kind", "range, choices, text, number, date"),
    _file(controls="a: {text: , date: }"): ("2:12", "the control a is text and date at once", "one of"),
    _file(controls="1a: {text: }"): ("2:12", "not a name of a control", "start with a letter"),
    _file(controls="a: {text: , lable: b}"): ("2:24", "has no key lable", "did you mean label?"),
    _file(controls="a: {choices: []}"): ("2:25", "the control a: no choices", "{query: NAME}"),
    _file(controls="a: {number: 7, min: 8}"): ("2:24", "the control a: this default does not fit", "8"),
    _file(controls="a: {range: some days}"): ("2:23", "the control a: this default does not fit", "last 30 days"),
    _file(controls="a: {range: today, presets: [todya]}"): ("2:40", "this is not a relative range", "last 30 days"),
    _file(controls="a: {range: today, presets: [7d!]}"): ("2:40", "not a name of a relative range", "last 30 days"),
}


@pytest.mark.parametrize("text", REFUSED)
def test_an_author_reads_where_what_and_how_to_correct_it(text: str) -> None:
    """Each thing that is wrong has its line and column, the problem, and the fix. Red when all names have the fix of a
    control's name, and when the key `query` of a table is taken for a misspelt `show_query`."""
    place, problem, fix = REFUSED[text]
    with pytest.raises(TemplateError) as caught:
        read_dashboard(text, "sales", "sales.yaml")
    message = caught.value.message
    assert message.startswith(f"sales.yaml:{place}: "), message
    assert problem in message
    assert fix in message.partition("fix: ")[2], message


def _validator() -> Any:
    return validator(dashboard_schema())


def _plain(text: str) -> Any:
    from tenantry.sql.header.yaml_reader import read_yaml
    from tenantry.sql.source import Source

    return read_yaml(Source(text), 0, len(text)).plain()


def test_the_published_schema_is_that_of_the_reader() -> None:
    """Red when a key was added and the file not written again: tenantry dashboards schema > the file."""
    published = Path(__file__).parents[3] / "docs" / "schemas" / "dashboard.schema.json"
    assert json.loads(published.read_text()) == dashboard_schema()


def test_the_published_schema_takes_what_the_reader_takes() -> None:
    """An editor marks nothing in the file that has everything."""
    assert [error.message for error in _validator().iter_errors(_plain(FLIGHTS))] == []


ONLY_THE_READER = (
    *("{{ a + b }}", "at once", "width: 8}, {", "width: 12}, {", "click: {", "vega", "min: 8", "some days"),
    *("todya", "choices: []"),
)
"""Cases about what stands side by side, or about another language, the names of ranges included: a schema cannot say
them."""


@pytest.mark.parametrize(
    "text", [text for text in REFUSED if not any(each in text + REFUSED[text][1] for each in ONLY_THE_READER)]
)
def test_the_published_schema_refuses_what_the_reader_refuses(text: str) -> None:
    """An editor marks each of these. Red with ``additionalProperties`` left out, and with ``required``."""
    assert not _validator().is_valid(_plain(text))
