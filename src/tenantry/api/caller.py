"""The caller of an address that needs an API token: looked up on every call, so a revoked token is dead at once."""

from __future__ import annotations

from tenantry.api.visit import Visit
from tenantry.errors import Unauthorized
from tenantry.groups import ApiToken, Caller
from tenantry.ports import Store
from tenantry.provisioning import Deadline
from tenantry.tokens import api_token_digest


class Presented:
    """An API token as somebody shows it. Each look may raise Unauthorized and StoreUnavailable."""

    __slots__ = ("_deadline", "_digest", "_store", "_visit")

    def __init__(self, secret: str, store: Store, deadline: Deadline, visit: Visit) -> None:
        """Raises Unauthorized for what cannot be an API token: that costs no I/O."""
        digest = api_token_digest(secret)
        if digest is None:
            raise _unauthorized()
        self._digest = digest
        self._store = store
        self._deadline = deadline
        self._visit = visit

    async def caller(self) -> ApiToken:
        """Who shows it."""
        found = await self._deadline.read(self._store.api_token(self._digest))
        if found is None:
            raise _unauthorized()
        self._visit.came_from(found.environment.name)
        return found

    async def caller_and_group(self, provided_id: str) -> Caller:
        """The same with the group of this id, in one read."""
        found = await self._deadline.read(self._store.caller(self._digest, provided_id))
        if found is None:
            raise _unauthorized()
        self._visit.came_from(found.api_token.environment.name)
        return found


def _unauthorized() -> Unauthorized:
    return Unauthorized("the API token is malformed, unknown or revoked")
