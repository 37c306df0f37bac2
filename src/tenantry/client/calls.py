"""The API calls of both clients, as generators without I/O. After a lost connection or a temporary error, a call sends
its request again. This is safe for all calls."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from importlib import import_module
from math import inf
from typing import Any, Final, Literal, TypeAlias, TypeVar
from urllib.parse import urlencode, urlsplit

from tenantry.client.answers import (
    CreatedPass,
    GroupPage,
    ListedGroup,
    ListedSource,
    ProvisionedGroup,
    Reply,
    SourcePage,
    read_deleted,
    read_error,
    read_group,
    read_page,
    read_pass,
    read_revocation,
    read_source,
    read_sources,
    read_success,
)
from tenantry.errors import (
    ApiUnreachable,
    DataSourceNotFound,
    Draining,
    IdempotencyInFlight,
    OutcomeUnknown,
    StoreUnavailable,
    TenantryError,
    TooManyConnections,
    TooManyRequests,
    UnexpectedAnswer,
    UnknownGroup,
)
from tenantry.groups import UNCHANGED, write_moment

T = TypeVar("T")

GetMethod: TypeAlias = Literal["GET", "QUERY", "POST"]

FIRST_SLEEP: Final = 0.1
"""Seconds before the second attempt, if the response has no Retry-After. Each further pause is twice as long."""
MAX_SLEEP: Final = 5.0
"""The longest pause without Retry-After."""
_SOURCES: Final = "/api/data-sources"


@dataclass(frozen=True, slots=True)
class RetryLimits:
    """``attempts``: maximum number of times that a request is sent. ``max_wait``: maximum seconds that one call waits
    because responses have Retry-After. Raises ValueError."""

    attempts: int
    max_wait: float

    def __post_init__(self) -> None:
        if self.attempts < 1:
            raise ValueError("attempts must be at least 1")
        if not 0 <= self.max_wait < inf:
            raise ValueError("max_wait must be a number of seconds, 0 or above")


# --- one call, with retries -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Send:
    """``repr`` omits body and headers, because they contain secrets."""

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
    """If the connection failed, only the class of the exception, because the exception's message may quote the
    request."""


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


def _is_unknown(reply: Reply | None) -> bool:
    return reply is not None and isinstance(read_error(reply.status, _whole(reply), None), OutcomeUnknown)


_PASSING: Final = (
    ApiUnreachable,
    Draining,
    IdempotencyInFlight,
    StoreUnavailable,
    TooManyConnections,
    TooManyRequests,
)
"""Errors after which a request is sent again even if the response has no Retry-After."""


# --- the requests -----------------------------------------------------------------------------------------------------


class ApiCalls:
    """No ``repr`` and no message contains the API token."""

    def __init__(self, base_url: str, api_token: str, *, limits: RetryLimits, get_method: str) -> None:
        if urlsplit(base_url).scheme not in ("http", "https"):
            raise ValueError("base_url must start with http:// or https://, such as http://127.0.0.1:8000")
        if not api_token or not api_token.isascii() or not api_token.isprintable():
            raise ValueError("api_token must be the string that `tenantry api-token create` printed")
        self.url: str = base_url.rstrip("/")
        self.headers: dict[str, str] = {
            "Authorization": f"Token {api_token}",
            "Content-Type": "application/json",
            "Accept": "application/json",
        }
        self.limits: RetryLimits = limits
        self._get_method = get_method

    @staticmethod
    def library() -> Any:
        try:
            return import_module("httpx2")
        except ModuleNotFoundError:
            missing = "tenantry.client needs httpx2: pip install 'tenantry[http]'"
        raise ModuleNotFoundError(missing, name="httpx2")

    def get_or_create(self, user_group_id: str, *, dry_run: bool, **fields: Any) -> Call[ProvisionedGroup]:
        given = {name: value for name, value in fields.items() if value is not None}
        return self._write(self._get_method, user_group_id, given, dry_run=dry_run)

    def update(self, user_group_id: str, *, dry_run: bool, **fields: Any) -> Call[ProvisionedGroup]:
        return self._write("PUT", user_group_id, fields, dry_run=dry_run)

    def merge(self, user_group_id: str, *, dry_run: bool, **fields: Any) -> Call[ProvisionedGroup]:
        patch = {"Content-Type": "application/merge-patch+json"}
        return self._write("PATCH", user_group_id, fields, patch, dry_run=dry_run)

    def delete(self, user_group_id: str, *, dry_run: bool) -> Call[ListedGroup | None]:
        """The result is None if a retry does not find the group."""
        send = Send("DELETE", dry_run=dry_run, parameters={"user_group_id": user_group_id})
        return _deletion(retrying_call(send, self.limits, read_deleted), UnknownGroup, dry_run=dry_run)

    def rotate(self, current_token: str, idempotency_key: str | None, *, dry_run: bool) -> Call[ProvisionedGroup]:
        key = secrets.token_hex(16) if idempotency_key is None else idempotency_key
        return self._call("POST", {"current_token": current_token}, {"Idempotency-Key": key}, dry_run=dry_run)

    def create_pass(self, user_group_id: str, **fields: Any) -> Call[CreatedPass]:
        given = {name: plain(value) for name, value in fields.items() if value is not None}
        body = json_body({"user_group_id": user_group_id, **given})
        return retrying_call(Send("POST", body, path="/api/user/passes"), self.limits, read_pass)

    def revoke_viewer(self, user_group_id: str, viewer_id: str) -> Call[datetime]:
        body = json_body({"user_group_id": user_group_id, "viewer_id": viewer_id})
        return retrying_call(Send("POST", body, path="/api/user/viewers/revoke"), self.limits, read_revocation)

    def page(self, *, after: int, limit: int, match: str) -> Call[GroupPage]:
        wanted = {
            "limit": str(limit),
            **({"after": str(after)} if after else {}),
            **({"match": match} if match else {}),
        }
        return self._list(wanted)

    def find(self, user_group_id: str) -> Call[GroupPage]:
        return self._list({"user_group_id": user_group_id})

    def sources(self, *, after: str = "", limit: int = 100, name: str = "") -> Call[SourcePage]:
        wanted = {"limit": str(limit), "after": after, "name": name}
        parameters = {key: value for key, value in wanted.items() if value}
        return retrying_call(Send("GET", path=_SOURCES, parameters=parameters), self.limits, read_sources)

    def write_source(self, method: str, name: str, *, dry_run: bool, **fields: Any) -> Call[ListedSource]:
        given = {key: plain(value) for key, value in fields.items() if value is not UNCHANGED}
        send = Send(method, json_body({"name": name, **given}), dry_run=dry_run, path=_SOURCES)
        return retrying_call(send, self.limits, read_source)

    def delete_source(self, name: str, *, force: bool, dry_run: bool) -> Call[ListedSource | None]:
        parameters = {"name": name, **({"force": "true"} if force else {})}
        send = Send("DELETE", dry_run=dry_run, path=_SOURCES, parameters=parameters)
        return _deletion(retrying_call(send, self.limits, read_source), DataSourceNotFound, dry_run=dry_run)

    def _list(self, wanted: dict[str, str]) -> Call[GroupPage]:
        return retrying_call(Send("GET", path="/api/users", parameters=wanted), self.limits, read_page)

    def _write(
        self,
        method: str,
        user_group_id: str,
        fields: Mapping[str, Any],
        headers: dict[str, str] | None = None,
        *,
        dry_run: bool,
    ) -> Call[ProvisionedGroup]:
        given = {name: plain(value) for name, value in fields.items() if value is not UNCHANGED}
        return self._call(method, {"user_group_id": user_group_id, **given}, headers, dry_run=dry_run)

    def _call(
        self, method: str, fields: dict[str, Any], headers: dict[str, str] | None = None, *, dry_run: bool
    ) -> Call[ProvisionedGroup]:
        return retrying_call(Send(method, json_body(fields), headers or {}, dry_run), self.limits, read_group)


def _deletion(call: Call[T], missing: type[TenantryError], *, dry_run: bool) -> Call[T | None]:
    reply, may_be_done = None, False
    while True:
        try:
            step = call.send(reply)
        except StopIteration as done:
            found: T = done.value
            return found
        except missing:
            if may_be_done and not dry_run:
                return None
            raise
        reply = yield step
        may_be_done = may_be_done or isinstance(reply, NoReply) or _is_unknown(reply)


def json_body(fields: Mapping[str, Any]) -> bytes:
    return json.dumps(fields, allow_nan=False, separators=(",", ":")).encode("ascii")


def plain(value: Any) -> Any:
    """Convert the value of a field to JSON. Raises ValueError for a time without a time zone."""
    if isinstance(value, datetime):
        if value.utcoffset() is None:
            raise ValueError("expires_at needs a time zone, such as datetime(2027, 1, 31, tzinfo=UTC)")
        return write_moment(value)
    return dict(value) if isinstance(value, Mapping) else value
