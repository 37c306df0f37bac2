"""The calls of ``/api/user``, without I/O: each is a generator that yields what to do next and is sent the reply.

Every call here may be sent again: get-or-create and update by their nature, rotate by its Idempotency-Key. So a lost
connection, or a store that is down for a moment, is tried again.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, TypeAlias
from urllib.parse import urlsplit

from tenantry.errors import ApiUnreachable, IdempotencyInFlight, StoreUnavailable, TenantryError, UnexpectedAnswer
from tenantry.groups import UNCHANGED, Tag, Unchanged

if TYPE_CHECKING:
    import httpx2

FIRST_SLEEP: Final = 0.1
MAX_SLEEP: Final = 5.0
"""Seconds between attempts: doubled each time, or what Retry-After says, never more than this."""


@dataclass(frozen=True, slots=True)
class ProvisionedGroup:
    """A user group as the API returns it (SPEC section 2.1). ``properties`` and ``api_environment_tag`` are None where
    the call does not return them; ``created`` is None but for get_or_create. ``token`` is a secret and not in ``repr``.
    ``dry_run``: nothing was written; a token that would be new is empty then, and the ``team_id`` of a new group is 0.
    """

    team_id: int
    token: str = field(repr=False)
    name: str
    provided_id: str
    properties: dict[str, Any] | None = field(default=None, repr=False)
    api_environment_tag: Tag | None = None
    created: bool | None = None
    replayed: bool = False
    dry_run: bool = False


# --- one call, with retries -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Send:
    """Send this request. The body holds secrets, so it is not in ``repr``. ``dry_run``: nothing is to be written."""

    method: str
    body: bytes = field(repr=False)
    headers: dict[str, str] = field(default_factory=dict, repr=False)
    dry_run: bool = False

    @property
    def query(self) -> str:
        """What follows the address."""
        return "?dry_run=true" if self.dry_run else ""


@dataclass(frozen=True, slots=True)
class Sleep:
    """Wait this many seconds."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Reply:
    """The response to a request."""

    status: int
    content: bytes = field(repr=False)
    retry_after: str | None = None
    replayed: bool = False
    dry_run: bool = False

    @classmethod
    def of(cls, response: httpx2.Response) -> Reply:
        """The parts of an httpx2 response that are read."""
        replayed, dry_run = (response.headers.get(name) == "true" for name in ("idempotency-replayed", "dry-run"))
        return cls(response.status_code, response.content, response.headers.get("retry-after"), replayed, dry_run)


@dataclass(frozen=True, slots=True)
class NoReply:
    """The connection could not be made or broke. ``reason`` is the class of the failure, and not its text, which may
    hold what was sent."""

    reason: str


Call: TypeAlias = Generator[Send | Sleep, Reply | NoReply | None, ProvisionedGroup]
"""Yields what to do next and is sent the reply, or None after a Sleep."""


def retrying_call(send: Send, attempts: int) -> Call:
    """One call of ``/api/user`` in at most ``attempts`` requests. Raises the error that the service answered with,
    ApiUnreachable, UnexpectedAnswer."""
    seconds = FIRST_SLEEP
    for left in range(attempts - 1, -1, -1):
        reply = yield send
        outcome = _outcome(reply, attempts)
        if isinstance(outcome, ProvisionedGroup):
            if send.dry_run and not outcome.dry_run:
                raise UnexpectedAnswer("the service does not know dry_run: it may have done what was to be tried")
            return outcome
        if left == 0 or not isinstance(outcome, ApiUnreachable | StoreUnavailable | IdempotencyInFlight):
            raise outcome
        yield Sleep(min(outcome.retry_after or seconds, MAX_SLEEP))
        seconds *= 2
    raise ValueError("attempts must be at least 1")


def _outcome(reply: Reply | NoReply | None, attempts: int) -> ProvisionedGroup | TenantryError:
    if not isinstance(reply, Reply):
        reason = reply.reason if reply is not None else "nothing was sent"
        return ApiUnreachable(f"/api/user did not answer in {attempts} attempts: {reason}")
    try:
        document = json.loads(reply.content)
    except ValueError:
        document = None
    if reply.status == 200 and isinstance(document, dict) and document.get("success") == 1:
        return read_group(document, replayed=reply.replayed, dry_run=reply.dry_run)
    return read_error(reply.status, document, reply.retry_after)


# --- replies ----------------------------------------------------------------------------------------------------------


def read_group(document: Any, *, replayed: bool, dry_run: bool) -> ProvisionedGroup:
    """Raises UnexpectedAnswer where a field is missing or is of another type. Unknown fields are ignored."""
    try:
        group, tag = document["user_group"], document["user_group"].get("api_environment_tag")
        found = ProvisionedGroup(
            group["team_id"],
            group["token"],
            group["name"],
            group["provided_id"],
            group.get("properties"),
            None if tag is None else Tag(tag),
            document.get("new_user_group"),
            replayed,
            dry_run,
        )
    except (KeyError, TypeError, ValueError, AttributeError):
        found = None
    if found is None or not all(isinstance(text, str) for text in (found.token, found.name, found.provided_id)):
        raise UnexpectedAnswer("the answer is not that of /api/user: is a proxy or another service at this address?")
    return found


