"""What an environment registers beside its groups: the API tokens of its callers, and its data sources."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from tenantry.groups.user_group import Environment, Issued


class Scope(StrEnum):
    """What an API token may be used for."""

    PROVISION = "provision"
    INTROSPECT = "introspect"


@dataclass(frozen=True, slots=True)
class ApiToken:
    """A registered API token; the secret itself is never stored. ``hint`` is the last four characters of the secret, to
    tell tokens apart in a list."""

    id: int
    environment: Environment
    label: str
    scopes: frozenset[Scope]
    hint: str
    created_at: datetime
    revoked_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Caller:
    """A live API token, and the group of its environment that was asked about: None if there is no such group. Both are
    of one moment of the store."""

    api_token: ApiToken
    issued: Issued | None


@dataclass(frozen=True, slots=True)
class RegisteredSource:
    """A data source of one environment: our id (``ds_…``), the caller's own id, and the URL to connect to.

    ``url`` may hold a password, so it is kept out of ``repr``. ``trusted`` lets a dialect run whose read-only mode
    Tenantry cannot enforce.
    """

    id: str
    provided_id: str
    environment: Environment
    url: str = field(repr=False)
    trusted: bool = False
