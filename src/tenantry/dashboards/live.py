"""What an answer that stays open waits for: the end of its token, and rows that have changed.

A request is checked when it begins, and an answer for panels may be open for hours. So while it is, its token is looked
at again and again: it ends within the staleness bound of the resolver, as a websocket does.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import suppress
from typing import Final

from starlette.types import ASGIApp, Receive, Scope, Send

from tenantry.datasources import DataSources
from tenantry.errors import AmbiguousToken, InvalidToken, OriginNotAllowed, StoreUnavailable, TenantryError
from tenantry.groups import UserGroup
from tenantry.middleware import header
from tenantry.middleware.extraction import create_extractor
from tenantry.middleware.middleware import TokenResolver, with_staleness
from tenantry.ports import MonotonicClock
from tenantry.slots import monotonic_with_suspend

_SIGN_SECONDS: Final = 30.0
"""Proxies close a connection on which nothing comes for a minute."""
_OPEN_SECONDS: Final = 900.0
_WATCH_KEY: Final = "tenantry.token_watch"
_INTERVAL: Final = 0.5
"""Seconds between two looks at most: a look is a dict lookup."""


class TokenWatch:
    """The token of one request, which nothing shows. ``resolver`` says whether it is still good."""

    __slots__ = ("_clock", "_raw", "_resolver")

    def __init__(self, resolver: TokenResolver, raw: bytes, clock: MonotonicClock = monotonic_with_suspend) -> None:
        self._resolver = with_staleness(resolver)
        self._raw = raw
        self._clock = clock

    async def wait_ended(self) -> None:
        """Returns when the token is no longer good, or when nobody could say so for as long as the staleness bound."""
        staleness = self._resolver.staleness
        interval = min(_INTERVAL, staleness / 5)
        known = self._clock()
        while self._clock() - known < staleness:
            await asyncio.sleep(interval)
            began = self._clock()
            if self._resolver.peek(self._raw) is None:
                try:
                    async with asyncio.timeout(staleness):
                        await self._resolver.resolve(self._raw)
                except InvalidToken:
                    return
                except (StoreUnavailable, TimeoutError):
                    continue
            known = began


class WatchToken:
    """ASGI middleware before UserGroupMiddleware, which takes the token out: it keeps a TokenWatch for the view."""

    def __init__(self, app: ASGIApp, *, resolver: TokenResolver) -> None:
        self.app = app
        self._resolver = resolver
        self._extract = create_extractor(header())

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            try:
                raw = self._extract({**scope, "headers": [*scope["headers"]]})
            except (AmbiguousToken, OriginNotAllowed):  # the next one refuses it
                raw = None
            scope[_WATCH_KEY] = None if raw is None else TokenWatch(self._resolver, raw)
        await self.app(scope, receive, send)


def token_watch(scope: Scope) -> TokenWatch | None:
    """That of a request; None where a middleware further out has taken the token."""
    found: TokenWatch | None = scope.get(_WATCH_KEY)
    return found


class ChangedPanels:
    """``async with ChangedPanels(sources, group, {"1-1": "main"}) as changes: async for ids in changes: …``: the panels
    whose data source the program has reported as changed, by ``DataSources.changed`` in this process.

    Nothing is in a list after half a minute without one. It ends after a quarter of an hour: a page asks again then, of
    a process that may be a newer one."""

    def __init__(self, sources: DataSources, group: UserGroup, schemas: dict[str, str]) -> None:
        self._sources = sources
        self._group = group
        self._schemas = schemas
        self._clock = monotonic_with_suspend
        self._panels: dict[str, list[str]] = {}
        self._changed: set[str] = set()
        self._event = asyncio.Event()

    async def __aenter__(self) -> ChangedPanels:
        self._sources.listeners.add(self._note_change)
        for schema in set(self._schemas.values()):
            try:
                source = (await self._sources.registered(self._group, schema)).id
            except TenantryError:  # its panels say why they have no rows
                continue
            self._panels.setdefault(source, []).extend(self._of_schema(schema))
        return self

    async def __aexit__(self, *_: object) -> None:
        self._sources.listeners.discard(self._note_change)

    async def __aiter__(self) -> AsyncIterator[list[str]]:
        ends = self._clock() + _OPEN_SECONDS
        while self._clock() < ends:
            with suppress(TimeoutError):
                async with asyncio.timeout(_SIGN_SECONDS):
                    await self._event.wait()
            self._event.clear()
            found, self._changed = self._changed, set()
            yield sorted(found)

    def _of_schema(self, schema: str) -> Iterable[str]:
        return (panel for panel, asked in self._schemas.items() if asked == schema)

    def _note_change(self, source_id: str) -> None:
        found = self._panels.get(source_id, ())
        self._changed.update(found)
        if found:
            self._event.set()
