"""Caller: who asks, and the group that the question names."""

from __future__ import annotations

from dataclasses import dataclass

from tenantry.groups.api_token import ApiToken
from tenantry.groups.group import Issued


@dataclass(frozen=True, slots=True)
class Caller:
    """A live API token, and the group of its environment that was asked about: None if there is no such group. Both are
    of one moment of the store."""

    api_token: ApiToken
    issued: Issued | None
