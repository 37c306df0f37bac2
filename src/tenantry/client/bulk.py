from __future__ import annotations

import json
from collections.abc import AsyncIterable, AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from tenantry.client.answers import ProvisionedGroup, Reply, Reports, read_error, read_group
from tenantry.client.calls import Call, NoReply, RetryLimits, Send, lines_reader, load_json, plain, retrying_call
from tenantry.errors import TenantryError

T = TypeVar("T")

MAX_TOGETHER: Final = 500
"""Maximum number of groups per request."""

BYTES_TOGETHER: Final = 512 * 1024
"""A batch is sent when it reaches this size in bytes."""
# Then the server can keep the reports about the batch in memory.


@dataclass(frozen=True, slots=True)
class BulkReport:
    """The result for one group of a bulk request."""

    number: int
    """The position of the group in the input, from 1."""
    outcome: str
    """``created``, ``updated`` or ``unchanged``, with ``group`` set; or ``failed``, with ``error`` set."""
    group: ProvisionedGroup | None = None
    error: TenantryError | None = None


class LineBatches:
    def __init__(self, limits: RetryLimits, *, replace: bool, dry_run: bool) -> None:
        parameters = {"replace": "true"} if replace else {}
        self._limits = limits
        self._parameters = parameters
        self._dry_run = dry_run
        self._lines: list[bytes] = []
        self._size = 0
        self._before = 0

    def add(self, group: Mapping[str, Any]) -> None:
        """Add a group to the batch. Raises ValueError or TypeError for a value that is not JSON."""
        line = json.dumps(
            {name: plain(value) for name, value in group.items()}, allow_nan=False, separators=(",", ":")
        ).encode("ascii")
        self._lines.append(line)
        self._size += len(line)

    @property
    def full(self) -> bool:
        return len(self._lines) >= MAX_TOGETHER or self._size >= BYTES_TOGETHER

    @property
    def empty(self) -> bool:
        return not self._lines

    def send(self) -> Call[Reports[BulkReport]]:
        body, before = b"".join(line + b"\n" for line in self._lines), self._before
        self._before += len(self._lines)
        self._lines, self._size = [], 0
        headers = {"Content-Type": "application/x-ndjson"}
        send = Send("POST", body, headers, self._dry_run, "/api/users/bulk", self._parameters)
        return _bulk(send, self._limits, before)


def _bulk(send: Send, limits: RetryLimits, before: int) -> Call[Reports[BulkReport]]:
    reports: dict[int, BulkReport] = {}

    def collect(lines: Sequence[bytes], reply: Reply) -> Any:
        for number, text in enumerate(lines, 1):
            line = load_json(text)
            if number == len(lines) and isinstance(line, dict) and "summary" in line:
                return line
            if number == len(lines) and line is None and text.startswith(b"{"):
                break  # a truncated line
            report = _read_report(line, reply, before)
            if report.number not in reports or reports[report.number].error is not None:
                reports[report.number] = report
        return NoReply("the report was cut off")

    error: TenantryError | None = None
    try:
        yield from retrying_call(send, limits, lambda last, _: last["summary"], lines_reader(collect))
    except TenantryError as raised:
        error = raised
    return Reports([reports[number] for number in sorted(reports)], error)


def _read_report(line: Any, reply: Reply, before: int) -> BulkReport:
    number = line["line"] + before
    if line["success"] == 1:
        return BulkReport(number, line["result"], group=read_group(line, reply))
    return BulkReport(number, "failed", error=read_error(reply.status, {"request_id": reply.request_id, **line}, None))


async def each_of(groups: Iterable[T] | AsyncIterable[T]) -> AsyncIterator[T]:
    if isinstance(groups, AsyncIterable):
        async for group in groups:
            yield group
    else:
        for group in groups:
            yield group
