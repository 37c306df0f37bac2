"""``tenantry dashboards``: a start that works, what a check finds, and a server for the author alone."""

from __future__ import annotations

import json
import sqlite3
from contextlib import ExitStack
from pathlib import Path

import httpx2
import pytest
import yaml

from engines.json_schema import validator
from tenantry.sql.guarding import read_tables
from tests.cli.conftest import Terminal
from tests.cli.dashboards_server import SOON, said, serving
from tests.dashboards.served import write_files

GOOD = {
    "dashboards/sales.yaml": """title: Sales of {{ company }}
controls: {region: {text: }}
rows: [{table: orders, columns: all, title: "In {{ currency_name }}"}]
""",
    "queries/orders.sql": "select * from orders where owner = {{ owner }} [[ and region = {{ params.region }} ]]",
    "tables.yaml": 'tables: {orders: {owner: "{{ user_group.properties.owner }}"}}\n',
}


def test_a_new_dashboard_works_and_is_never_overwritten(terminal: Terminal, folder: Path) -> None:
    """It passes the check and the schema. Red when a second ``new`` writes over the first."""
    made = terminal("dashboards", "new", "orders")
    assert made.out.splitlines() == ["dashboards/orders.yaml", "queries/orders.sql", "tables.yaml"]
    assert "tenantry dashboards serve dashboards" in made.err
    checked = terminal("dashboards", "check", "dashboards")
    assert (checked.out, checked.err) == ("", "1 dashboard, 3 queries, 3 guarded: nothing found\n")
    schema = json.loads(terminal("dashboards", "schema").out)
    validator(schema).validate(yaml.safe_load((folder / "dashboards/orders.yaml").read_text()))
    (folder / "queries/orders.sql").write_text("select 1 as mine")
    again = terminal("dashboards", "new", "orders", fails=1)
    assert "dashboards/orders.yaml already exists: choose another name [invalid_settings]" in again.err
    assert (folder / "queries/orders.sql").read_text() == "select 1 as mine"
    terminal("dashboards", "new", "../orders", fails=2)


def test_the_examples_of_new_tables_are_read(terminal: Terminal, folder: Path) -> None:
    """Without their ``#`` and with a table for the parent. Red when a wrap of comments joined the lines."""
    terminal("dashboards", "new", "orders")
    text = (folder / "tables.yaml").read_text().replace("tables: {}", "tables:").replace("\n#  ", "\n  ")
    assert list(read_tables(yaml.safe_load(text)).as_json()["tables"]) == ["orders", "order_items", "countries"]


def test_a_check_names_every_file_that_cannot_be_used(terminal: Terminal, folder: Path) -> None:
    """With line, column and fix, as text and as JSON. Red when the first file ends the check."""
    write_files(
        folder,
        {**GOOD, "dashboards/a.yaml": "title: 1\nrows: []", "dashboards/b.yaml": "title: b\nrows: [{table: ordres}]"},
    )
    checked = terminal("dashboards", "check", "dashboards", fails=1)
    lines = [line for line in checked.out.splitlines() if line[0] != " " or "fix" in line]
    assert lines[0].startswith("dashboards/a.yaml:1:8: error template-error: this must be text")
    assert lines[2].startswith("dashboards/b.yaml:2:16: error template-error: there is no query ordres")
    assert "did you mean orders?" in lines[3]
    document = terminal("dashboards", "check", "dashboards", "--format", "json", fails=1).json()
    assert [(each["file"], each["line"]) for each in document["findings"]] == [
        ("dashboards/a.yaml", 1),
        ("dashboards/b.yaml", 2),
    ]


