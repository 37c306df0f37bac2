"""``bulk`` of the clients: requests of some hundreds of groups, sent again where they were lost, and their reports."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from tenantry.client import BulkReport
from tenantry.client.bulk import MAX_TOGETHER
from tenantry.errors import ApiUnreachable, InvalidBody, StoreUnavailable, UnexpectedAnswer
from tests.client.test_calls import KINDS, Script, refused, run
from tests.client.test_calls import pauses as pauses

SUMMARY = {"success": 1, "summary": {}}


def done(line: int, result: str = "created") -> dict[str, Any]:
    group = {"team_id": line, "token": f"token-{line}", "name": "n", "provided_id": f"g{line}", "properties": None}
    return {"line": line, "success": 1, "result": result, "user_group": group}


def failed(line: int, code: str = "invalid_body") -> dict[str, Any]:
    return {"line": line, "success": 0, "error": {"code": code, "message": "no", "field": "/name"}}


def ended(code: str) -> dict[str, Any]:
    return {"success": 0, "error": {"code": code, "message": "no"}, "request_id": "r", "summary": {}}


def report(*lines: Any, **headers: str) -> httpx2.Response:
    text = "".join(json.dumps(line) + "\n" for line in lines)
    return httpx2.Response(200, text=text, headers={"x-request-id": "r", **headers})


def bodies(script: Script) -> list[list[Any]]:
    return [[json.loads(line) for line in request.content.splitlines()] for request in script.requests]


async def collected(kind: str, script: Script, groups: Any, **options: Any) -> tuple[list[BulkReport], Any]:
    """The reports, and the error after them."""
    found: list[BulkReport] = []

    async def collect(reports: Any) -> None:
        async for each in reports:  # one by one: they are wanted where an error comes after them
            found.append(each)  # noqa: PERF401

    def act(client: Any) -> Any:
        reports = client.bulk(groups, **options)
        return found.extend(reports) if kind == "sync" else collect(reports)

    try:
        await run(kind, script, act)
    except Exception as error:  # noqa: BLE001 - given back
        return found, error
    return found, None


@KINDS
async def test_groups_are_sent_some_hundreds_at_a_time(kind: str, pauses: list[float]) -> None:
    """The numbers go on from request to request; groups are taken as they are needed. Red when the numbers of the
    second request begin anew."""
    taken: list[int] = []

    def groups() -> Iterator[dict[str, Any]]:
        for number in range(1, MAX_TOGETHER + 3):
            taken.append(number)
            yield {"user_group_id": f"g{number}"}

    first = report(*(done(line) for line in range(1, MAX_TOGETHER + 1)), SUMMARY)
    script = Script(first, report(done(1, "updated"), failed(2), SUMMARY))
    reports, error = await collected(kind, script, groups(), replace=True)
    assert error is None
    assert [each.number for each in reports] == taken == [*range(1, MAX_TOGETHER + 3)]
    assert [each.outcome for each in reports[-3:]] == ["created", "updated", "failed"]
    assert reports[0].group is not None
    assert (reports[0].group.provided_id, reports[0].group.token) == ("g1", "token-1")
    assert isinstance(reports[-1].error, InvalidBody)
    assert (reports[-1].error.status, reports[-1].error.field) == (422, "/name")
    assert "request r" in str(reports[-1].error)
    assert [len(body) for body in bodies(script)] == [MAX_TOGETHER, 2]
    for request in script.requests:
        assert str(request.url) == "http://tenantry.test/api/users/bulk?replace=true"
        assert request.headers["content-type"] == "application/x-ndjson"
    assert "token-1" not in repr(reports)


@KINDS
async def test_large_groups_fill_a_request_sooner(kind: str) -> None:
    """By their bytes. Red when only the number counts."""
    script = Script(*(report(*(done(line) for line in range(1, 20)), SUMMARY) for _ in range(2)))
    groups = [{"user_group_id": f"g{number}", "properties": {"text": "x" * 29_000}} for number in range(38)]
    reports, _ = await collected(kind, script, groups)
    assert len(reports) == 38
    assert [len(body) for body in bodies(script)] == [19, 19]


@KINDS
async def test_a_request_that_is_lost_or_ends_early_is_sent_again(kind: str, pauses: list[float]) -> None:
    """The same body. What an attempt has reported as done keeps its first report; what failed with the store is
    reported as the last attempt has it. Red when reports are those of the last attempt alone."""
    script = Script(
        httpx2.ReadError("gone"),
        refused(503, "store_unavailable"),
        report(done(1), failed(2), failed(3, "store_unavailable"), ended("store_unavailable")),
        report(done(1, "unchanged"), failed(2), ended("draining")),
        report(done(1, "unchanged"), failed(2), done(3), SUMMARY),
    )
    groups = [{"user_group_id": f"g{number}"} for number in (1, 2, 3)]
    reports = await with_attempts(kind, script, groups)
    assert [each.outcome for each in reports] == ["created", "failed", "created"]
    assert len(script.requests) == 5
    assert len({request.content for request in script.requests}) == 1


async def with_attempts(kind: str, script: Script, groups: Any) -> list[BulkReport]:
    def act(client: Any) -> Any:
        reports = client.bulk(groups)
        return list(reports) if kind == "sync" else collect(reports)

    async def collect(reports: Any) -> list[BulkReport]:
        return [each async for each in reports]

    found: list[BulkReport] = await run(kind, script, act, attempts=5)
    return found


@KINDS
@pytest.mark.parametrize(
    ("last", "kind_of_error", "told"),
    [
        (httpx2.ReadError("gone"), ApiUnreachable, 0),
        (report(done(1), ended("store_unavailable")), StoreUnavailable, 1),
        (report(done(1)), ApiUnreachable, 1),
        (report(done(1), failed(2)), ApiUnreachable, 2),
        (httpx2.Response(200, text=json.dumps(done(1)) + '\n{"line":2,"succ'), ApiUnreachable, 1),
        (httpx2.Response(200, text=""), ApiUnreachable, 0),
        (httpx2.Response(200, text="<html>"), UnexpectedAnswer, 0),
        (httpx2.Response(200, text="<html>\n<body>\n</body>\n</html>\n"), UnexpectedAnswer, 0),
        (report({"hello": 1}, {"success": 1}), UnexpectedAnswer, 0),
        (report({**done(1), "line": "1"}, SUMMARY), UnexpectedAnswer, 0),
    ],
)
async def test_an_end_that_is_no_end(kind: str, last: Any, kind_of_error: type, told: int, pauses: list[float]) -> None:
    """Reports of what was done come first, then the error: of a report that was cut, that its end was lost, and of what
    is no report, that a proxy may be there. Red when the error comes before them, when the last line is taken for the
    summary whatever it is, or when lines are read without a guard."""
    first = report(*(done(line) for line in range(1, MAX_TOGETHER + 1)), SUMMARY)
    script = Script(first, last, last, last)
    groups = [{"user_group_id": f"g{number}"} for number in range(MAX_TOGETHER + 2)]
    reports, error = await collected(kind, script, groups)
    assert isinstance(error, kind_of_error)
    assert len(reports) == MAX_TOGETHER + told


@KINDS
async def test_a_report_that_was_cut_is_asked_for_again(kind: str, pauses: list[float]) -> None:
    """Also where it was cut at the end of a line, and what was reported stays. Red when the last line that came is
    taken for the summary: a line that failed ended the request with its own error then."""
    cut = [report(done(1)), report(done(1, "unchanged"), failed(2)), httpx2.Response(200, text='{"line":1')]
    script = Script(*cut, report(done(1, "unchanged"), failed(2), done(3), SUMMARY))
    reports = await with_attempts(kind, script, [{"user_group_id": f"g{number}"} for number in (1, 2, 3)])
    assert [each.outcome for each in reports] == ["created", "failed", "created"]
    assert len(script.requests) == 4


@KINDS
async def test_a_dry_run_of_many(kind: str) -> None:
    """Is asked for, and an answer that does not say so is an error: an old service may have written."""
    groups = [{"user_group_id": "a"}]
    script = Script(report(done(1), SUMMARY, **{"dry-run": "true"}), report(done(1), SUMMARY))
    reports, error = await collected(kind, script, groups, dry_run=True)
    assert error is None
    assert reports[0].group is not None
    assert reports[0].group.dry_run
    assert str(script.requests[0].url).endswith("/bulk?dry_run=true")
    _, error = await collected(kind, script, groups, dry_run=True)
    assert isinstance(error, UnexpectedAnswer)


@KINDS
async def test_what_is_no_json_is_not_sent(kind: str) -> None:
    """NaN, and what JSON has no form for."""
    for wrong in ({"properties": {"n": float("nan")}}, {"properties": {"n": object()}}):
        script = Script()
        _, error = await collected(kind, script, [wrong])
        assert isinstance(error, ValueError | TypeError)
        assert script.requests == []


async def test_no_group_is_no_request() -> None:
    script = Script()
    assert await collected("sync", script, []) == ([], None)
    assert script.requests == []
