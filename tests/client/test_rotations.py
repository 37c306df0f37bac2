"""``rotate_many`` of the clients: requests of some hundreds of groups, each sent once, and their reports."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tenantry.client import RotationReport
from tenantry.errors import ApiUnreachable, GroupSuspended, StoreUnavailable, TooManyRequests
from tests.client.test_bulk import ended, report
from tests.client.test_calls import KINDS, Script, refused, run
from tests.client.test_calls import pauses as pauses


def rotated(number: int) -> dict[str, Any]:
    group = {"team_id": number, "token": f"token-{number}", "name": "n", "provided_id": f"g{number}"}
    return {"success": 1, "result": "rotated", "user_group": group}


def last(following: int | None) -> dict[str, Any]:
    return {"success": 1, "summary": {"rotated": 1, "failed": 0}, "next": following}


async def collected(kind: str, script: Script, **options: Any) -> tuple[list[RotationReport], Any]:
    """The reports, and the error after them."""
    found: list[RotationReport] = []

    async def collect(reports: Any) -> None:
        async for each in reports:  # one by one: they are wanted where an error comes after them
            found.append(each)  # noqa: PERF401

    def act(client: Any) -> Any:
        reports = client.rotate_many(**options)
        return found.extend(reports) if kind == "sync" else collect(reports)

    try:
        await run(kind, script, act)
    except Exception as error:  # noqa: BLE001 - given back
        return found, error
    return found, None


@KINDS
async def test_requests_follow_each_other(kind: str) -> None:
    """Red when ``next`` is not sent, or when a group that keeps its token ends the reports."""
    suspended = {
        "success": 0,
        "team_id": 2,
        "user_group_id": "g2",
        "error": {"code": "group_suspended", "message": "this user group is suspended"},
    }
    script = Script(report(rotated(1), last(1)), report(suspended, rotated(3), last(None)))
    reports, error = await collected(kind, script, signed_by="k1")
    assert error is None
    assert [(each.team_id, each.user_group_id) for each in reports] == [(1, "g1"), (2, "g2"), (3, "g3")]
    assert [None if each.group is None else each.group.token for each in reports] == ["token-1", None, "token-3"]
    assert isinstance(reports[1].error, GroupSuspended)
    bodies = [json.loads(request.content) for request in script.requests]
    assert bodies == [{"signed_by": "k1", "after": after, "limit": 500} for after in (0, 1)]
    assert {request.url.path for request in script.requests} == {"/api/users/rotate"}


@KINDS
@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (report(rotated(8), ended("store_unavailable") | {"next": 8}), StoreUnavailable),
        (report(rotated(8)), ApiUnreachable),
        (report(rotated(8), ended("store_unavailable") | {"next": 8}, **{"Retry-After": "1"}), StoreUnavailable),
    ],
    ids=["ended", "cut off", "ended with Retry-After"],
)
async def test_a_request_that_fails_is_not_sent_again(kind: str, answer: Any, error: type[Exception]) -> None:
    """It would rotate groups twice. Its reports come first. Red when all errors are sent again, as by other calls."""
    script = Script(answer)
    reports, raised = await collected(kind, script, signed_by=None, after=7)
    assert [each.user_group_id for each in reports] == ["g8"]
    assert isinstance(raised, error)
    assert "3 attempts" not in str(raised)
    assert json.loads(script.requests[0].content) == {"all": True, "after": 7, "limit": 500}
    assert len(script.requests) == 1


@KINDS
async def test_a_request_that_a_proxy_limits_is_sent_again(kind: str, pauses: list[float]) -> None:
    """A 429 rotated nothing. Red when it ends the reports, or when it is waited for longer than ``max_wait``."""
    limited = refused(429, "too_many_requests", **{"Retry-After": "7"})
    script = Script(report(rotated(1), last(1)), limited, report(rotated(2), last(None)))
    reports, error = await collected(kind, script, signed_by="k1")
    assert error is None
    assert [each.user_group_id for each in reports] == ["g1", "g2"]
    assert pauses == [7]
    assert script.requests[1].content == script.requests[2].content
    script = Script(refused(429, "too_many_requests", **{"Retry-After": "31"}))
    reports, error = await collected(kind, script, signed_by="k1")
    assert isinstance(error, TooManyRequests)
    assert error.retry_after == 31
