"""AllowedHosts: whose pages may embed the dashboards of one mount, as the store says it now."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from tenantry.cache.slots import monotonic_with_suspend
from tenantry.dashboards.embedding.hosts import check_hosts, is_allowed
from tenantry.dashboards.embedding.known_hosts import Hosts, KnownHosts
from tenantry.errors import EmbeddingNotAllowed
from tenantry.groups import UserGroup
from tenantry.http import SCOPE_KEY
from tenantry.ports import EnvironmentStore, MonotonicClock

HOST_HEADER: Final = "X-Embedding-Origin"
"""The origin of the page that embeds the dashboard, which the dashboard's own script has checked; "null" where a
browser does not say it. A page that is not embedded sends none."""

GroupHosts = Callable[[UserGroup], Sequence[str]]


class AllowedHosts:
    """The hosts of an environment (None: of every one of the store), and of each of its groups.

    ``group_hosts`` gives a group's own list, which narrows its environment's. ``further`` are allowed besides, for
    every group. What the store says is used for ``staleness`` seconds, also while it does not answer.
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
        """Those that a frame is sent with, before its group is known. Raises StoreUnavailable."""
        stored = await self._hosts()
        named = [self._environment] if self._environment is not None else list(stored)
        return tuple(dict.fromkeys([*self._further, *(host for name in named for host in stored.get(name, ()))]))

    async def require(self, origin: str, own: str, group: UserGroup) -> None:
        """Raises EmbeddingNotAllowed unless pages of ``origin`` may embed what this group sees; StoreUnavailable.

        ``own`` is the origin that the dashboard is served from.
        """
        stored = await self._hosts()
        allowed = is_allowed(origin, (*self._further, *stored.get(group.environment.name, ())), own)
        if allowed and self._group_hosts is not None:
            allowed = is_allowed(origin, check_hosts(self._group_hosts(group), "group_hosts"), own)
        if not allowed:
            raise EmbeddingNotAllowed("pages of this origin may not show the dashboards of this user group")

    async def _hosts(self) -> Hosts:
        return {} if self._stored is None else await self._stored.get()


class EmbeddingCheck:
    """ASGI middleware behind UserGroupMiddleware: refuses a group's data to a page that its host may not embed."""

    def __init__(self, app: ASGIApp, *, hosts: AllowedHosts) -> None:
        self.app = app
        self._hosts = hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        group: Any = scope.get(SCOPE_KEY)
        if scope["type"] == "http" and isinstance(group, UserGroup):
            headers = Headers(scope=scope)
            origin = headers.get(HOST_HEADER)
            if origin is not None:
                scheme = origin.partition("://")[0]  # a proxy may have taken TLS off: the host is what counts
                await self._hosts.require(origin, f"{scheme}://{headers.get('host', '')}", group)
        await self.app(scope, receive, send)
