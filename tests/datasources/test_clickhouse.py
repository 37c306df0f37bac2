"""ClickHouse over HTTP: its engine behind an HTTP server of the tests (``engines.clickhouse_http``)."""

from __future__ import annotations

import asyncio
import logging
import time
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pyarrow as pa
import pytest

from engines.certificates import self_signed
from engines.clickhouse_http import PASSWORD, ClickHouseServer
from engines.ports import free_port
from tenantry.datasources import StreamLimits
from tenantry.datasources.engines import clickhouse_sql
from tenantry.datasources.engines.clickhouse import ClickHouseAddress
from tenantry.datasources.engines.clickhouse_sql import clickhouse_refusal, typed_value
from tenantry.datasources.results import to_arrow
from tenantry.datasources.url import parse_url
from tenantry.errors import (
    InvalidSource,
    NotOneStatement,
    QueryFailed,
    QueryTimeout,
    SourceUnavailable,
    TooManyRows,
    UnbindableValue,
)
from tenantry.groups import check_session_variables
from tests.datasources.clickhouse_cases import (
    CANARY,
    CASES,
    ENDLESS,
    ENGINE_ALONE,
    LIMITS,
    RUNNING,
    TABLES,
    Case,
    outcome,
)
from tests.datasources.conftest import Directory, group

NUMBERS = "select number as n from numbers({})"
USERS = ("default", "level_2", "level_1")


@pytest.fixture(scope="module")
def server(clickhouse_server: ClickHouseServer) -> ClickHouseServer:
    for statement in TABLES:
        clickhouse_server.execute(statement)
    return clickhouse_server


@pytest.fixture
def sources(directory: Directory, open_sources, server: ClickHouseServer):
    """DataSources on the server as one of its users, with limits."""

    def make(user: str = "default", **limits: float):
        directory.add(1, server.url(user))
        return open_sources(**{**LIMITS, **limits})

    return make


async def test_a_type_that_the_client_cannot_read(sources) -> None:
    """Red when the server counts as unreachable: 503, and the author does not learn what to change."""
    with pytest.raises(QueryFailed, match=r"cannot read the type AggregateFunction: convert it in the SQL"):
        await sources().query(group(main="ds_1"), "main", "select sumState(toInt64(1)) as v")


@pytest.mark.parametrize("user", USERS)
async def test_what_it_answers(user: str, sources, caplog: pytest.LogCaptureFixture) -> None:
    """One table, for users whose profiles say readonly 0, 2 and 1: the limits are kept where the server may not be told
    them too. No message and no log shows a value."""
    opened = sources(user)
    with caplog.at_level(logging.INFO):
        for case in CASES:
            answer = await outcome(opened, case)
            assert answer.startswith(case.outcome), case.sql
            assert CANARY not in answer
    assert CANARY not in caplog.text


@pytest.mark.parametrize(
    ("user", "readonly", "limits"), [("default", "1", True), ("level_2", None, True), ("level_1", None, False)]
)
async def test_what_each_request_says(
    user: str, readonly: str | None, limits: bool, sources, server: ClickHouseServer
) -> None:
    """``readonly`` and the limits as far as the profile lets them be set; the text and the values are in the body and
    never in the address, which proxies log. Red without ``form_encode_query_params``: the value was in the address."""
    await outcome(sources(user), Case("select {{ params.v }} as v, 'marked' as m", {"v": CANARY}, ""))
    request = next(each for each in reversed(server.requests()) if "marked" in each["query"])
    assert request["settings"].get("readonly") == readonly
    assert ("max_execution_time" in request["settings"]) is limits
    if limits:
        assert request["settings"]["max_result_rows"] == "50"
        assert request["settings"]["result_overflow_mode"] == "throw"
        assert request["settings"]["enable_global_with_statement"] == "1"  # guarded tables rely on it, and on the next
        assert request["settings"]["allow_experimental_analyzer"] == "1"
    assert request["params"] == ["p1"]
    assert "{p1:String}" in request["query"]
    assert CANARY not in request["query"] + request["address"]
    assert not {"query", "param_p1", "session_id"} & parse_qs(urlsplit(request["address"]).query).keys()


