"""``tenantry sql check`` and ``dashboards check`` with guarded tables: of a file, of the store, and without any."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from tests.cli.conftest import Terminal
from tests.dashboards.served import write_files

FILES = {
    "queries/orders.sql": "select * from orders",
    "queries/days.sql": "select day from days where region = {{ region }}",
    "dashboards/sales.yaml": "title: Sales\nrows: [{table: orders, columns: all}, {table: days, columns: all}]\n",
}
TABLES = "tables:\n  orders: customer_id\n  days: shared\n"
EVERY = "this query uses no value of the group, so it reads every customer's rows"
EVERY_FIX = (
    "declare the tables in tables.yaml: then the query, without a change, reads only the customer's rows; or, if "
    "every customer may read these rows, write the reason in the header: `tenant: {none: REASON}`"
)
MISSING = "this file is missing, so no query in the folder {} is guarded: each must filter the rows itself"
CHECKS = [("sql", "check", "queries"), ("dashboards", "check", "dashboards")]


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("place", ["tables.yaml", "queries/tables.yaml", "elsewhere.yaml"])
def test_a_declaration_makes_a_query_without_tags_right(
    check: tuple[str, ...], place: str, terminal: Terminal, folder: Path
) -> None:
    """The file is next to the folder, in the folder of ``sql check``, or named. Red when it was not looked for."""
    write_files(folder, FILES | {place: TABLES})
    found = place == "tables.yaml" or (check[0] == "sql" and place.startswith("queries"))
    done = terminal(*check, *(() if found else ("--tables", place)))
    assert done.out == ""
    assert "2 guarded" in done.err or "2 queries, 2 guarded" in done.err


@pytest.mark.parametrize("check", CHECKS)
def test_without_a_declaration_the_check_fails(check: tuple[str, ...], terminal: Terminal, folder: Path) -> None:
    """Once for each query that uses no value of the group, and once for the folder, with the tables to paste. Red when
    it ended with 0."""
    write_files(folder, FILES)
    done = terminal(*check, fails=1)
    assert done.out.splitlines() == [
        f"queries/orders.sql:1:1: error every-customer: {EVERY}",
        f"    fix: {EVERY_FIX}",
        f"tables.yaml:1:1: error undeclared-tables: {MISSING.format(check[2])}",
        "    fix: replace each COLUMN by the column that holds the customer's id, or by `shared`:",
        "    tables:",
        "      days: COLUMN",
        "      orders: COLUMN",
    ]


def test_what_is_pasted_is_a_declaration_that_shows_nothing_by_itself(terminal: Terminal, folder: Path) -> None:
    """The block is valid, and its column does not exist: nothing runs until the author wrote the right one. Red when
    the draft said ``shared``."""
    write_files(folder, FILES)
    fix = terminal("sql", "check", "queries", "--format", "json", fails=1).json()["findings"][-1]["fix"]
    (folder / "tables.yaml").write_text(fix.partition("\n")[2])
    assert terminal("sql", "check", "queries").out == ""
    assert "shared" not in (folder / "tables.yaml").read_text()


def test_queries_that_say_why_need_no_declaration(terminal: Terminal, folder: Path) -> None:
    """With the reason in each header. A folder without tables needs none either. Red when the file was missed."""
    reason = "/* ---\ntenant: {none: a public calendar}\n--- */\n"
    write_files(folder, {"queries/days.sql": f"{reason}select * from days", "queries/one.sql": "select 1"})
    assert terminal("sql", "check", "queries").err == "2 templates: nothing found\n"
    write_files(folder, {"queries/days.sql": "/* ---\ntenant: none\n--- */\nselect * from days"})
    assert (
        "write the reason, as in `tenant: {none: countries are public}`"
        in terminal("sql", "check", "queries", fails=1).out
    )


def test_a_refusal_is_shown_with_its_line_and_caret(terminal: Terminal, folder: Path) -> None:
    """Red when only the message was printed."""
    write_files(folder, FILES | {"tables.yaml": TABLES.replace("days", "months")})
    done = terminal("sql", "check", "queries", fails=1)
    place, line, caret, fix = done.out.splitlines()[:4]
    assert place == "queries/days.sql:1:17: error unguarded: the table days is not declared"
    assert line == "    select day from days where region = {{ region }}"
    assert caret.index("^") == line.index("days")
    assert fix.startswith("    fix: add days to `tables` in tables.yaml, with the column of the group; or as `shared`")


def test_a_file_that_cannot_be_used_ends_the_check(terminal: Terminal, folder: Path) -> None:
    """With its own place. Red when the queries were checked without it."""
    write_files(folder, FILES | {"tables.yaml": "tables:\n  orders: 7\n"})
    for check in CHECKS:
        assert "tables.yaml:2:3: tables.orders: is not a rule" in terminal(*check, fails=1).err
    (folder / "tables.yaml").write_text("tables:\n  a: {b_id: b.id}\n  b: {a_id: a.id}\n")
    assert "tables.yaml:" in terminal("sql", "check", "queries", fails=1).err


def test_an_empty_list_allows_no_table(terminal: Terminal, folder: Path) -> None:
    """That is the list of a new dashboard, whose query has its rows in itself. Red when it counted as no list."""
    write_files(folder, FILES | {"queries/one.sql": "select 1 as one", "tables.yaml": "tables: {}\n"})
    found = terminal("sql", "check", "queries", fails=1).out
    assert "the table orders is not declared" in found
    assert "one.sql" not in found


def declare(ready: Terminal, folder: Path, name: str, *options: str) -> None:
    database = sqlite3.connect(folder / f"{name}.db")
    database.execute("create table orders (customer_id text, erp text)")
    database.execute("create table days (day text, region text)")
    database.execute("create table regions (name text)")
    database.close()
    ready("data-source", "create", name, "--url", f"sqlite:///{folder / name}.db", *options)


@pytest.mark.parametrize("check", CHECKS)
def test_the_declaration_of_the_data_source_counts(check: tuple[str, ...], ready: Terminal, folder: Path) -> None:
    """With a store; and the properties that the conditions name are those that groups need. Red when only the tags of
    the queries counted: acme had no orders, and nobody knew."""
    write_files(folder, FILES)
    declared = 'tables:\n  orders: {erp: "{{ user_group.properties.erp }}"}\n  days: shared\n'
    (folder / "elsewhere.yaml").write_text(declared)
    declare(ready, folder, "sales", "--tables", "elsewhere.yaml")
    for name, properties in (("acme", ("region=eu",)), ("globex", ("region=us", "erp=7"))):
        ready("group", "create", name, "--map=main=sales", *(f"--property={each}" for each in properties))
    (found,) = ready(*check, "--groups", "--format", "json", fails=1).json()["findings"]
    assert (found["file"], found["line"], found["column"]) == ("queries/orders.sql", 1, 15)
    assert (found["code"], found["message"]) == ("missing-property", "erp is missing in 1 of 2 groups: acme")
    assert found["fix"] == "give these groups the property: the guarded tables need it for the table orders"


@pytest.mark.parametrize("check", CHECKS)
def test_a_list_that_the_data_source_refuses_is_found(check: tuple[str, ...], ready: Terminal, folder: Path) -> None:
    """With the table and the fix. Red when nothing connected to the source: no query ran, and the check found
    nothing; and when the finding was `source-unreachable`."""
    write_files(folder, FILES)
    (folder / "wrong.yaml").write_text(TABLES.replace("customer_id", "custmer_id"))
    declare(ready, folder, "sales", "--tables", "wrong.yaml", "--no-check")
    ready("group", "create", "acme", "--map=main=sales", "--property=region=eu")
    (found,) = ready(*check, "--groups", "--format", "json", fails=1).json()["findings"]
    assert (found["file"], found["code"]) == ("data source sales", "wrong-tables")
    assert "refuses the table orders with the column custmer_id" in found["message"]
    assert found["fix"].endswith("run: tenantry data-source update sales --tables FILE")


@pytest.mark.parametrize("check", CHECKS)
def test_a_data_source_that_does_not_answer_is_named(check: tuple[str, ...], ready: Terminal, folder: Path) -> None:
    """By ``sql check`` in a note, because its list may be right. Red when that was silent."""
    write_files(folder, FILES | {"wide.yaml": TABLES})
    declare(ready, folder, "sales", "--tables", "wide.yaml")
    ready("group", "create", "acme", "--map=main=sales", "--property=region=eu")
    (folder / "sales.db").unlink()
    done = ready(*check, "--groups", fails=int(check[0] == "dashboards"))
    assert "the guarded tables of data source sales were not tested: " in done.err or "source-unreachable" in done.out


@pytest.mark.parametrize("check", CHECKS)
def test_each_data_source_without_a_declaration_is_found(check: tuple[str, ...], ready: Terminal, folder: Path) -> None:
    """With the command that fixes it. Red when the file next to the queries was enough: at run time the data source
    decides."""
    write_files(folder, FILES)
    declare(ready, folder, "sales")
    done = ready(*check, "--groups", fails=1).out
    assert "data source sales:1:1: error undeclared-tables: this data source declares no tables" in done
    assert "tenantry data-source tables sales > tables.yaml; correct it; tenantry data-source update sales" in done
    (folder / "tables.yaml").write_text(TABLES)
    done = ready(*check, "--groups", fails=1).out
    lines = [line for line in done.splitlines() if line[0] != " "]
    assert [line.split()[-1] for line in lines if "undeclared" in line] == ["itself"]
    assert "    fix: tenantry data-source update sales --tables tables.yaml" in done


def test_of_several_data_sources_one_must_take_the_query(ready: Terminal, folder: Path) -> None:
    """The check does not know on which of them a query runs. Red when the first one decided."""
    write_files(folder, FILES)
    for name, other in (("one", "regions"), ("two", "orders")):
        (folder / f"{name}.yaml").write_text(f"tables:\n  {other}: shared\n  days: shared\n")
        declare(ready, folder, name, "--tables", f"{name}.yaml", "--no-check")
    done = ready("sql", "check", "queries/orders.sql", "--groups")
    assert done.out == ""


def test_dashboards_do_not_take_the_declaration_for_a_dashboard(terminal: Terminal, folder: Path) -> None:
    """In the folder of dashboards, which has its queries inside. Red when it had to have a title."""
    inside = {f"dashboards/{name}" if name.startswith("queries") else name: text for name, text in FILES.items()}
    write_files(folder, inside | {"dashboards/tables.yaml": TABLES})
    assert terminal("dashboards", "check", "dashboards").err == "1 dashboard, 2 queries, 2 guarded: nothing found\n"