def test_a_check_says_what_it_did_not_check(terminal: Terminal, folder: Path) -> None:
    """A mistake in one dashboard does not hide that another reads a table that is not declared; the parameters of a
    query may be those of the broken one. Red when no dashboard was checked after an error, when nothing said so, and
    when the broken one counted as one that sets nothing."""
    files = GOOD | {
        "dashboards/broken.yaml": "title: Broken\ncontrols: {state: {text: }}\nrows: [{tabel: returns}]\n",
        "dashboards/more.yaml": "title: More\nrows: [{table: returns, columns: all}]\n",
        "queries/returns.sql": "select * from returns [[ where state = {{ params.state }} ]]",
    }
    write_files(folder, files)
    checked = terminal("dashboards", "check", "dashboards", fails=1)
    assert [line.split(": ")[:2] for line in checked.out.splitlines() if line[0] != " "] == [
        ["dashboards/broken.yaml:3:8", "error template-error"],
        ["queries/returns.sql:1:15", "error unguarded"],
    ]
    assert checked.err.splitlines() == [
        "2 dashboards, 2 queries, 1 guarded: 2 errors",
        "not checked, until the errors above are corrected: 1 dashboard",
    ]
    write_files(folder, {"queries/header.sql": "/* ---\nparms: {}\n--- */\nselect 1"})
    checked = terminal("dashboards", "check", "dashboards", fails=1)
    assert checked.err.endswith("not checked, until the errors above are corrected: all dashboards\n")


def test_a_check_finds_a_header_that_is_not_marked(terminal: Terminal, folder: Path) -> None:
    """In `dashboards check` and in `sql check`, at its place. Red when it is a comment: `region` was locked there, and
    a viewer could set it."""
    unmarked = "/* params: {region: {type: text, locked: true, default: {property: region}}} */\n"
    write_files(folder, GOOD | {"queries/orders.sql": unmarked + GOOD["queries/orders.sql"]})
    for command, path in (("dashboards", "dashboards"), ("sql", "queries")):
        (found,) = terminal(command, "check", path, "--format", "json", fails=1).json()["findings"]
        assert (found["code"], found["line"], found["column"]) == ("template-error", 1, 4)
        assert found["file"].endswith("queries/orders.sql")
        assert found["message"].startswith("`params` would not be read here")
        assert found["fix"].startswith("begin the file with a line /* ---")


def test_a_check_looks_into_the_queries(terminal: Terminal, folder: Path) -> None:
    """A control that nothing reads is a warning, and a warning fails nothing; what a viewer can drop is a note."""
    idle = GOOD["dashboards/sales.yaml"].replace("{region: {text: }}", "{region: {text: }, idle: {text: }}")
    query = GOOD["queries/orders.sql"].replace(
        "{{ params.region }} ]]", "{{ params.region }} * {{ rate | not_a_filter }} ]]"
    )
    write_files(folder, GOOD | {"dashboards/sales.yaml": idle, "queries/orders.sql": query})
    found = [line.split(": ")[1] for line in terminal("dashboards", "check", "dashboards").out.splitlines()[::2]]
    assert found == ["warning unused-control", "note droppable"]


def test_a_check_compares_with_every_group(ready: Terminal, folder: Path) -> None:
    """Variables of titles and of queries, with how many groups lack each. Red when only queries are looked at."""
    write_files(folder, GOOD)
    for group, properties in {"a": ("company", "owner", "currency_name"), "b": ("company",), "c": ("owner",)}.items():
        options = [word for name in properties for word in ("--property", f"{name}=x")]
        ready("group", "create", group, *options)
    checked = ready("dashboards", "check", "dashboards", "--groups", "--format", "json", fails=1).json()
    assert checked["groups"] == 3
    found = {(each["file"], each.get("variable", "")): (each["groups"], each["named"]) for each in checked["findings"]}
    assert found == {
        ("dashboards/sales.yaml", "company"): (1, ["c"]),
        ("dashboards/sales.yaml", "currency_name"): (2, ["b", "c"]),
        ("mappings of groups", ""): (3, ["a", "b", "c"]),
        ("queries/orders.sql", "owner"): (1, ["b"]),
    }
    lines = GOOD["dashboards/sales.yaml"].split("\n")
    for each in checked["findings"]:
        if each["file"] == "dashboards/sales.yaml":  # red when it stood at 1:1, or at the panel
            assert lines[each["line"] - 1][each["column"] - 1 :].startswith(f"{{{{ {each['variable']} }}}}")