async def test_the_server_itself_refuses_what_writes(sources, monkeypatch: pytest.MonkeyPatch) -> None:
    """With no check of the text at all. Red without ``readonly=1`` in each request: the row was written, and the
    settings clause lifted the limit."""
    monkeypatch.setattr(clickhouse_sql, "clickhouse_refusal", lambda _: None)
    opened = sources()
    for sql in ENGINE_ALONE:
        if sql.startswith("set "):  # over HTTP it is no statement that can end in the client's `format`
            continue
        answer = await outcome(opened, Case(sql, {}, ""))
        assert answer.startswith(
            "NotOneStatement: data source ds_1 does not run this query: the database refused it"
        ), sql
    assert await outcome(opened, CASES[0]) == CASES[0].outcome


@pytest.mark.parametrize("user", USERS)
async def test_a_query_without_end_is_stopped_on_the_server(user: str, sources, server: ClickHouseServer) -> None:
    """At its timeout, also where the server may not be told it, and when its viewer leaves: another group is served.
    Red without ``interrupt``: the server went on, and with ``level_1`` for hours."""
    opened = sources(user, timeout=2.0)
    with pytest.raises(QueryTimeout):
        await opened.fetch(group(main="ds_1"), "main", ENDLESS[0])
    patient = sources(user, timeout=100.0, group_pool_size=5)
    await patient.fetch(group(main="ds_1"), "main", "select 1")
    tasks = [asyncio.create_task(patient.fetch(group("acme", main="ds_1"), "main", sql)) for sql in ENDLESS]
    await _until_running(server, 5)
    for task in tasks:
        task.cancel()
    began = time.monotonic()
    assert await patient.fetch(group("globex", main="ds_1"), "main", "select 1 as v") == [{"v": 1}]
    assert time.monotonic() - began < 60
    await _until_running(server, 0)


@pytest.mark.parametrize("user", USERS)
async def test_a_stream_has_its_own_limits_and_stops(user: str, sources, server: ClickHouseServer) -> None:
    """Also where the server may not be told a limit. A stream that is left, or has too many rows, ends on the server.
    Red when a stream is read as a whole: it has the limits of a query, and one without end gives nothing. Red without
    ``interrupt``: the server goes on."""
    opened = sources(user, stream=StreamLimits(row_limit=100_000, timeout=600.0), timeout=60.0)
    rows = [line async for line in await opened.stream(group(main="ds_1"), "main", NUMBERS.format("70000"), {})]
    assert b"".join(rows).count(b"\n") == 70_000
    with pytest.raises(TooManyRows, match="more than 100000 rows"):
        async for _ in await opened.stream(group(main="ds_1"), "main", NUMBERS.format("1e13"), {}):
            pass
    stream = await opened.stream(group(main="ds_1"), "main", NUMBERS.format("1e13"), {})
    begun = await anext(chunks := aiter(stream))
    while begun.count(b"\n") < 2:  # the first may come alone
        begun += await anext(chunks)
    assert begun.startswith(b'{"n":0}\n{"n":1}\n')
    await stream.aclose()
    await _until_running(server, 0)


async def test_an_error_within_a_stream(sources) -> None:
    """Red when the end of such a body is taken for the end of the rows."""
    opened = sources(stream=StreamLimits(row_limit=10_000_000))
    sql = "select throwIf(number = 900000) as n from numbers(1000000)"
    with pytest.raises(QueryFailed, match="395"):
        async for _ in await opened.stream(group(main="ds_1"), "main", sql, {}):
            pass


async def _until_running(server: ClickHouseServer, count: int) -> None:
    async with asyncio.timeout(60):
        while await asyncio.to_thread(_running, server) != count:
            await asyncio.sleep(0.05)


def _running(server: ClickHouseServer) -> int:
    return int(server.execute(RUNNING))


