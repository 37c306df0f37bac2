from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from tenantry.client.answers import ProvisionedGroup, Reply, Reports, read_error, read_group
from tenantry.client.calls import Call, NoReply, RetryLimits, Send, json_body, lines_reader, load_json, retrying_call
from tenantry.errors import TenantryError, TooManyRequests

MAX_TOGETHER: Final = 500
"""Maximum number of groups per request."""


@dataclass(frozen=True, slots=True)
class RotationReport:
    """The result of the rotation of one group. ``group`` has the new token. If there is an ``error``, the group keeps
    its token."""

    user_group_id: str
    team_id: int
    group: ProvisionedGroup | None = None
    error: TenantryError | None = None


@dataclass(frozen=True, slots=True)
class RotationReports(Reports[RotationReport]):
    next: int | None = None
    """The value of ``after`` for the next request; None after the last group."""


def rotate_part(limits: RetryLimits, signed_by: str | None, after: int, *, dry_run: bool) -> Call[RotationReports]:
    """Rotate the tokens of the next groups after ``after``."""
    which: dict[str, Any] = {"all": True} if signed_by is None else {"signed_by": signed_by}
    body = json_body({**which, "after": after, "limit": MAX_TOGETHER})
    send = Send("POST", body, dry_run=dry_run, path="/api/users/rotate")
    reports: list[RotationReport] = []

    def collect(lines: Sequence[bytes], reply: Reply) -> Any:
        for text in lines:
            line = load_json(text)
            if line is None:
                break  # a truncated line
            if "summary" in line:
                return line
            reports.append(_read_report(line, reply))
        return NoReply("the report was cut off")

    read = lines_reader(collect)
    try:
        # After a 429, nothing has been rotated. After any other error, a second request would rotate other groups, or
        # the same groups twice.
        following = yield from retrying_call(send, limits, lambda last, _: last["next"], read, TooManyRequests)
    except TenantryError as raised:
        return RotationReports(reports, error=raised)
    return RotationReports(reports, next=following)


def _read_report(line: Any, reply: Reply) -> RotationReport:
    if line["success"] == 1:
        group = read_group(line, reply)
        return RotationReport(group.provided_id, group.team_id, group)
    error = read_error(reply.status, {"request_id": reply.request_id, **line}, None)
    return RotationReport(line["user_group_id"], line["team_id"], error=error)