def test_a_check_says_which_groups_have_no_locale_or_currency(ready: Terminal, folder: Path) -> None:
    """Each with the fix; never the value of a currency. Red when nothing looks at them."""
    write_files(folder, {"dashboards/sales.yaml": "title: Sales\nrows: [{text: Hello}]\n"})
    for group, locale, currency in (("a", "en_US", "EUR"), ("b", "de-AT", "EURO"), ("c", "zh-Hant-TW", "usd")):
        ready("group", "create", group, "--property", f"locale={locale}", "--property", f"currency={currency}")
    checked = ready("dashboards", "check", "dashboards", "--groups")
    locale, other_fix, currency, fix = checked.out.splitlines()[:4]
    start = "properties of groups:1:1: warning unusable-"
    assert currency.startswith(f"{start}currency: the property currency is not a code of ISO 4217 in 1 of 3 groups: b;")
    assert fix == "    fix: write its three letters, as EUR"
    assert locale.startswith(f"{start}locale: the property locale is not a language tag of BCP 47 in 1 of 3 groups: a;")
    assert other_fix == "    fix: write it with hyphens, as en-US"
    assert "EURO" not in checked.out


def test_a_check_says_which_property_a_text_means(ready: Terminal, folder: Path) -> None:
    """Red without the properties of the groups."""
    misspelt = GOOD["dashboards/sales.yaml"].replace("{{ company }}", "{{ compny }}")
    write_files(folder, GOOD | {"dashboards/sales.yaml": misspelt})
    words = [word for name in ("company", "owner", "currency_name") for word in ("--property", f"{name}=x")]
    ready("group", "create", "a", *words)
    found, _ = ready("dashboards", "check", "dashboards", "--groups", "--format", "json", fails=1).json()["findings"]
    assert found["message"] == "compny is missing in 1 of 1 group: a"
    assert found["fix"].startswith("did you mean company? ")


def test_a_check_has_the_engines_explain_the_queries(ready: Terminal, folder: Path) -> None:
    """With what a viewer sees who has chosen nothing; what was not explained is counted. Red when only the files are
    looked at: the table has no such column. The group's value is in no output."""
    broken = "select route from orders where owner = {{ owner }} and placed > {{ params.period.start }}"
    dashboard = """title: Orders
controls: {region: {text: }, period: {range: last 30 days}}
rows:
  - {table: orders, columns: all}
  - {table: orders, columns: all, schema: other}
  - {table: broken, columns: all}
  - {table: elsewhere, columns: all, schema: elsewhere}
  - {figure: all, query: {sql: "select count(nothing) as all_of_it from orders"}}
"""
    write_files(
        folder,
        GOOD
        | {
            "dashboards/sales.yaml": dashboard,
            "queries/broken.sql": broken,
            "queries/elsewhere.sql": "select 1 as one",
            "tables.yaml": 'tables: {orders: {owner: "{{ user_group.properties.owner }}"}}',
        },
    )
    database = sqlite3.connect(folder / "orders.db")
    database.execute("create table orders (id integer, owner text, region text, placed text)")
    database.close()
    declared = ("--tables", "tables.yaml")
    ready("data-source", "create", "warehouse", "--url", f"sqlite:///{folder / 'orders.db'}", *declared)
    ready("data-source", "create", "gone", "--url", f"sqlite:///{folder / 'gone.db'}", "--no-check", *declared)
    mapping = ["--map", "main=warehouse", "--map", "other=gone"]
    ready("group", "create", "acme", *mapping, "--property", "owner=c4n4ry")
    checked = ready("dashboards", "check", "dashboards", "--groups", fails=1)
    lines = checked.out.splitlines()[::2]
    assert lines[0].startswith(
        "dashboards/sales.yaml (panel 5-1):1:14: error query-refused: the data source refuses the query: "
    )
    assert lines[1].startswith("data source gone:1:1: error source-unreachable: the file of data source ds_")
    assert lines[2].startswith("mappings of groups:1:1: warning unmapped-schema: the schema elsewhere is not mapped")
    assert lines[3].startswith(
        "queries/broken.sql:1:8: error query-refused: the data source refuses the query: SQLITE_ERROR "
    )
    assert lines[3].endswith("(no such column), at route (data source warehouse, for acme)")
    assert checked.err.splitlines() == [
        "1 dashboard, 4 queries, 4 guarded, 1 explained by their engine, 1 group: 3 errors, 1 warning",
        "not explained, because no group has both its data source and all its variables: 1 query",
    ]
    document = ready("dashboards", "check", "dashboards", "--groups", "--format", "json", fails=1).json()
    assert (document["queries"], document["explained"], document["not_explained"]) == (4, 1, {})
    assert document["without_group"] == 1
    codes = {"query-refused", "source-unreachable", "unmapped-schema"}
    assert {each["code"] for each in document["findings"]} == codes
    assert "c4n4ry" not in checked.out + checked.err + json.dumps(document)


