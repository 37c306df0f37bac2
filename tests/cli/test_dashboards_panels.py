"""``tenantry dashboards check``: what it says of panels by their file alone."""

from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import Terminal
from tests.dashboards.served import write_files


def test_a_check_finds_a_table_that_names_no_columns(terminal: Terminal, folder: Path) -> None:
    """At its place, with what to write; it works, so it is a warning. Red when the check says nothing: a column that
    was added to the query later went to every viewer."""
    rows = "[{table: q}, {table: q, columns: all}, {table: q, columns: [a]}, {bar: a, by: a, query: q}]"
    write_files(folder, {"dashboards/a.yaml": f"title: A\nrows: [{rows}]\n", "queries/q.sql": "select 1 as a"})
    (found,) = terminal("dashboards", "check", "dashboards", "--format", "json").json()["findings"]
    assert (found["code"], found["severity"], found["line"], found["column"]) == ("columns-left-out", "warning", 2, 9)
    assert found["fix"] == "write `columns: [NAME, …]` with the columns that viewers may see, or `columns: all`"


def test_a_check_says_which_engine_gives_a_table_no_pages(ready: Terminal, folder: Path) -> None:
    """At the panel, of tables alone. Red when nobody says it before a viewer has too many rows."""
    rows = 'rows:\n  - {line: a, by: b, query: {sql: "select 1 as a, 2 as b"}}\n  - {table: {sql: "select 1 as a"}}\n'
    write_files(folder, {"dashboards/sales.yaml": f"title: Sales\n{rows}"})
    for name, url in (("house", "clickhouse://u:p@127.0.0.1:1/db"), ("file", f"sqlite:///{folder / 'a.db'}")):
        ready("data-source", "create", name, "--url", url, "--no-check")
        ready("group", "create", name, "--map", f"main={name}")
    checked = ready("dashboards", "check", "dashboards", "--groups", "--format", "json", fails=1).json()
    found = [each for each in checked["findings"] if each["code"] == "table-without-pages"]
    assert [(each["severity"], each["line"], each["message"]) for each in found] == [
        ("note", 4, "clickhouse cannot read page by page, so this table is not shown above the row limit")
    ]


def test_a_check_finds_a_share_of_a_mean(terminal: Terminal, folder: Path) -> None:
    """And a stack of percentages, each at its place; not where the author says that they add up. Red when the check
    says nothing: the page draws no stack of these."""
    stacks = ["stack: share", "stack: sum, format: percent", "format: percent", "stack: share, aggregate: sum"]
    panels = [f"- {{bar: mean_delay, by: a, {each}, query: q}}" for each in stacks]
    file = "\n".join(["title: A", "rows:", *panels])
    write_files(folder, {"dashboards/a.yaml": file, "queries/q.sql": "select 1 as a"})
    ran = terminal("dashboards", "check", "dashboards", "--format", "json", fails=1)
    found = [each for each in ran.json()["findings"] if each["code"] == "not-additive"]
    assert [(each["severity"], each["line"], each["column"]) for each in found] == [("error", 3, 3), ("error", 4, 3)]


def test_a_check_finds_a_click_that_opens_other_numbers(terminal: Terminal, folder: Path) -> None:
    """At the click: the dashboard that opens lacks a filter of the panel. Red when only viewers are told."""
    query = "select 1 as a, 'x' as b where 1 = 1 [[ and 'x' = {{ params.b }} ]] [[ and 1 = {{ params.c }} ]]"
    files = {
        "dashboards/first.yaml": "title: First\ncontrols: {b: {text: }, c: {number: }}\n"
        "rows:\n  - {table: both, columns: [a, b], click: {open: second, with: [b]}}\n",
        "dashboards/second.yaml": "title: Second\ncontrols: {b: {text: }}\nrows: [{figure: a, query: one}]\n",
        "queries/both.sql": query,
        "queries/one.sql": query.partition(" [[ and 1")[0],
    }
    write_files(folder, files)
    (found,) = terminal("dashboards", "check", "dashboards", "--format", "json").json()["findings"]
    assert (found["code"], found["severity"], found["line"]) == ("other-numbers", "warning", 4)
    assert found["message"] == "the dashboard second has no filter c, so it may show more rows than were clicked"
