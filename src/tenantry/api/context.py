"""What endpoints that need an API token share: the ApiContext, the caller's credential, the record of a request."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Final, Self, TypeAlias

from tenantry.api.body import BODY_SECONDS, ClientDisconnected
from tenantry.errors import TenantryError, Unauthorized
from tenantry.groups import ApiToken, Caller
from tenantry.ports import Store
from tenantry.provisioning import Deadline
from tenantry.tokens import KeyRing, api_token_digest
from tenantry.tracing import set_attribute

STORE_SECONDS: Final = 2.0
"""How long the store may take for one request, over all the calls that it needs."""

# --- the record of a request ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class RequestRecord:
    """A request that was answered. ``operation`` is ``get_or_create``, ``update``, ``rotate``, ``introspect``, or
    ``none`` where the request failed before that was known; ``code`` is ``ok`` or that of the error; ``seconds`` is how
    long it took."""

    operation: str
    status: int
    code: str
    seconds: float


Observer: TypeAlias = Callable[[RequestRecord], None]
"""Gets the record of each request that was answered. It must not wait or raise."""


def no_observer(record: RequestRecord) -> None:
    """The default observer, which does nothing."""


class RequestRecorder:
    """``with RequestRecorder(observer) as recorder:`` around all the work of one request. The environment and the
    operation are also attributes of the request's span. It gets names, codes and seconds; never a body or a token."""

    __slots__ = ("_observer", "_operation", "_started")

    def __init__(self, observer: Observer) -> None:
        self._observer = observer
        self._operation = "none"

    def __enter__(self) -> Self:
        self._started = time.monotonic()
        return self

    def set_environment(self, name: str) -> None:
        """The environment of the caller's API token."""
        set_attribute("tenantry.environment", name)

    def set_operation(self, name: str) -> None:
        """What the caller asks for."""
        self._operation = name
        set_attribute("tenantry.operation", name)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._observer is no_observer:
            return
        if error is None:
            status, code = 200, "ok"
        elif isinstance(error, TenantryError):
            status, code = error.status, error.code
        elif isinstance(error, ClientDisconnected) or not isinstance(error, Exception):
            return  # nothing is answered
        else:
            status, code = TenantryError.status, TenantryError.code
        self._observer(RequestRecord(self._operation, status, code, time.monotonic() - self._started))


# --- the context of all requests --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ApiContext:
    """The store, the signing keys, how long a client may take for a body and the store for one request, in seconds, and
    the observer of each request."""

    store: Store
    keys: KeyRing
    body_seconds: float = BODY_SECONDS
    store_seconds: float = STORE_SECONDS
    observer: Observer = no_observer


class ApiTokenCredential:
    """An API token as it was sent. It is read from the store on every request, so a revoked token is dead at once.

    Each method may raise Unauthorized and StoreUnavailable.
    """

    __slots__ = ("_deadline", "_digest", "_recorder", "_store")

    def __init__(self, secret: str, store: Store, deadline: Deadline, recorder: RequestRecorder) -> None:
        """Raises Unauthorized for what cannot be an API token: that costs no I/O."""
        digest = api_token_digest(secret)
        if digest is None:
            raise _unauthorized()
        self._digest = digest
        self._store = store
        self._deadline = deadline
        self._recorder = recorder

    async def authenticate(self) -> ApiToken:
        """The record of the API token."""
        found = await self._deadline.read(self._store.api_token(self._digest))
        if found is None:
            raise _unauthorized()
        self._recorder.set_environment(found.environment.name)
        return found

    async def authenticate_with_group(self, provided_id: str) -> Caller:
        """The same with the group of this id, in one read."""
        found = await self._deadline.read(self._store.caller(self._digest, provided_id))
        if found is None:
            raise _unauthorized()
        self._recorder.set_environment(found.api_token.environment.name)
        return found


def _unauthorized() -> Unauthorized:
    return Unauthorized("the API token is malformed, unknown or revoked")
