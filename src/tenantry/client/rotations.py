from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from tenantry.client.answers import ProvisionedGroup, Reply, read_error, read_group, read_success
from tenantry.client.calls import Call, NoReply, RetryLimits, Send, json_body, load_json, retrying_call
from tenantry.errors import TenantryError, TooManyRequests

MOST_TOGETHER: Final = 500
"""Maximum groups per request."""


@dataclass(frozen=True, slots=True)
class RotationReport:
    """The result for one group. ``group`` has the new token. If there is an ``error``, the group keeps its token."""

    user_group_id: str
    team_id: int
    group: ProvisionedGroup | None = None
    error: TenantryError | None = None


@dataclass(frozen=True, slots=True)
class RotationAnswer:
    reports: list[RotationReport]
    next: int | None = None
    """The value of ``after`` for the next request; None after the last group."""
    error: TenantryError | None = None
    """The error that ended the request."""


def rotate_part(limits: RetryLimits, signed_by: str | None, after: int, *, dry_run: bool) -> Call[RotationAnswer]:
    """Rotate the next groups. A request is sent again only after a 429, because it has then rotated nothing. After any
    other error, a second request would rotate other groups, or the same groups twice."""
    which: dict[str, Any] = {"all": True} if signed_by is None else {"signed_by": signed_by}
    body = json_body({**which, "after": after, "limit": MOST_TOGETHER})
    send = Send("POST", body, dry_run=dry_run, path="/api/users/rotate")
    reports: list[RotationReport] = []

    def read_lines(reply: Reply) -> Any:
        if reply.status != 200:
            return load_json(reply.content)
        return read_success(collect, [line for line in reply.content.split(b"\n") if line], reply)

    def collect(lines: list[bytes], reply: Reply) -> Any:
        for text in lines:
            line = load_json(text)
            if line is None:
                break  # a truncated line
            if "summary" in line:
                return line
            reports.append(_read_report(line, reply))
        return NoReply("the report was cut off")

    try:
        following = yield from retrying_call(send, limits, lambda last, _: last["next"], read_lines, TooManyRequests)
    except TenantryError as raised:
        return RotationAnswer(reports, error=raised)
    return RotationAnswer(reports, following)


def _read_report(line: Any, reply: Reply) -> RotationReport:
    if line["success"] == 1:
        group = read_group(line, reply)
        return RotationReport(group.provided_id, group.team_id, group)
    error = read_error(reply.status, {"request_id": reply.request_id, **line}, None)
    return RotationReport(line["user_group_id"], line["team_id"], error=error)


def read_rotations(answer: RotationAnswer) -> Iterator[RotationReport]:
    yield from answer.reports
    if answer.error is not None:
        raise answer.error
