"""A hundred viewers, alone and beside ten authors who run queries in the SQL editor without a pause.

On PostgreSQL, with the connections that each has by itself: five for viewers, three for authors. Every viewer is of
another group and asks a query of 20 ms that waits, about each second. Authors run a query of a second that waits, or
one that keeps a processor busy for about as long: through the endpoint of the editor, in the viewers' event loop.
Rounds with and without authors take turns.
"""

from __future__ import annotations

import asyncio
import itertools
import statistics
import tempfile
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import perf_counter

import httpx2
from starlette.applications import Starlette

from benchmarks.harness import engines
from benchmarks.harness.one_source import SCHEMA
from benchmarks.harness.table import Aim, Table
from tenantry import DataSources
from tenantry.backends.memory import MemoryStore
from tenantry.datasources import Limits, Monitoring
from tenantry.editor import EditorAuthor, mount_editor
from tenantry.groups import GroupDraft, SourceDraft, Tag, UserGroup
from tenantry.resolver import Resolver
from tenantry.sql import SQLTemplate
from tenantry.testing import make_token
from tenantry.tokens import KeyRing, SigningKey

VIEWERS, AUTHORS = 100, 10
ROUNDS, SECONDS, PAUSE = 5, 4.0, 1.0
PATIENCE = 600.0
AIM = 1.2
VIEWED = SQLTemplate("select {{ n }}::integer as n, pg_sleep(0.02)::text as slept")
TYPED = {
    "waiting queries": "select pg_sleep(1)::text as slept, {n} as n",
    "CPU-bound queries": "select sum(sqrt(i)) as total, {n} as n from generate_series(1, 4000000) i",
}


@dataclass
class _Case:
    name: str
    typed: str
    alone: list[float] = field(default_factory=list)
    beside: list[float] = field(default_factory=list)
    runs: int = 0


def table() -> Table:
    """Runs it. Raises EngineMissing without PostgreSQL."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        return _report(asyncio.run(_measure(stack.enter_context(engines.postgres()), folder)))


async def _measure(url: str, folder: Path) -> list[_Case]:
    cases = [_Case(name, typed) for name, typed in TYPED.items()]
    async with _site(url, folder) as site:
        await site.viewers(1.0)  # opens the connections
        await site.with_authors(TYPED["waiting queries"], 1.0)
        for case in cases:
            for _ in range(ROUNDS):
                case.alone.append(_p95(await site.viewers(SECONDS)))
                seconds, runs = await site.with_authors(case.typed, SECONDS)
                case.beside.append(_p95(seconds))
                case.runs += runs
    return cases


class _Site:
    def __init__(self, sources: DataSources, client: httpx2.AsyncClient, groups: list[UserGroup]) -> None:
        self._sources = sources
        self._client = client
        self._numbers = itertools.count()
        self._groups = groups

    async def viewers(self, seconds: float) -> list[float]:
        """What each query of the viewers took."""
        end, found = perf_counter() + seconds, list[float]()

        async def view(number: int) -> None:
            await asyncio.sleep(PAUSE * number / VIEWERS)
            while perf_counter() < end:
                begun = perf_counter()
                await self._sources.fetch(self._groups[number], SCHEMA, VIEWED, {"n": next(self._numbers)})
                found.append(perf_counter() - begun)
                await asyncio.sleep(PAUSE)

        await asyncio.gather(*map(view, range(VIEWERS)))
        return found

    async def with_authors(self, typed: str, seconds: float) -> tuple[list[float], int]:
        """The same beside authors, and how many runs they ended."""
        runs = 0

        async def write(number: int) -> None:
            nonlocal runs
            while True:
                body = {
                    "environment": "production",
                    "group": f"g{number}",
                    "path": "queries/a.sql",
                    "text": typed.format(n=next(self._numbers)),
                }
                answer = await self._client.post("/editor/-/run", json=body, headers={"X-Tenantry-Editor": "1"})
                assert '"done"' in answer.text, answer.text
                runs += 1

        authors = [asyncio.create_task(write(number)) for number in range(AUTHORS)]
        found = await self.viewers(seconds)
        for author in authors:
            author.cancel()
        await asyncio.gather(*authors, return_exceptions=True)
        return found, runs


@asynccontextmanager
async def _site(url: str, folder: Path) -> AsyncIterator[_Site]:
    store = MemoryStore()
    environment = await store.environments.create("production", Tag.CUSTOMER)
    await store.sources.create(environment, "ds_1", SourceDraft(SCHEMA, url))
    drafts = (GroupDraft(f"g{number}", f"Group {number}", {}, {SCHEMA: "ds_1"}) for number in range(VIEWERS))
    groups = [(await store.groups.get_or_create(environment, draft, make_token())).group for draft in drafts]
    limits = Limits(timeout=PATIENCE, connect_timeout=PATIENCE)
    sources = DataSources(store, limits=limits, monitoring=Monitoring(slow_seconds=None))
    app = Starlette()
    mount_editor(
        app,
        folder,
        Resolver(store, keys=KeyRing([SigningKey("k1", bytes(32))])),
        sources,
        authors=lambda request: EditorAuthor("ann"),
        limits=replace(limits, pool_size=3),
    )
    transport = httpx2.ASGITransport(app=app)
    async with sources, httpx2.AsyncClient(transport=transport, base_url="http://bench", timeout=PATIENCE) as client:
        yield _Site(sources, client, groups)


def _p95(seconds: list[float]) -> float:
    return statistics.quantiles(seconds, n=20)[-1]


def _report(cases: list[_Case]) -> Table:
    heads = [f"the {AUTHORS} authors run", "viewers alone, p95 ms", "beside authors, p95 ms", "× alone", "runs"]
    result = Table(f"{VIEWERS} viewers beside {AUTHORS} authors of the SQL editor, wall time", heads)
    for case in cases:
        alone, beside = statistics.median(case.alone), statistics.median(case.beside)
        ratio = statistics.median(b / a for a, b in zip(case.alone, case.beside, strict=True))
        result.add(case.name, f"{alone * 1e3:,.1f}", f"{beside * 1e3:,.1f}", f"{ratio:.2f}", str(case.runs))
        if case.name == "waiting queries":
            result.aims.append(Aim(f"viewers' p95 beside {AUTHORS} authors, × alone", ratio, AIM))
    return result