COLUMNS = """title: Orders
controls: {regoin: {text: }, region: {text: }}
rows:
  - {line: ordes, by: dya, query: by_day}
  - {table: by_day, columns: [day, nosuch, {amuont: integer}], sort: -zzz}
  - figure: "{{ company }}"
    query: by_day
    sparkline: by_day
  - {figure: orders, query: by_day, sparkline: {sql: "select 1 as other"}}
  - {bar: orders, by: day, query: by_day, sort: largest, click: {filter: [region, regoin]}}
"""
BY_DAY = """select day, count(*) as orders, sum(amount) as amount, region from orders
where owner = {{ owner }} [[ and region = {{ params.region }} ]] [[ and region = {{ params.regoin }} ]] group by 1, 4"""


def test_a_check_finds_columns_that_the_rows_do_not_have(ready: Terminal, folder: Path) -> None:
    """Each at its place, with the name that was probably meant: of marks, axes, tables, sorts, clicks and small lines.
    Red when only the query is explained: a viewer read that the panel has no such column."""
    write_files(folder, GOOD | {"dashboards/sales.yaml": COLUMNS, "queries/by_day.sql": BY_DAY})
    database = sqlite3.connect(folder / "orders.db")
    database.execute("create table orders (day text, amount integer, owner text, region text)")
    database.close()
    declared = ("--tables", "tables.yaml")
    ready("data-source", "create", "warehouse", "--url", f"sqlite:///{folder / 'orders.db'}", *declared)
    options = ("--map", "main=warehouse", "--property", "owner=c4n4ry", "--property", "company=orders")
    ready("group", "create", "acme", *options)
    checked = ready("dashboards", "check", "dashboards", "--groups", "--format", "json", fails=1).json()
    found = [(each["line"], each["column"], each["message"].split()[8], each["fix"]) for each in checked["findings"]]
    assert {each["code"] for each in checked["findings"]} == {"unknown-column"}
    known = "The columns: day, orders, amount, region"
    assert found == [
        (4, 12, "ordes", f"did you mean orders? {known}"),
        (4, 23, "dya", f"did you mean day? {known}"),
        (5, 36, "nosuch", known),
        (5, 45, "amuont", f"did you mean amount? {known}"),
        (5, 70, "zzz", known),
        (9, 14, "orders", "The columns: other"),
        (10, 83, "regoin", f"did you mean region? {known}"),
    ]
    assert checked["findings"][0]["message"].endswith("no column ordes (data source warehouse, for acme)")
    assert (checked["explained"], checked["without_columns"]) == (2, 0)
    assert "c4n4ry" not in json.dumps(checked)


TWICE = """title: Orders
rows:
  - {line: amount, by: day, query: orders}
  - {area: amount, by: day, color: region, query: orders}
  - {area: amount, by: day, query: orders, stack: sum}
  - {heatmap: amount, by: day, rows: region, query: orders}
  - {line: amount, by: day, query: once}
  - {bar: amount, by: day, query: orders}
"""


