"""Snowflake's connector: on fakesnow, which is DuckDB behind Snowflake's API, and on a server that is a script for what
fakesnow does not do: session settings, stops, and errors."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Iterator
from datetime import UTC, date, datetime
from datetime import time as time_of_day
from decimal import Decimal
from functools import partial
from typing import Any

import pytest

from engines.ports import free_port
from tenantry.datasources import DataSources, Limits
from tenantry.errors import (
    NotOneStatement,
    QueryFailed,
    QueryTimeout,
    SourceUnavailable,
    TenantryError,
    TooManyRows,
    UnbindableValue,
)
from tests.directory import Directory, group
from tests.hanging import hanging
from tests.http_service import serving

connector = pytest.importorskip("snowflake.connector", reason="make warehouses installs it")
CANARY = "k3y-c4n4ry"
URL = f"snowflake://reader:{CANARY}@account/db1/public?host=127.0.0.1&protocol=http&warehouse=w&port="
SELECT, CALL = 0x1000, 0x2700

pytestmark = [
    pytest.mark.filterwarnings("ignore:Arrow output on a DB-API result"),  # fakesnow's own
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]


async def _query(url: str, sql: str, variables: dict[str, Any] | None = None, **limits: Any) -> Any:
    directory = Directory()
    directory.add(1, url)
    async with DataSources(directory, limits=Limits(**{"timeout": 60, "connect_timeout": 60, **limits})) as sources:
        return await sources.query(group(main="ds_1"), "main", sql, variables or {})


@pytest.fixture(scope="module")
def fakesnow() -> Iterator[str]:
    """The URL of a source on fakesnow, with a table."""
    pytest.importorskip("fakesnow", reason="make warehouses installs it")
    import uvicorn

    logging.getLogger("fakesnow.server").disabled = True
    from fakesnow.server import app

    port = free_port()
    server = uvicorn.Server(uvicorn.Config(app, port=port, log_level="critical"))
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        assert thread.is_alive(), "the server did not start"
        time.sleep(0.01)
    words = {"account": "a", "user": "u", "password": "p", "host": "127.0.0.1", "port": port, "protocol": "http"}
    connection = connector.connect(**words, database="db1", schema="public")
    for sql in (
        "create database if not exists db1",
        "create schema if not exists db1.public",
        "use schema db1.public",
        "create table orders (id integer, owner text, amount number(10, 2), seen timestamp, doc variant)",
        """insert into orders select 1, 'acme', 1.25, '2026-01-01', parse_json('{"a": [1]}')""",
        "insert into orders select 2, 'globex', 2.5, '2026-01-02', null",
    ):
        connection.cursor().execute(sql)
    connection.close()
    yield f"{URL}{port}"
    server.should_exit = True
    thread.join()


async def test_rows_and_types(fakesnow: str) -> None:
    """Numbers with digits behind the point are Decimals, and documents are objects."""
    result = await _query(fakesnow, "select * from orders where owner = {{ owner }}", {"owner": "acme"})
    assert list(result.rows) == [(1, "acme", Decimal("1.25"), datetime(2026, 1, 1), {"a": [1]})]  # noqa: DTZ001
    assert [column.type for column in result.columns] == ["integer", "text", "decimal", "datetime", "json"]
    assert result.arrow_types == ["decimal(38, 0)", None, "decimal(10, 2)", "timestamp", None]


@pytest.mark.parametrize(
    ("value", "comes"),
    [
        ("it's ? %s :1 \\' --", "it's ? %s :1 \\' --"),
        ("ünïcode 漢字", "ünïcode 漢字"),
        (2**62, 2**62),
        (True, True),
        (date(2026, 1, 2), date(2026, 1, 2)),
        (time_of_day(1, 2, 3), time_of_day(1, 2, 3)),
        (datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC), datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)),
        (b"\0x", b"\0x"),
    ],
)
async def test_values_go_beside_the_text(value: object, comes: object, fakesnow: str) -> None:
    """Both ways. Red when the connector bound them into the text (its default), and for bytes as byte arrays."""
    ((found,),) = (await _query(fakesnow, "select {{ v }} as v", {"v": value})).rows
    assert found == comes
    assert type(found) is type(comes)


async def test_limits_and_refusals(fakesnow: str) -> None:
    """What a viewer gives wrongly is 422; nothing that the server says is passed on."""
    with pytest.raises(TooManyRows):
        await _query(fakesnow, "select * from orders", row_limit=1)
    with pytest.raises(UnbindableValue) as bad:
        await _query(fakesnow, "select cast({{ v }} as integer) as v", {"v": CANARY})
    with pytest.raises(QueryFailed, match=r"ProgrammingError \(2003\)$") as absent:
        await _query(fakesnow, f'select * from "{CANARY}"')
    with pytest.raises(NotOneStatement):
        await _query(fakesnow, "insert into orders (id) values (3)")
    for error in (bad.value, absent.value):
        assert CANARY not in str(error)
        assert error.__context__ is None


class Script:
    """Records requests; ``kind`` of each statement; SQL with ``hang`` waits until it is aborted."""

    def __init__(self) -> None:
        self.session: dict[str, Any] = {}
        self.described: list[str] = []
        self.ran: list[dict[str, Any]] = []
        self.kind = SELECT
        self.error: dict[str, Any] | None = None
        self.waiting = threading.Event()
        self.aborted = threading.Event()

    def answer(self, _: str, path: str, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        if "login-request" in path:
            self.session = body["data"]["SESSION_PARAMETERS"]
            if self.error and self.error["code"].startswith("39"):
                return 200, {**self.error, "success": False, "data": {}}
            return 200, {"success": True, "data": {"token": "t", "masterToken": "m", "parameters": []}}
        if "abort-request" in path:
            if body["requestId"] == self.ran[-1]["request"]:
                self.aborted.set()
            return 200, {"success": True, "data": None}
        if "query-request" in path:
            return self._query(path, body)
        return 200, {"success": True, "data": None}

    def _query(self, path: str, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        sql = body["sqlText"]
        if body.get("describeOnly"):
            self.described.append(sql)
        else:
            request = path.partition("requestId=")[2].partition("&")[0]
            self.ran.append({**body, "request": request})
            if self.error:
                return 200, {**self.error, "success": False, "data": {"sqlState": self.error["state"]}}
            if "hang" in sql:
                self.waiting.set()
                self.aborted.wait(60)
                gone = {"code": "000604", "message": f"canceled {CANARY}", "data": {"sqlState": "57014"}}
                return 200, {**gone, "success": False}
        column = {"name": "X", "type": "fixed", "scale": 0, "precision": 38, "nullable": True, "length": None}
        data = {"rowtype": [column], "rowset": [["1"]], "total": 1, "returned": 1, "queryId": "1", "parameters": []}
        data |= {"finalDatabaseName": "DB1", "finalSchemaName": "PUBLIC"}
        return 200, {"success": True, "data": {**data, "statementTypeId": self.kind, "queryResultFormat": "json"}}


@pytest.fixture
def script() -> Iterator[tuple[Script, str]]:
    scripted = Script()
    with serving(scripted.answer) as port:
        yield scripted, f"{URL}{port}"


async def test_what_is_sent(script: tuple[Script, str]) -> None:
    """The session has a timeout and a limit of rows; each text is described before it first runs, and not again; one
    statement at most; values beside it."""
    scripted, url = script
    directory = Directory()
    directory.add(1, url)
    async with DataSources(directory, limits=Limits(timeout=57.5, row_limit=10, connect_timeout=60)) as sources:
        for value in ("a", "b"):
            rows = await sources.fetch(group(main="ds_1"), "main", "select {{ v }} as x", {"v": value})
            assert rows == [{"X": 1}]
    settings = {"STATEMENT_TIMEOUT_IN_SECONDS": 58, "ROWS_PER_RESULTSET": 11, "TIMEZONE": "UTC"}
    assert settings.items() <= scripted.session.items()
    assert scripted.described == ["select ? as x"]
    assert [each["bindings"]["1"]["value"] for each in scripted.ran] == ["a", "b"]
    assert all(each["parameters"]["MULTI_STATEMENT_COUNT"] == 1 for each in scripted.ran)


async def test_only_what_the_server_calls_a_select_runs(script: tuple[Script, str]) -> None:
    """`with p as procedure () … call p()` begins as a query does. Red when the first word alone was looked at."""
    scripted, url = script
    scripted.kind = CALL
    with pytest.raises(NotOneStatement, match="not a SELECT"):
        await _query(url, "with p as procedure () returns int as 'delete from t' call p()")
    assert scripted.ran == []


@pytest.mark.parametrize(
    ("code", "state", "error"),
    [
        ("000630", "57014", QueryTimeout),
        ("000008", "0A000", NotOneStatement),
        ("100038", "22018", UnbindableValue),
        ("001003", "42000", QueryFailed),
        ("390100", "08004", SourceUnavailable),
    ],
)
async def test_errors_by_number(code: str, state: str, error: type[Exception], script: tuple[Script, str]) -> None:
    """And nothing of their text. (390100 is a refused login.)"""
    scripted, url = script
    scripted.error = {"code": code, "state": state, "message": f"it said {CANARY}"}
    with pytest.raises(error) as caught:
        await _query(url, "select {{ v }} as x", {"v": CANARY})
    assert isinstance(caught.value, TenantryError)
    assert CANARY not in str(caught.value)


@pytest.mark.parametrize("limits", [{"timeout": 0.5}, {}])
async def test_a_query_is_aborted(limits: dict[str, Any], script: tuple[Script, str]) -> None:
    """By its own request id, when its time is up and when its viewer leaves. Red when ``interrupt`` did nothing."""
    scripted, url = script
    task = await hanging(
        partial(_query, url, "select 'hang' as x", **limits), waiting=scripted.waiting, stopped=scripted.aborted
    )
    if not limits:
        task.cancel()
    with pytest.raises((QueryTimeout, asyncio.CancelledError)):
        await task
    assert await asyncio.to_thread(scripted.aborted.wait, 30)