@pytest.mark.parametrize(
    ("host", "options", "message"),
    [
        ("localhost", "ssl_ca={ca}", None),
        ("localhost", "ssl_ca={ca}&ssl_mode=verify", None),
        ("127.0.0.1", "ssl_ca={ca}", "is for another host"),
        ("localhost", "ssl_ca={other}", "is not signed by a CA that ssl_ca"),
        ("localhost", "ssl_mode=verify", "is not signed by a CA that ssl_ca or this system trusts"),
        ("localhost", "", "cannot be reached"),
    ],
)
async def test_whom_a_source_speaks_to(
    host: str,
    options: str,
    message: str | None,
    directory: Directory,
    open_sources,
    server: ClickHouseServer,
    tmp_path: Path,
) -> None:
    """The chain and the host are checked. Red when the client is not given our context: it took the system's."""
    files = {"ca": server.certificate, "other": self_signed(tmp_path, "localhost")}
    query = options.format(**files)
    directory.add(1, f"clickhouse://default:{PASSWORD}@{host}:{server.tls_port}/default?{query}")
    asked = open_sources(connect_timeout=60).fetch(group(main="ds_1"), "main", "select 1 as v")
    if message is None:
        assert await asked == [{"v": 1}]
        return
    with pytest.raises(SourceUnavailable, match=message) as caught:
        await asked
    assert str(tmp_path) not in str(caught.value)


async def test_a_server_without_tls_is_refused(directory: Directory, open_sources, server: ClickHouseServer) -> None:
    """Where TLS is asked for. The password was not sent, so no request came."""
    count = len(server.requests())
    directory.add(1, f"clickhouse://default:{PASSWORD}@127.0.0.1:{server.port}/default?ssl_mode=verify")
    with pytest.raises(SourceUnavailable, match="ssl_mode=disabled") as caught:
        await open_sources(connect_timeout=60).fetch(group(main="ds_1"), "main", "select 1")
    assert PASSWORD not in str(caught.value)
    assert len(server.requests()) == count


async def test_a_login_that_fails_and_a_server_that_is_down(
    directory: Directory, open_sources, server: ClickHouseServer, caplog: pytest.LogCaptureFixture
) -> None:
    """Both are SourceUnavailable, without the password; neither is remembered. Red with the client's own log."""
    directory.add(1, f"clickhouse://default:{CANARY}@127.0.0.1:{server.port}/default")
    directory.add(2, f"clickhouse://default:{CANARY}@127.0.0.1:{free_port()}/default")
    opened = open_sources(connect_timeout=60)
    for name, says in (("ds_1", r"\(516\)"), ("ds_2", "cannot be reached")):
        with pytest.raises(SourceUnavailable, match=says) as caught:
            await opened.fetch(group(main=name), "main", "select 1")
        assert CANARY not in str(caught.value)
        assert caught.value.__context__ is None
    assert CANARY not in caplog.text
    assert "Unexpected" not in caplog.text


@pytest.mark.parametrize(
    ("url", "port", "interface"),
    [
        ("clickhouse://h/db", 8443, "https"),
        ("clickhouse://h/db?ssl_mode=disabled", 8123, "http"),
        ("clickhouse://h:9000/db", 9000, "https"),
        ("clickhouse://127.0.0.1/db", 8123, "http"),
        ("clickhouse://localhost/db?ssl_ca=ca.pem", 8443, "https"),
    ],
)
def test_tls_is_the_default_but_on_the_machine_itself(url: str, port: int, interface: str) -> None:
    """A password is not sent in the clear because nothing was said."""
    login = ClickHouseAddress(parse_url(url))._login
    assert (login["port"], login["interface"], login["username"]) == (port, interface, "default")


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ("secure=true", "unknown options: secure; known options: ssl_ca, ssl_cert, ssl_key, ssl_mode"),
        ("ssl_mode=required", "must be one of disabled, verify"),
        ("ssl_mode=disabled&ssl_ca=a", "contradicts ssl_ca"),
        ("ssl_key=a", "ssl_key needs ssl_cert"),
    ],
)
def test_options_that_mean_nothing_are_refused(options: str, says: str) -> None:
    """Rather than a connection that is not encrypted as somebody thought."""
    with pytest.raises(InvalidSource, match=says):
        ClickHouseAddress(parse_url(f"clickhouse://h/db?{options}"))


