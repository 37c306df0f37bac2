"""``tenantry sql convert``: what is printed, what is written, and how it ends."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from engines.terminal import Terminal
from tenantry_convert import TENANT_REMINDER

WHOLE = "select count(*) from orders where status = {{status}} [[ and total >= {{least}} ]]\n"


def panel(*queries: str) -> str:
    return json.dumps({"panels": [{"title": "Load / host", "targets": [{"rawSql": each} for each in queries]}]})


def test_a_whole_query_is_printed(terminal: Terminal, folder: Path) -> None:
    """stdout is a file of ours and nothing else; what to look at is on stderr."""
    (folder / "orders.metabase.sql").write_text(WHOLE)
    done = terminal("sql", "convert", "--from", "metabase", "orders.metabase.sql")
    (folder / "orders.sql").write_text(done.out)
    assert "{{ params.status }} [[ and total >= {{ params.least }} ]]" in done.out
    assert done.err.splitlines()[0].startswith("orders.metabase.sql:1:")
    assert done.err.splitlines()[-1] == TENANT_REMINDER
    assert "title: orders\n" in done.out
    (folder / "tables.yaml").write_text("tables:\n  orders: customer_id\n")
    assert terminal("sql", "check", "orders.sql").out == "", "our own comments hold tags, and are no findings"


def test_what_was_left_ends_with_1(terminal: Terminal, folder: Path) -> None:
    """Red when the exit code is 0, which a script would take for success."""
    (folder / "a.sql").write_text("select *\nfrom {{table}}")
    done = terminal("sql", "convert", "--from", "metabase", "a.sql", fails=1)
    assert "a.sql:2:6: not converted: {{table}}: " in done.err
    assert "-- 2:6: not converted: {{table}}: " in done.out


def test_a_query_without_a_name_has_that_of_its_file(terminal: Terminal, folder: Path) -> None:
    """That of a document's own is before it. Red when each title is `query`."""
    native = {"type": "native", "native": {"query": "select 1"}}
    for document, title in (
        (native, "sales"),
        ({"dataset_query": native}, "sales"),
        ({"name": "Orders by day", "dataset_query": native}, '"Orders by day"'),
    ):
        (folder / "sales.json").write_text(json.dumps(document))
        assert f"title: {title}\n" in terminal("sql", "convert", "--from", "metabase", "sales.json").out
    (folder / "load.json").write_text(json.dumps({"targets": [{"rawSql": "select 1"}]}))
    assert "title: load\n" in terminal("sql", "convert", "--from", "grafana", "load.json").out
    done = terminal("sql", "convert", "--from", "grafana", "load.json", "--to", "queries")
    assert Path(done.out.strip()).name == "load.sql"


def test_each_query_of_a_dashboard_is_a_file(terminal: Terminal, folder: Path) -> None:
    """Those of one name get two. Nothing is overwritten: red when the second run is."""
    (folder / "board.json").write_text(panel("select 1 where a = $a", "select 2"))
    done = terminal("sql", "convert", "--from", "grafana", "board.json", "--to", "queries")
    assert sorted(done.out.split()) == ["queries/load_host.sql", "queries/load_host_2.sql"]
    assert "{{ params.a }}" in (folder / "queries" / "load_host.sql").read_text()
    again = terminal("sql", "convert", "--from", "grafana", "board.json", "--to", "queries", fails=1)
    assert "exists already" in again.err


def test_several_queries_are_not_printed(terminal: Terminal, folder: Path) -> None:
    (folder / "board.json").write_text(panel("select 1", "select 2"))
    assert "--to" in terminal("sql", "convert", "--from", "grafana", "board.json", fails=2).err


@pytest.mark.parametrize(
    ("content", "message"),
    [(b"{}", "no SQL query"), (b'{"a', "begins like JSON"), (b"select '\xff'", "UTF-8")],
)
def test_what_cannot_be_read(terminal: Terminal, folder: Path, content: bytes, message: str) -> None:
    (folder / "a.json").write_bytes(content)
    done = terminal("sql", "convert", "--from", "grafana", "a.json", fails=1)
    assert message in done.err
    assert done.out == ""


@pytest.mark.parametrize("column", ["created", "=a", "created="])
def test_a_column_is_a_pair(terminal: Terminal, folder: Path, column: str) -> None:
    (folder / "a.sql").write_text(WHOLE)
    terminal("sql", "convert", "--from", "metabase", "--column", column, "a.sql", fails=2)