def test_a_check_finds_lines_with_two_values_for_a_day(ready: Terminal, folder: Path) -> None:
    """Where the rows of a group show it, at the panel; what sums up may have them. Red when no rows are read: the page
    alone said so, to a viewer."""
    queries = {
        "queries/orders.sql": "select day, amount, region from orders where owner = {{ owner }}",
        "queries/once.sql": "select day, sum(amount) as amount from orders where owner = {{ owner }} group by day",
    }
    write_files(folder, {"dashboards/sales.yaml": TWICE, **queries})
    database = sqlite3.connect(folder / "orders.db")
    database.execute("create table orders (day text, amount integer, owner text, region text)")
    database.executemany(
        "insert into orders values ('2026-01-01', ?, ?, ?)",
        [(1, "c4n4ry", "eu"), (2, "c4n4ry", "us"), (3, "c4n4ry", "us"), (4, "other", "eu")],
    )
    database.commit()
    database.close()
    ready("data-source", "create", "warehouse", "--url", f"sqlite:///{folder / 'orders.db'}")
    ready("group", "create", "acme", "--map", "main=warehouse", "--property", "owner=c4n4ry")
    checked = ready("dashboards", "check", "dashboards", "--groups", "--format", "json", fails=1).json()
    found = [(each["line"], each["message"]) for each in checked["findings"] if each["code"] == "repeated-rows"]
    says = "(data source warehouse, for acme)"
    assert found == [
        (3, f"3 rows of the query have the same day {says}"),
        (4, f"2 rows of the query have the same day and region {says}"),
        (6, f"2 rows of the query have the same day and region {says}"),
    ]
    assert "c4n4ry" not in json.dumps(checked)


def test_a_check_finds_a_default_that_no_group_has(ready: Terminal, folder: Path) -> None:
    """A misspelt property of a control. Red when only what stands in the SQL is looked for: the panel said so to a
    viewer."""
    files = {
        "dashboards/sales.yaml": GOOD["dashboards/sales.yaml"].replace("text: ", "text: , default: {property: ownr}")
    }
    write_files(folder, GOOD | files)
    ready(
        "group",
        "create",
        "a",
        *[word for name in ("company", "owner", "currency_name") for word in ("--property", f"{name}=x")],
    )
    _, found = ready("dashboards", "check", "dashboards", "--groups", "--format", "json", fails=1).json()["findings"]
    assert (found["file"], found["code"]) == ("queries/orders.sql", "unknown-variable")
    assert (found["message"], found["fix"]) == ("no group has the property ownr", "did you mean owner?")


def test_a_check_finds_the_query_that_forgets_its_tenant(terminal: Terminal, folder: Path) -> None:
    """In a file and in a dashboard, without a declaration; with one the same queries are right. Red when the check
    looks for no declaration: every customer saw the rows of all, and nothing was found."""
    forgotten = {
        "dashboards/all.yaml": "title: a\nrows: [{bar: a, by: b, query: everything}, "
        '{bar: a, by: b, query: {sql: "select * from orders"}}]\n',
        "queries/everything.sql": "select * from orders",
    }
    write_files(folder, GOOD | forgotten)
    check = ("dashboards", "check", "dashboards")
    assert terminal(*check).err == "2 dashboards, 3 queries, 3 guarded: nothing found\n"
    (folder / "tables.yaml").rename(folder / "other.yaml")
    found = terminal(*check, "--format", "json", fails=1).json()
    assert found["guarded"] == 0
    assert [(each["file"], each["code"]) for each in found["findings"]] == [
        ("dashboards/all.yaml (panel 2-1)", "every-customer"),
        ("queries/everything.sql", "every-customer"),
        ("tables.yaml", "undeclared-tables"),
    ]
    assert found["findings"][-1]["fix"].endswith("\ntables:\n  orders: COLUMN")
    assert terminal(*check, "--tables", "other.yaml").out == ""
    assert "the environment 'prod' has no schema" in terminal(*check, "--environment", "prod", fails=2).err


REQUIRED = {
    "dashboards/sales.yaml": """title: Sales
controls: {region: {text: , required: true}, state: {choices: [open, paid]}}
rows:
  - {table: orders, columns: [id, stat]}
  - {table: by_region, columns: all}
""",
    "queries/orders.sql": """select id, state from orders
where region = {{ params.region }} [[ and status = {{ params.state }} ]]""",
    "queries/by_region.sql": "select region, count(*) n from orders [[ where state = {{ params.stat }} ]] group by 1",
}


