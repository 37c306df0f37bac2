"""BigQuery's client on a server that is a script: jobs, their dry runs, pages of rows and cancels. No engine reads the
SQL: what BigQuery itself makes of it was never run."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from datetime import UTC, date, datetime
from decimal import Decimal
from functools import partial
from typing import Any

import pytest

from tenantry.datasources import DataSources, Limits
from tenantry.errors import (
    NotOneStatement,
    QueryFailed,
    QueryTimeout,
    SourceUnavailable,
    TooManyRows,
    UnbindableValue,
)
from tests.directory import Directory, group
from tests.hanging import hanging
from tests.http_service import serving

pytest.importorskip("google.cloud.bigquery", reason="make warehouses installs it")
CANARY = "k3y-c4n4ry"


class Script:
    """Records requests and answers them; SQL with ``hang`` waits until it is cancelled."""

    def __init__(self) -> None:
        self.dry: list[str] = []
        self.ran: list[dict[str, Any]] = []
        self.kind = "SELECT"
        self.error: tuple[int, str, str] | None = None
        self.fields: list[dict[str, Any]] = [{"name": "x", "type": "INTEGER"}]
        self.pages: list[list[list[Any]]] = [[["1"]]]
        self.waiting = threading.Event()
        self.cancelled = threading.Event()

    def answer(self, method: str, path: str, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        if "/cancel" in path:
            if self.ran[-1]["id"] in path:
                self.cancelled.set()
            return 200, {"job": self._job(self.ran[-1]["id"], "DONE")}
        if method == "POST":
            return self._insert(body)
        return self._results(path) if "/queries/" in path else (200, self._job(self.ran[-1]["id"], "DONE"))

    def _insert(self, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        configuration = body["configuration"]
        sql = configuration["query"]["query"]
        if configuration.get("dryRun"):
            self.dry.append(sql)
            return 200, self._job("dry", "DONE")
        self.ran.append({**configuration, "id": body["jobReference"]["jobId"]})
        if self.error:
            status, reason, message = self.error
            return status, {"error": {"code": status, "message": message, "errors": [{"reason": reason}]}}
        return 200, self._job(self.ran[-1]["id"], "RUNNING" if "hang" in sql else "DONE")

    def _job(self, name: str, state: str) -> dict[str, Any]:
        reference = {"projectId": "p", "jobId": name, "location": "EU"}
        query = {"query": "select", "destinationTable": {"projectId": "p", "datasetId": "d", "tableId": "t"}}
        statistics = {"query": {"statementType": self.kind}}
        job = {"jobReference": reference, "configuration": {"query": query}, "statistics": statistics}
        status: dict[str, Any] = {"state": state}
        if self.cancelled.is_set():
            status["errorResult"] = {"reason": "stopped", "message": f"cancelled {CANARY}"}
        return {**job, "status": status}

    def _results(self, path: str) -> tuple[int, dict[str, Any]]:
        reference = {"projectId": "p", "jobId": self.ran[-1]["id"], "location": "EU"}
        if "hang" in self.ran[-1]["query"]["query"] and not self.cancelled.is_set():
            self.waiting.set()
            self.cancelled.wait(1)
            return 200, {"jobComplete": False, "jobReference": reference}
        page = int(path.partition("pageToken=")[2].partition("&")[0] or 0)
        rows = [{"f": [{"v": value} for value in row]} for row in self.pages[page]]
        answer = {"jobComplete": True, "jobReference": reference, "schema": {"fields": self.fields}, "rows": rows}
        answer["totalRows"] = str(sum(map(len, self.pages)))
        if page + 1 < len(self.pages):
            answer["pageToken"] = str(page + 1)
        return 200, answer


@pytest.fixture
def script() -> Iterator[tuple[Script, str]]:
    scripted = Script()
    with serving(scripted.answer) as port:
        yield scripted, f"bigquery://p/d?location=EU&endpoint=http://127.0.0.1:{port}&maximum_bytes_billed=1000"


async def _query(url: str, sql: str, variables: dict[str, Any] | None = None, **limits: Any) -> Any:
    directory = Directory()
    directory.add(1, url)
    async with DataSources(directory, limits=Limits(**{"timeout": 60, "connect_timeout": 60, **limits})) as sources:
        return await sources.query(group(main="ds_1"), "main", sql, variables or {})


async def test_what_is_sent(script: tuple[Script, str]) -> None:
    """A dry run first, once for each text; then a job with a timeout, the limit of the URL and typed parameters."""
    scripted, url = script
    directory = Directory()
    directory.add(1, url)
    async with DataSources(directory, limits=Limits(timeout=57.5, connect_timeout=60)) as sources:
        for value in ("it's @p1", "b"):
            rows = await sources.fetch(group(main="ds_1"), "main", "select {{ v }} as x", {"v": value})
            assert rows == [{"x": 1}]
    assert scripted.dry == ["select @p1 as x"]
    assert [each["query"]["queryParameters"][0]["parameterValue"]["value"] for each in scripted.ran] == [
        "it's @p1",
        "b",
    ]
    (job, _) = scripted.ran
    assert job["jobTimeoutMs"] == "57500"
    assert job["query"]["maximumBytesBilled"] == "1000"
    assert job["query"]["useLegacySql"] is False
    assert job["query"]["defaultDataset"] == {"projectId": "p", "datasetId": "d"}


@pytest.mark.parametrize(
    ("value", "kind", "sent"),
    [
        (7, "INT64", "7"),
        (1.5, "FLOAT64", 1.5),
        (True, "BOOL", "true"),
        (Decimal("1.25"), "NUMERIC", "1.25"),
        (Decimal("1e-20"), "BIGNUMERIC", "1E-20"),
        (date(2026, 1, 2), "DATE", "2026-01-02"),
        (datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC), "TIMESTAMP", "2026-01-02 03:04:05+00:00"),
        (b"\0x", "BYTES", "AHg="),
    ],
)
async def test_parameters_have_types(value: object, kind: str, sent: object, script: tuple[Script, str]) -> None:
    """Red when every value was sent as a STRING."""
    scripted, url = script
    await _query(url, "select {{ v }} as x", {"v": value})
    (parameter,) = scripted.ran[0]["query"]["queryParameters"]
    assert (parameter["parameterType"]["type"], parameter["parameterValue"]["value"]) == (kind, sent)


async def test_rows_and_types(script: tuple[Script, str]) -> None:
    """Of several pages; repeated columns are lists."""
    scripted, url = script
    scripted.fields = [
        {"name": "n", "type": "NUMERIC"},
        {"name": "at", "type": "TIMESTAMP"},
        {"name": "tags", "type": "STRING", "mode": "REPEATED"},
    ]
    scripted.pages = [[["1.25", "1767225600000000", [{"v": "a"}]]], [[None, None, []]]]
    result = await _query(url, "select 1 as x")
    assert list(result.rows) == [(Decimal("1.25"), datetime(2026, 1, 1, tzinfo=UTC), ["a"]), (None, None, [])]
    assert [column.type for column in result.columns] == ["decimal", "datetime", "list"]
    assert result.arrow_types == ["decimal(38, 9)", "timestamptz", None]
    with pytest.raises(TooManyRows):
        await _query(url, "select 1 as x", row_limit=1)


@pytest.mark.parametrize("kind", ["INSERT", "SCRIPT", "CALL", "CREATE_TABLE_AS_SELECT"])
async def test_only_what_the_server_calls_a_select_runs(kind: str, script: tuple[Script, str]) -> None:
    """Red without the dry run."""
    scripted, url = script
    scripted.kind = kind
    with pytest.raises(NotOneStatement, match="not a SELECT"):
        await _query(url, "select 1 as x")
    assert scripted.ran == []


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        ((400, "invalidQuery", f"Bad int64 value: {CANARY}"), UnbindableValue),
        ((400, "invalidQuery", f"Unrecognized name: {CANARY}"), QueryFailed),
        ((400, "bytesBilledLimitExceeded", CANARY), QueryFailed),
        ((403, "accessDenied", CANARY), QueryFailed),
        ((403, "rateLimitExceeded", CANARY), SourceUnavailable),
        ((503, "backendError", CANARY), SourceUnavailable),
    ],
)
async def test_errors_by_their_reason(answer: Any, error: type[Exception], script: tuple[Script, str]) -> None:
    """And nothing of their text."""
    scripted, url = script
    scripted.error = answer
    with pytest.raises(error) as caught:
        await _query(url, "select {{ v }} as x", {"v": CANARY})
    assert CANARY not in str(caught.value)
    assert caught.value.__context__ is None


@pytest.mark.parametrize("limits", [{"timeout": 0.5}, {}])
async def test_a_job_is_cancelled(limits: dict[str, Any], script: tuple[Script, str]) -> None:
    """By its id, when its time is up and when its viewer leaves. Red when ``interrupt`` did nothing."""
    scripted, url = script
    task = await hanging(
        partial(_query, url, "select 'hang' as x", **limits), waiting=scripted.waiting, stopped=scripted.cancelled
    )
    if not limits:
        task.cancel()
    with pytest.raises((QueryTimeout, asyncio.CancelledError)):
        await task
    assert await asyncio.to_thread(scripted.cancelled.wait, 30)
