from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from tenantry.clock import monotonic_with_suspend
from tenantry.dashboards.embedding.frame_ancestors import check_hosts, is_allowed
from tenantry.errors import EmbeddingNotAllowed
from tenantry.groups import UserGroup
from tenantry.http import SCOPE_KEY
from tenantry.ports import EnvironmentStore, MonotonicClock
from tenantry.resolver import SingleFlight

Hosts: TypeAlias = Mapping[str, tuple[str, ...]]
"""Origins that may embed dashboards, by the name of their environment."""

_RENEWALS: Final = 5
"""How many times the hosts are read again within ``staleness`` seconds, so that a short outage of the store has no
effect."""


class KnownHosts:
    """The hosts in the store, cached for ``staleness`` seconds."""

    # The hosts are read again before they expire. Callers share a read, unless it takes longer than `staleness`.

    def __init__(self, environments: EnvironmentStore, *, staleness: float, clock: MonotonicClock) -> None:
        self._environments = environments
        self._staleness = staleness
        self._clock = clock
        self._hosts: Hosts = {}
        self._until = self._asked = float("-inf")
        self._flight: SingleFlight[Hosts] | None = None

    async def get(self) -> Hosts:
        now = self._clock()
        if now < self._until:
            if now >= self._asked + self._staleness / _RENEWALS:
                self._request(now)
            return self._hosts
        return await self._request(now).join()

    def _request(self, now: float) -> SingleFlight[Hosts]:
        loop, flight = asyncio.get_running_loop(), self._flight
        is_good = flight is not None and not flight.task.done() and flight.task.get_loop() is loop
        if flight is None or not is_good or now >= self._asked + self._staleness:
            self._asked = now
            flight = self._flight = SingleFlight(loop)
            flight.task = loop.create_task(self._ask(flight, now), name="tenantry.hosts")
        return flight

    async def _ask(self, flight: SingleFlight[Hosts], asked: float) -> None:
        with flight:
            hosts = await self._environments.embedding_hosts()
            if asked + self._staleness > self._until:  # a later request may have been answered first
                self._hosts, self._until = hosts, asked + self._staleness
            flight.set_result(hosts)


HOST_HEADER: Final = "X-Embedding-Origin"
"""Request header with the origin of the embedding page. The dashboard's script sends it. The value is "null" if the
browser hides the origin. The header is absent if the page is not embedded."""

GroupHosts = Callable[[UserGroup], Sequence[str]]


class AllowedHosts:
    """The hosts whose pages may embed the dashboards: the hosts in the store and in ``further``.

    ``environment``: a frame allows only the stored hosts of this environment; if None, those of all environments.
    """

    def __init__(
        self,
        environments: EnvironmentStore | None,
        environment: str | None,
        *,
        group_hosts: GroupHosts | None = None,
        further: Sequence[str] = (),
        staleness: float = 5.0,
        clock: MonotonicClock = monotonic_with_suspend,
    ) -> None:
        self._stored = None if environments is None else KnownHosts(environments, staleness=staleness, clock=clock)
        self._environment = environment
        self._group_hosts = group_hosts
        self._further = tuple(host for host in check_hosts(further) if host != "'none'")

    async def of_frame(self) -> tuple[str, ...]:
        """The hosts that a frame allows before its group is known. Raises StoreUnavailable."""
        stored = await self._hosts()
        named = [self._environment] if self._environment is not None else list(stored)
        return tuple(dict.fromkeys([*self._further, *(host for name in named for host in stored.get(name, ()))]))

    async def require(self, origin: str, own: str, group: UserGroup) -> None:
        """Raise EmbeddingNotAllowed unless a page of ``origin`` may embed this group's data. ``own``: the dashboard's
        origin, which is allowed if ``'self'`` is allowed. Raises StoreUnavailable."""
        stored = await self._hosts()
        allowed = is_allowed(origin, (*self._further, *stored.get(group.environment.name, ())), own)
        if allowed and self._group_hosts is not None:
            allowed = is_allowed(origin, check_hosts(self._group_hosts(group), "group_hosts"), own)
        if not allowed:
            raise EmbeddingNotAllowed(
                "pages on this origin may not show the dashboards of this user group: ask the operator of the "
                "dashboards to allow the origin"
            )

    async def _hosts(self) -> Hosts:
        return {} if self._stored is None else await self._stored.get()


class EmbeddingCheck:
    def __init__(self, app: ASGIApp, *, hosts: AllowedHosts) -> None:
        self.app = app
        self._hosts = hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        group: Any = scope.get(SCOPE_KEY)
        if scope["type"] == "http" and isinstance(group, UserGroup):
            headers = Headers(scope=scope)
            origin = headers.get(HOST_HEADER)
            if origin is not None:
                scheme = origin.partition("://")[0]  # a proxy may have decrypted TLS, so compare only the host
                await self._hosts.require(origin, f"{scheme}://{headers.get('host', '')}", group)
        await self.app(scope, receive, send)