def orders_of_regions(folder: Path) -> str:
    database = sqlite3.connect(folder / "orders.db")
    database.execute("create table orders (id integer, state text, region text)")
    database.close()
    return f"sqlite:///{folder / 'orders.db'}"


def test_a_check_explains_what_waits_for_a_choice(ready: Terminal, folder: Path) -> None:
    """Queries and optional parts behind controls, with a sample of each; a parameter whose name is nearly that of a
    control. Red when a query is asked about only as it runs at first: none of the three was found."""
    write_files(folder, REQUIRED)
    ready("data-source", "create", "warehouse", "--url", orders_of_regions(folder))
    ready("group", "create", "acme", "--map", "main=warehouse")
    checked = ready("dashboards", "check", "dashboards", "--groups", "--format", "json", fails=1).json()
    found = {each["code"]: each for each in checked["findings"]}
    assert found["query-refused"]["message"].endswith("for acme, with a sample of region and state)")
    assert found["unset-parameter"]["message"] == "no control of the dashboard sales sets params.stat"
    assert (found["unset-parameter"]["file"], found["unset-parameter"]["line"]) == ("queries/by_region.sql", 1)
    assert found["unset-parameter"]["fix"].startswith("did you mean state? ")
    assert (checked["explained"], checked["without_group"]) == (1, 0)
    query = folder / "queries/orders.sql"
    query.write_text(query.read_text().replace("status", "state"))
    checked = ready("dashboards", "check", "dashboards", "--groups", "--format", "json", fails=1).json()
    (found,) = (each for each in checked["findings"] if each["code"] == "unknown-column")
    assert found["fix"].startswith("did you mean state? ")


# --- the server -------------------------------------------------------------------------------------------------------


def rows_of(url: str, name: str) -> list[list[list[object]]]:
    answer = httpx2.post(f"{url}/dashboards/{name}/-/panels", json={}, timeout=SOON)
    assert answer.status_code == 200, answer.text
    lines = [json.loads(line) for line in answer.text.splitlines()]
    return [line["rows"] for line in sorted(lines[:-1], key=lambda line: line["panel"])]


def test_a_folder_is_shown_without_any_store_and_follows_its_files(terminal: Terminal, folder: Path) -> None:
    """As a sample group. A change counts at once; a mistake is shown with its place, until it is corrected. Only its
    own name leads to it: red without the check of the host, when a page whose name leads to this machine gets rows."""
    terminal("dashboards", "new", "orders")
    with serving(folder) as url:
        assert rows_of(url, "orders")[2][0] == ["Vienna", 210]
        query = folder / "queries/orders.sql"
        query.write_text(query.read_text().replace("'Vienna' as city, 210", "'Wien' as city, 211"))
        assert rows_of(url, "orders")[2][0] == ["Wien", 211]
        file = folder / "dashboards/orders.yaml"
        text = file.read_text()
        file.write_text(text.replace("bar: orders", "baar: orders"))
        wrong = httpx2.post(f"{url}/dashboards/orders/-/panels", json={}, timeout=SOON)
        assert wrong.status_code == 500
        assert "orders.yaml:8:5" in wrong.json()["error"]["message"]
        file.write_text(text)
        assert len(rows_of(url, "orders")) == 4
        other = httpx2.post(
            f"{url}/dashboards/orders/-/panels", json={}, headers={"Host": "evil.example"}, timeout=SOON
        )
        assert other.status_code == 400
    assert not (folder / "tenantry.db").exists()


def test_the_address_alone_leads_to_the_first_dashboard(terminal: Terminal, folder: Path) -> None:
    """Red when / is not found, and when nothing is said of a folder without any."""
    (folder / "dashboards").mkdir()
    with serving(folder) as url:
        said = (folder / "serve.log").read_text()
        assert "No dashboard of dashboards can be shown. `tenantry dashboards new NAME` writes an example" in said
        assert "Open one of these" not in said
        assert "see the terminal" in httpx2.get(url, timeout=SOON).text
        terminal("dashboards", "new", "orders")
        terminal("dashboards", "new", "sales")
        assert httpx2.get(url, timeout=SOON).headers["location"] == "/dashboards/orders"