def test_session_variables_are_refused() -> None:
    """ClickHouse's custom settings are not set by us."""
    with pytest.raises(InvalidSource, match="session variables need PostgreSQL"):
        check_session_variables("clickhouse://h/db", {"app.tenant": "{{ user_group.id }}"})


@pytest.mark.parametrize(
    "sql",
    [
        "with 1 as a select a",
        "(select 1) union all (select 2)",
        "explain select 1",
        "describe sales.orders",
        "select 'into outfile; settings a = 1; file(1)' as v",
        "select `a;b` from t -- ; file(",
        "select settings from t",
        "select number from numbers(3) limit 1;",
    ],
)
def test_what_only_reads_is_run(sql: str) -> None:
    """Strings, names in quotes and comments are no code."""
    assert clickhouse_refusal(sql.rstrip("; ")) is None


@pytest.mark.parametrize(
    "sql",
    [
        "select 1 /* not closed",
        "select 'not closed",
        "/* a /* b */ */ select 1",
        "values (1)",
        "check table t",
        "use a",
    ],
)
def test_what_is_unclear_is_not_run(sql: str) -> None:
    """In doubt it is refused."""
    assert clickhouse_refusal(sql) is not None


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ([1, 2], "Array(Int64)"),
        (["a"], "Array(String)"),
        ([], "Array(Nothing)"),
        (None, "Nullable(Nothing)"),
    ],
)
def test_the_type_of_a_list_and_of_nothing(value: object, kind: str) -> None:
    """A list that is bound whole is an array of the server."""
    assert typed_value(value)[0] == kind


def test_a_list_of_several_types_is_refused() -> None:
    """An array has one."""
    with pytest.raises(UnbindableValue, match="several types"):
        typed_value([1, "a"])


async def test_a_statement_without_the_server(sources) -> None:
    """The text is refused before anything is sent."""
    with pytest.raises(NotOneStatement, match="several statements"):
        await sources().fetch(group(main="ds_1"), "main", "select 1; drop table sales.orders")


TYPED = (
    "uint64|string|double|decimal128(9, 2)|bool|date32[day]|date32[day]|timestamp[us]|timestamp[us, tz=UTC]|string"
    f"|binary{'|string' * 8}|int64"
)
LATE = """select number, if(number < 5000, null, toDateTime('2026-01-31 09:30:00')) as late,
    if(number < 5000, number::Dynamic, 'free'::Dynamic) as d from numbers(6000)"""


@pytest.mark.parametrize(
    ("sql", "kinds"),
    [
        ("select * from sales.typed", TYPED),
        (LATE, "uint64|timestamp[us]|string"),
        ("select toIntervalDay(1) as i, 1::Decimal(50, 2) as d", "int64|string"),
    ],
)
async def test_the_arrow_schema_is_what_the_server_declares(sources, sql: str, kinds: str) -> None:
    """In a stream, in ``to_arrow`` and without rows. Red when the values decide: a body broke in row 5,000, Decimal(9,
    2) was decimal128(3, 2), and a column without a value was strings."""
    opened = sources(row_limit=10_000, max_bytes=50_000_000)
    stream = await opened.stream(group(main="ds_1"), "main", sql, {}, format="arrow")
    whole = await opened.query(group(main="ds_1"), "main", sql)
    none = await opened.query(group(main="ds_1"), "main", f"select * from ({sql}) where 0")
    bodies = [b"".join([part async for part in stream]), to_arrow(whole), to_arrow(none)]
    tables = [pa.ipc.open_stream(body).read_all() for body in bodies]
    assert [[str(field.type) for field in table.schema] for table in tables] == [kinds.split("|")] * 3
    assert tables[0].to_pylist() == tables[1].to_pylist()
    assert [table.num_rows for table in tables] == [len(whole), len(whole), 0]
    if sql == LATE:
        assert (tables[0].column("late").null_count, tables[0].column("d")[5_000].as_py()) == (5_000, "free")
