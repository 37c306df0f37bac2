"""ApiToken: the record of a secret that lets a caller use ``/api/user``; the secret itself is never kept."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from tenantry.groups.environment import Environment


class Scope(StrEnum):
    """What an API token may be used for."""

    PROVISION = "provision"
    INTROSPECT = "introspect"


@dataclass(frozen=True, slots=True)
class ApiToken:
    """A registered API token. ``hint`` is the last four characters of the secret, to tell tokens apart in a list."""

    id: int
    environment: Environment
    label: str
    scopes: frozenset[Scope]
    hint: str
    created_at: datetime
    revoked_at: datetime | None = None