def test_the_server_tells_its_author_what_waits_for_a_choice(folder: Path) -> None:
    """In the terminal: a page shows nothing behind a required control, however wrong the query is. Again after each
    change, and that all is corrected. Red without the check of the queries, and when a file that cannot be read counts
    as corrected."""
    write_files(folder, REQUIRED)
    broken = folder / "dashboards/broken.yaml"
    with serving(folder, "--source", orders_of_regions(folder)) as url:
        said(folder, "with a sample of region and state)", "did you mean state? Otherwise declare stat")
        broken.write_text("title: Broken")
        httpx2.get(f"{url}/dashboards/sales", timeout=SOON)
        said(folder, "broken.yaml:1:1: error")
        assert "corrected" not in (folder / "serve.log").read_text()
        broken.unlink()
        for name, (wrong, right) in {
            "queries/orders.sql": ("status", "state"),
            "queries/by_region.sql": ("params.stat ", "params.state "),
            "dashboards/sales.yaml": ("stat]", "state]"),
        }.items():
            (folder / name).write_text((folder / name).read_text().replace(wrong, right))
        httpx2.get(f"{url}/dashboards/sales", timeout=SOON)
        said(folder, "the mistakes above are corrected")


def test_ctrl_c_stops_queries(folder: Path) -> None:
    """Red without ``stop_on_signals``: the server waits ten seconds for the query, and then drops the connection."""
    slow = "with recursive n(i) as (select 1 union all select i + 1 from n) select count(*) as rows from n"
    panels = 'rows: [{figure: one, query: {sql: "select 1 as one"}}, {figure: rows, query: slow}]'
    write_files(folder, {"dashboards/slow.yaml": f"title: Slow\n{panels}\n", "queries/slow.sql": slow})
    with ExitStack() as reading:
        with serving(folder) as url:
            response = httpx2.stream("POST", f"{url}/dashboards/slow/-/panels", json={}, timeout=SOON)
            lines = reading.enter_context(response).iter_lines()
            assert json.loads(next(lines))["rows"] == [[1]]
        stopped, end = map(json.loads, lines)
    assert stopped["error"]["code"] == "source_unavailable"
    assert end == {"end": True}


@pytest.mark.parametrize("stored", [False, True])
def test_a_folder_is_shown_as_a_group(ready: Terminal, folder: Path, stored: bool) -> None:
    """Of the store, or a sample with properties and a data source. Red when the group is another one."""
    write_files(folder, GOOD)
    database = sqlite3.connect(folder / "orders.db")
    database.execute("create table orders (id integer, owner text, region text)")
    database.execute("insert into orders values (1, 'me', 'eu'), (2, 'you', 'eu')")
    database.commit()
    database.close()
    source = f"sqlite:///{folder / 'orders.db'}"
    properties = [word for name in ("company", "currency_name") for word in ("--property", f"{name}=x")]
    properties += ["--property", "owner=me"]
    if stored:
        ready("data-source", "create", "warehouse", "--url", source)
        ready("group", "create", "acme", "--map", "main=warehouse", *properties)
    with serving(folder, *(["--group", "acme"] if stored else [*properties, "--source", source])) as url:
        assert rows_of(url, "sales") == [[[1, "me", "eu"]]]


def test_wrong_usage_of_the_server_ends_before_it_listens(ready: Terminal, folder: Path) -> None:
    """A group that is not there; options of the sample for a group of the store; a file that is missing: red when the
    server began, and the terminal named neither the path nor the option."""
    write_files(folder, GOOD)
    ready("dashboards", "serve", "dashboards", "--group", "a", "--source", "sqlite:///a.db", fails=2)
    ready("dashboards", "serve", "nothing", fails=2)
    for command in (("dashboards", "serve"), ("edit",)):
        refused = ready(*command, "dashboards", "--source", "duckdb:///missing.duckdb", fails=2)
        assert f"--source: {folder / 'missing.duckdb'} does not exist" in refused.err
