"""KnownHosts: the hosts of the store, which many frames read and few questions bring."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Final, TypeAlias

from tenantry.ports import EnvironmentStore, MonotonicClock
from tenantry.resolver import SingleFlight

Hosts: TypeAlias = Mapping[str, tuple[str, ...]]
"""The origins of each environment, by its name."""

_RENEWALS: Final = 5
"""In a staleness bound, as a resolver polls: an outage that is shorter than the rest of it is not noticed."""


class KnownHosts:
    """Used under a lease, as cached groups are: for ``staleness`` seconds from the question that brought them. It is
    renewed before it ends, while nobody waits; who comes after its end waits for one question, which all share."""

    def __init__(self, environments: EnvironmentStore, *, staleness: float, clock: MonotonicClock) -> None:
        self._environments = environments
        self._staleness = staleness
        self._clock = clock
        self._hosts: Hosts = {}
        self._until = self._asked = float("-inf")
        self._flight: SingleFlight[Hosts] | None = None

    async def get(self) -> Hosts:
        """The hosts, no older than the bound. Raises StoreUnavailable once the lease has ended and the store does not
        answer: whose pages may embed is not known then, so nobody's may."""
        now = self._clock()
        if now < self._until:
            if now >= self._asked + self._staleness / _RENEWALS:
                self._question(now)
            return self._hosts
        return await self._question(now).join()

    def _question(self, now: float) -> SingleFlight[Hosts]:
        """The one under way on this loop, unless it is as old as a lease: its answer could be older than the bound."""
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
            if asked + self._staleness > self._until:  # a later question may have been answered before
                self._hosts, self._until = hosts, asked + self._staleness
            flight.set_result(hosts)
