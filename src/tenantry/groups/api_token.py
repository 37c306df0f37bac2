from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final

from tenantry.groups.user_group import Environment, Issued


class Scope(StrEnum):
    """A permission of an API token; ``provision`` includes ``provision:read`` and ``provision:write``."""

    PROVISION = "provision"
    PROVISION_READ = "provision:read"
    PROVISION_WRITE = "provision:write"
    INTROSPECT = "introspect"
    PREVIEW = "preview"
    PASSES = "passes"
    SOURCES = "sources"


_CONTAINED_IN: Final = {Scope.PROVISION_READ: Scope.PROVISION, Scope.PROVISION_WRITE: Scope.PROVISION}


@dataclass(frozen=True, slots=True)
class ApiToken:
    """An API token without its secret."""

    id: int
    environment: Environment
    label: str
    scopes: frozenset[Scope]
    hint: str
    """The last four characters of the secret."""
    created_at: datetime
    revoked_at: datetime | None = None
    expires_at: datetime | None = None
    """From this time on, the token is refused."""
    last_used_at: datetime | None = None
    """Updated at most once an hour."""

    def allows(self, scope: Scope) -> bool:
        """Whether the token has this scope or one that includes it."""
        return scope in self.scopes or _CONTAINED_IN.get(scope) in self.scopes


@dataclass(frozen=True, slots=True)
class RevokedApiToken:
    """The result of revoking an API token."""

    api_token: ApiToken
    ended: int
    """Number of live single-use codes and sessions that were deleted with the token. 0 if it was already revoked."""


@dataclass(frozen=True, slots=True)
class Caller:
    """The API token of a request, and the group that the request asks for, both from one snapshot of the store."""

    api_token: ApiToken
    """The token. It is live."""
    issued: Issued | None
    """The group, or None if it does not exist."""
