"""A resolver behind ``__getattr__``, as tracing libraries wrap objects, keeps its parts.

Broken once: ``isinstance`` of a runtime-checkable Protocol in place of ``hasattr`` (red on Python 3.12 and later)."""

from __future__ import annotations

from typing import Any

from tenantry.middleware.middleware import UserGroupMiddleware, with_staleness
from tenantry.resolver import Resolver
from tenantry.testing import MemoryStore
from tests.resolver.fake import KEYS


class Wrapper:
    def __init__(self, inner: Any) -> None:
        self._inner = inner

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


async def nothing(*_: object) -> None: ...


async def test_a_wrapped_resolver_keeps_its_staleness_bound() -> None:
    wrapped: Any = Wrapper(Resolver(MemoryStore(), keys=KEYS, staleness=0.5))
    assert with_staleness(wrapped).staleness == 0.5


async def test_a_wrapped_resolver_still_sends_counted_usage() -> None:
    wrapped: Any = Wrapper(Resolver(MemoryStore(), keys=KEYS))
    assert UserGroupMiddleware(nothing, resolver=wrapped)._flush_usage == wrapped.flush_usage
