"""ApiContext: what the endpoints that need an API token share, and how they authenticate a caller."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeAlias

from tenantry.api.request import BODY_SECONDS
from tenantry.errors import Unauthorized
from tenantry.groups import ApiToken, Caller
from tenantry.ports import Store
from tenantry.provisioning import Deadline
from tenantry.tokens import KeyRing, api_token_digest
from tenantry.tracing import set_attribute

STORE_SECONDS: Final = 2.0
"""How long the store may take for one request, over all the calls that it needs."""


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


@dataclass(frozen=True, slots=True)
class ApiContext:
    """The store, the signing keys, how long a client may take for a body and the store for one request, in seconds, and
    the observer of each request.

    An API token is read from the store on every request, so a revoked one is dead at once.
    """

    store: Store
    keys: KeyRing
    body_seconds: float = BODY_SECONDS
    store_seconds: float = STORE_SECONDS
    observer: Observer | None = None

    async def authenticate(self, digest: bytes, deadline: Deadline) -> ApiToken:
        """The record of the API token. Raises Unauthorized, StoreUnavailable."""
        found = await deadline.read(self.store.api_token(digest))
        if found is None:
            raise _unauthorized()
        set_attribute("tenantry.environment", found.environment.name)
        return found

    async def authenticate_with_group(self, digest: bytes, provided_id: str, deadline: Deadline) -> Caller:
        """The same with the group of this id, in one read."""
        found = await deadline.read(self.store.caller(digest, provided_id))
        if found is None:
            raise _unauthorized()
        set_attribute("tenantry.environment", found.api_token.environment.name)
        return found


def digest_of(secret: str) -> bytes:
    """The digest by which the store knows an API token. Raises Unauthorized for what cannot be one: that costs no
    I/O."""
    digest = api_token_digest(secret)
    if digest is None:
        raise _unauthorized()
    return digest


def _unauthorized() -> Unauthorized:
    return Unauthorized("the API token is malformed, unknown or revoked")
