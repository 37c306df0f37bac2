"""Environment: a named fence around groups, data sources and API tokens."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Tag(StrEnum):
    """The two values of ``api_environment_tag`` (SPEC section 2.1)."""

    CUSTOMER = "Customer"
    TESTING = "Testing"


@dataclass(frozen=True, slots=True)
class Environment:
    """A fence: nothing of one environment resolves, reads or routes in another.

    ``id`` is the store's own number. With ``external_data_sources`` the mapping of a group is not checked against the
    registered data sources, for apps that route queries themselves. ``grace_seconds`` is the grace of an old token
    after a rotation that names none of its own; 0: it dies at once.
    """

    id: int
    name: str
    tag: Tag
    external_data_sources: bool = False
    grace_seconds: int = 0