def read_error(status: int, document: Any, retry_after: str | None) -> TenantryError:
    """The error class with the code of the answer; an unknown one gives a TenantryError with its code and status."""
    try:
        detail = document["error"]
        code, message, request_id = str(detail["code"]), str(detail["message"]), str(document["request_id"])
        pointer = detail.get("field")
    except (KeyError, TypeError, AttributeError):
        return UnexpectedAnswer(f"HTTP {status} without an error of /api/user: is a proxy at this address?")
    error_class = _CLASSES.get(code, TenantryError)
    message = f"{message} (request {request_id})"
    error = error_class.__new__(error_class, message)  # some constructors need more than a message
    seconds = int(retry_after) if retry_after is not None and retry_after.isascii() and retry_after.isdigit() else None
    TenantryError.__init__(error, message, field=pointer)
    error.code, error.status, error.retry_after = code, status, seconds
    return error


def _subclasses(kind: type[TenantryError]) -> Iterator[type[TenantryError]]:
    yield kind
    for child in kind.__subclasses__():
        yield from _subclasses(child)


_CLASSES = {kind.code: kind for kind in reversed(list(_subclasses(TenantryError))) if "code" in vars(kind)}


# --- the requests -----------------------------------------------------------------------------------------------------


class ApiCalls:
    """Each method of the clients as a Call. ``url`` is of the interface, ``headers`` are sent with every request. The
    API token is in no ``repr`` and no message."""

    def __init__(self, base_url: str, api_token: str, *, attempts: int, get_method: str) -> None:
        if urlsplit(base_url).scheme not in ("http", "https"):
            raise ValueError("base_url must start with http:// or https://, such as http://127.0.0.1:8000")
        if not api_token or not api_token.isascii() or not api_token.isprintable():
            raise ValueError("api_token must be the text that `tenantry api-token create` printed")
        if attempts < 1:
            raise ValueError("attempts must be at least 1")
        self.url: str = base_url.rstrip("/") + "/api/user"
        self.headers: dict[str, str] = {
            "Authorization": f"Token {api_token}",
            "Content-Type": "application/json",
            "Accept": "application/json",
        }
        self._attempts = attempts
        self._get_method = get_method

    @staticmethod
    def library() -> Any:
        """The module httpx2, loaded when a client is made."""
        try:
            return import_module("httpx2")
        except ModuleNotFoundError:
            missing = "tenantry.client needs httpx2: pip install 'tenantry[http]'"
        raise ModuleNotFoundError(missing, name="httpx2")

    def get_or_create(
        self,
        user_group_id: str,
        name: str | None,
        properties: Mapping[str, Any] | None,
        mapping: Mapping[str, str] | None,
        *,
        dry_run: bool,
    ) -> Call:
        """``GET /api/user``, or another method that was chosen for it."""
        fields = {"name": name, "properties": properties, "mapping": mapping}
        given = {field: _plain(value) for field, value in fields.items() if value is not None}
        return self._call(self._get_method, {"user_group_id": user_group_id, **given}, dry_run=dry_run)

    def update(
        self,
        user_group_id: str,
        name: str | Unchanged,
        properties: Mapping[str, Any] | Unchanged | None,
        mapping: Mapping[str, str] | Unchanged | None,
        *,
        dry_run: bool,
    ) -> Call:
        """``PUT /api/user``."""
        fields = {"name": name, "properties": properties, "mapping": mapping}
        given = {field: _plain(value) for field, value in fields.items() if value is not UNCHANGED}
        return self._call("PUT", {"user_group_id": user_group_id, **given}, dry_run=dry_run)

    def rotate(self, current_token: str, idempotency_key: str | None, *, dry_run: bool) -> Call:
        """``POST /api/user`` with ``current_token``."""
        key = secrets.token_hex(16) if idempotency_key is None else idempotency_key
        return self._call("POST", {"current_token": current_token}, {"Idempotency-Key": key}, dry_run=dry_run)

    def _call(
        self, method: str, fields: dict[str, Any], headers: dict[str, str] | None = None, *, dry_run: bool
    ) -> Call:
        """Raises ValueError for NaN and infinite numbers, TypeError for what is not JSON."""
        body = json.dumps(fields, allow_nan=False, separators=(",", ":")).encode("ascii")
        return retrying_call(Send(method, body, headers or {}, dry_run), self._attempts)


def _plain(value: Any) -> Any:
    return dict(value) if isinstance(value, Mapping) else value
