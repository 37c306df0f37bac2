"""Helpers for your tests: a clock, sample records, contract tests (with pytest) for your implementations of the
ports, and the leak kit, which is also a pytest plugin (``tenantry.testing.leaks``)."""

from __future__ import annotations

import secrets
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from tenantry._lazy import lazy_exports
from tenantry.backends.memory import MemoryStore
from tenantry.groups import Environment, Tag, Token, UserGroup

if TYPE_CHECKING:
    from tenantry.testing.canaries import CanaryGroups, canary_groups
    from tenantry.testing.contract_driver import DriverContract
    from tenantry.testing.contracts.backend import BackendContract, LeaseContract
    from tenantry.testing.contracts.store import StoreContract
    from tenantry.testing.cross_tenant_values import Crossing, LeakFound
    from tenantry.testing.engine_case import EngineCase
    from tenantry.testing.leak_check import Leaks
    from tenantry.testing.requests import Call
    from tenantry.testing.requests import send_request as send_request
else:
    __getattr__, __dir__ = lazy_exports(
        __name__,
        {
            "tenantry.testing.canaries": "CanaryGroups canary_groups",
            "tenantry.testing.contracts.backend": "BackendContract LeaseContract",
            "tenantry.testing.contract_driver": "DriverContract",
            "tenantry.testing.contracts.store": "StoreContract",
            "tenantry.testing.cross_tenant_values": "Crossing LeakFound",
            "tenantry.testing.engine_case": "EngineCase",
            "tenantry.testing.leak_check": "Leaks",
            "tenantry.testing.requests": "Call send_request",
        },
    )

_START = datetime(2026, 1, 1, tzinfo=UTC)


class FrozenClock:
    """A clock whose time changes only when ``advance`` is called. Pass its method ``monotonic`` as a MonotonicClock."""

    def __init__(self, start: datetime = _START) -> None:
        self._start = start
        self._now = start

    def __call__(self) -> datetime:
        return self._now

    def monotonic(self) -> float:
        """Return the seconds since the clock was made."""
        return (self._now - self._start).total_seconds()

    def advance(self, seconds: float) -> None:
        """Move the clock forward."""
        self._now += timedelta(seconds=seconds)


def make_environment(**fields: Any) -> Environment:
    """Make an environment. By default, its id is 1, its name ``production`` and its tag Customer."""
    return Environment(**{"id": 1, "name": "production", "tag": Tag.CUSTOMER, **fields})


def make_group(**fields: Any) -> UserGroup:
    """Make a group. By default, its name is Acme, its handle is random and its token version is 1."""
    defaults: dict[str, Any] = {
        "team_id": 1,
        "provided_id": "acme",
        "name": "Acme",
        "environment": make_environment(),
        "properties": None,
        "mapping": None,
        "handle": secrets.token_bytes(8),
        "token_version": 1,
        "revision": 1,
    }
    return UserGroup(**{**defaults, **fields})


def make_token(group: UserGroup | None = None, **fields: Any) -> Token:
    """Make a token for ``group``, or one with a random handle. By default, the key's id is ``k1`` and the nonce is
    random."""
    defaults: dict[str, Any] = {
        "tag": group.environment.tag if group else Tag.CUSTOMER,
        "key_id": "k1",
        "handle": group.handle if group else secrets.token_bytes(8),
        "version": group.token_version if group else 1,
        "nonce": secrets.token_bytes(16),
    }
    return Token(**{**defaults, **fields})


__all__ = [
    "BackendContract",
    "Call",
    "CanaryGroups",
    "Crossing",
    "DriverContract",
    "EngineCase",
    "FrozenClock",
    "LeakFound",
    "Leaks",
    "LeaseContract",
    "MemoryStore",
    "StoreContract",
    "canary_groups",
    "make_environment",
    "make_group",
    "make_token",
]
