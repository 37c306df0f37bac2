"""A resolver on a store in memory, and how to read what its metrics say."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass

import httpx2
import pytest
from prometheus_client.parser import text_string_to_metric_families
from starlette.types import ASGIApp

from tenantry.backends.memory.store import MemoryStore
from tenantry.groups import Environment, GroupDraft, Tag
from tenantry.provisioning import Provisioner
from tenantry.resolver import Resolver
from tenantry.server.metrics import TimedBackend, metrics_app
from tenantry.tokens import KeyRing, SigningKey

CANARY = "canary-property-value"


async def scrape(app: ASGIApp, **headers: str) -> httpx2.Response:
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://metrics.test") as client:
        return await client.get("/metrics", headers=headers)


def samples(text: str) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    """Value by name and labels."""
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


@dataclass
class Metered:
    """Everything on one store; ``number`` asks for the metrics as Prometheus does. ``now`` has the resolver's time in
    seconds: it moves as a test says, so that no lease ends on a busy machine."""

    store: MemoryStore
    keys: KeyRing
    production: Environment
    provisioner: Provisioner
    timed: TimedBackend
    resolver: Resolver
    now: list[float]

    async def token(self, provided_id: str = "acme") -> str:
        draft = GroupDraft(provided_id, provided_id, {"secret": CANARY})
        return (await self.provisioner.get_or_create(self.production, draft)).token

    async def text(self) -> str:
        return (await scrape(metrics_app(resolver=self.resolver, backend=self.timed))).text

    async def number(self, name: str, **labels: str) -> float:
        return samples(await self.text())[name, tuple(sorted(labels.items()))]


@pytest.fixture
async def metered() -> AsyncIterator[Metered]:
    store = MemoryStore()
    keys = KeyRing([SigningKey("k1", b"k1" * 16)])
    production = await store.environments.create("production", Tag.CUSTOMER)
    timed = TimedBackend(store, label_groups=True, max_groups=2)
    now = [1_000.0]
    resolver = Resolver(timed, keys=keys, clock=lambda: now[0])
    yield Metered(store, keys, production, Provisioner(store, keys), timed, resolver, now)
    await resolver.aclose()
