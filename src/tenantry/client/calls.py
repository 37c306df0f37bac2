"""The calls, without I/O: each is a generator that yields what is to be done next and is sent what came of it.

Every call here may be sent again: get-or-create and update by their nature, rotate by its Idempotency-Key. So a lost
connection or a store that is down for a moment is no reason to give up.
"""

from __future__ import annotations

import json
from collections.abc import Generator
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from tenantry.client.result import ProvisionedGroup, read_error, read_group
from tenantry.errors import ApiUnreachable, IdempotencyInFlight, StoreUnavailable, TenantryError

FIRST_PAUSE: Final = 0.1
LONGEST_PAUSE: Final = 5.0
"""Seconds between attempts: doubled each time, or what Retry-After says, never more than this."""


@dataclass(frozen=True, slots=True)
class Ask:
    """Send this request. The body holds secrets, so it is kept out of ``repr``."""

    method: str
    body: bytes = field(repr=False)
    headers: dict[str, str] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True)
class Pause:
    """Wait this many seconds."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back."""

    status: int
    content: bytes = field(repr=False)
    retry_after: str | None = None
    replayed: bool = False


class Lost(Exception):
    """No reply: the connection could not be made or broke. ``reason`` names the kind of failure."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


Call: TypeAlias = Generator[Ask | Pause, Reply | Lost | None, ProvisionedGroup]


def call(ask: Ask, attempts: int) -> Call:
    """One call of ``/api/user`` in at most ``attempts`` requests. Raises the error that the service answered with,
    ApiUnreachable, UnexpectedAnswer."""
    pause = FIRST_PAUSE
    for left in range(attempts - 1, -1, -1):
        reply = yield ask
        outcome = _outcome(reply, attempts)
        if isinstance(outcome, ProvisionedGroup):
            return outcome
        if left == 0 or not isinstance(outcome, ApiUnreachable | StoreUnavailable | IdempotencyInFlight):
            raise outcome
        yield Pause(min(outcome.retry_after or pause, LONGEST_PAUSE))
        pause *= 2
    raise ValueError("attempts must be at least 1")


def _outcome(reply: Reply | Lost | None, attempts: int) -> ProvisionedGroup | TenantryError:
    if not isinstance(reply, Reply):
        reason = reply.reason if reply is not None else "nothing was sent"
        return ApiUnreachable(f"/api/user did not answer in {attempts} attempts: {reason}")
    try:
        document = json.loads(reply.content)
    except ValueError:
        document = None
    if reply.status == 200 and isinstance(document, dict) and document.get("success") == 1:
        return read_group(document, replayed=reply.replayed)
    return read_error(reply.status, document, reply.retry_after)


def body(**fields: Any) -> bytes:
    """A JSON body. Raises ValueError for NaN and infinite numbers, TypeError for what is not JSON."""
    return json.dumps(fields, allow_nan=False, separators=(",", ":")).encode("ascii")
