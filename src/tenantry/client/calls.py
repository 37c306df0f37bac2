"""The API calls of both clients, as generators without I/O."""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from math import inf
from typing import Any, Final, Literal, TypeAlias, TypeVar
from urllib.parse import urlencode

from tenantry.client.answers import (
    Reply,
    read_error,
    read_success,
)
from tenantry.errors import (
    ApiUnreachable,
    Draining,
    IdempotencyInFlight,
    StoreUnavailable,
    TenantryError,
    TooManyConnections,
    TooManyRequests,
    UnexpectedAnswer,
)
from tenantry.groups import write_moment

T = TypeVar("T")

GetMethod: TypeAlias = Literal["GET", "QUERY", "POST"]

FIRST_SLEEP: Final = 0.1
"""Seconds before the second attempt, if the response has no Retry-After. Each further pause is twice as long."""
MAX_SLEEP: Final = 5.0
"""The longest pause without Retry-After."""


@dataclass(frozen=True, slots=True)
class RetryLimits:
    """``attempts`` and ``max_wait`` of ``Client``. Raises ValueError for a value out of range."""

    attempts: int
    max_wait: float

    def __post_init__(self) -> None:
        if self.attempts < 1:
            raise ValueError("attempts must be at least 1")
        if not 0 <= self.max_wait < inf:
            raise ValueError("max_wait must be a number of seconds, 0 or greater")


# --- one call, with retries -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Send:
    method: str
    body: bytes = field(default=b"", repr=False)
    headers: dict[str, str] = field(default_factory=dict, repr=False)
    dry_run: bool = False
    path: str = "/api/user"
    parameters: dict[str, str] = field(default_factory=dict)

    @property
    def target(self) -> str:
        named = {**self.parameters, **({"dry_run": "true"} if self.dry_run else {})}
        return f"{self.path}?{urlencode(named)}" if named else self.path


@dataclass(frozen=True, slots=True)
class Sleep:
    seconds: float


@dataclass(frozen=True, slots=True)
class NoReply:
    reason: str
    """Why there is no reply. For a failed connection, this is only the class of the exception, because the exception's
    message may quote the request."""


Call: TypeAlias = Generator[Send | Sleep, Reply | NoReply | None, T]
"""An API call. When the generator yields a Send, send it the reply; when it yields a Sleep, send it None. The generator
returns the result of the call."""

ReadAnswer: TypeAlias = Callable[[Any, Reply], T]
"""Converts the document of a successful response to the result."""


ReadDocument: TypeAlias = Callable[[Reply], Any]
"""Parses the body of a reply. Returns None if the body is not JSON, and NoReply if the body is truncated."""


def load_json(content: bytes) -> Any:
    try:
        return json.loads(content)
    except ValueError:
        return None


def _whole(reply: Reply) -> Any:
    return load_json(reply.content)


def lines_reader(collect: Callable[[Sequence[bytes], Reply], Any]) -> ReadDocument:
    """Return a parser of replies that have a line for each group, then a summary. ``collect`` gets the lines, and
    returns the parsed summary, or NoReply if it is missing."""

    def read(reply: Reply) -> Any:
        if reply.status != 200:
            return load_json(reply.content)
        return read_success(collect, [line for line in reply.content.split(b"\n") if line], reply)

    return read


def retrying_call(
    send: Send,
    limits: RetryLimits,
    read: ReadAnswer[T],
    read_document: ReadDocument = _whole,
    again_after: type[TenantryError] = TenantryError,
) -> Call[T]:
    """Send the request until it succeeds, within ``limits``. It is sent again only after errors of the class
    ``again_after``. If no attempt succeeds, raises the error in the last response, ApiUnreachable if there was no
    response, or UnexpectedAnswer if the response is not from the API."""
    seconds, wait_left = FIRST_SLEEP, limits.max_wait
    for left in range(limits.attempts - 1, -1, -1):
        reply = yield send
        document = read_document(reply) if isinstance(reply, Reply) else reply
        if not isinstance(reply, Reply) or isinstance(document, NoReply):
            reason = document.reason if document is not None else "nothing was sent"
            attempts = limits.attempts - left
            failure: TenantryError = ApiUnreachable(f"/api/user did not answer in {attempts} attempts: {reason}")
        else:
            if reply.status == 200 and isinstance(document, dict) and document.get("success") == 1:
                found = read_success(read, document, reply)
                if send.dry_run and not reply.dry_run:
                    raise UnexpectedAnswer(
                        "the service does not know dry_run and may have written the change: update the service"
                    )
                return found
            failure = read_error(reply.status, document, reply.retry_after)
        wanted = failure.retry_after
        hopeless = (wanted or 0) > wait_left or (wanted is None and not isinstance(failure, _PASSING))
        if left == 0 or hopeless or not isinstance(failure, again_after):
            raise failure
        if wanted is None:
            yield Sleep(min(seconds, MAX_SLEEP))
        else:
            wait_left -= wanted
            yield Sleep(max(wanted, FIRST_SLEEP))
        seconds *= 2
    raise AssertionError("unreachable")


_PASSING: Final = (
    ApiUnreachable,
    Draining,
    IdempotencyInFlight,
    StoreUnavailable,
    TooManyConnections,
    TooManyRequests,
)
"""Errors after which a request is sent again even if the response has no Retry-After."""


def json_body(fields: Mapping[str, Any]) -> bytes:
    return json.dumps(fields, allow_nan=False, separators=(",", ":")).encode("ascii")


def plain(value: Any) -> Any:
    """Convert the value of a field to JSON. Raises ValueError for a time without a time zone."""
    if isinstance(value, datetime):
        if value.utcoffset() is None:
            raise ValueError("expires_at needs a time zone, such as datetime(2027, 1, 31, tzinfo=UTC)")
        return write_moment(value)
    return dict(value) if isinstance(value, Mapping) else value
