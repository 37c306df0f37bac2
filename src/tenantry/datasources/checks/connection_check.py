from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from time import monotonic
from typing import Final

from tenantry.datasources.driver import as_result, unreachable_error
from tenantry.datasources.engines.engine import DriverFactory
from tenantry.datasources.engines.registry import find_engine, host_engines
from tenantry.datasources.open_sources import create_source
from tenantry.datasources.pool.fair_queue import FairQueue
from tenantry.datasources.pool.query_limits import Limits
from tenantry.datasources.results import Result
from tenantry.datasources.url import parse_url
from tenantry.datasources.url_secrets.resolution import Keys, UrlSecrets
from tenantry.errors import DataSourceError
from tenantry.groups import RegisteredSource
from tenantry.sql import SQLTemplate

CHECK_SECONDS: Final = 5.0
"""Default timeout."""

_AT_ONCE: Final = 16
_QUESTION: Final = SQLTemplate("select 1 as answer")


async def check_connection(
    source: RegisteredSource,
    *,
    keys: Keys = None,
    engines: Mapping[str, DriverFactory] | None = None,
    seconds: float = CHECK_SECONDS,
) -> float:
    """Connect as a query would, check the declaration of guarded tables, and run ``select 1``. Return the total time in
    seconds.

    ``keys``, ``engines``: as for ``DataSources``. Raises:
    - SourceUnavailable if no connection succeeds, or if all this takes longer than ``seconds``;
    - SecretUnavailable if a secret of the URL cannot be read;
    - QueryFailed if the query fails; QueryTimeout if the engine stops it first;
    - InvalidSource for an unusable URL or driver, an incorrect declaration, or a source that can read the store's
      tables.
    """
    begun = monotonic()
    limits = Limits(timeout=seconds, connect_timeout=seconds, pool_size=1)
    async with open_alone(source, limits, keys=keys, engines=engines) as opened:
        await opened.ask(_QUESTION)
    return monotonic() - begun


@dataclass(frozen=True, slots=True)
class LoneSource:
    dialect: str
    ask: Callable[[SQLTemplate], Awaitable[Result]]
    """Runs a template that has no variables."""


@asynccontextmanager
async def open_alone(
    source: RegisteredSource,
    limits: Limits,
    *,
    keys: Keys = None,
    engines: Mapping[str, DriverFactory] | None = None,
) -> AsyncIterator[LoneSource]:
    """Open a source for the ``async with`` block, which may take at most ``limits.timeout`` seconds."""
    connectable = UrlSecrets(keys).resolve(source).source
    pool, queue = create_source(connectable, limits, host_engines(engines or {})), FairQueue(source.id, limits)

    async def ask(template: SQLTemplate) -> Result:
        bound = template.bind({}, pool.paramstyle, dialect=pool.dialect)
        return await pool.fetch(as_result, bound, queue.acquire(b""))

    late = False
    try:
        async with asyncio.timeout(limits.timeout):
            yield LoneSource(pool.dialect, ask)
    except TimeoutError:
        late = True
    finally:
        if pool.is_running:  # do not wait for the thread, because it still waits for the server
            pool.abandon()
        else:
            await pool.aclose()
    if late:
        raise unreachable_error(source.id, TimeoutError(), f" within {limits.timeout:g} s")


async def check_connections(
    sources: Iterable[RegisteredSource],
    *,
    keys: Keys = None,
    engines: Mapping[str, DriverFactory] | None = None,
    seconds: float = CHECK_SECONDS,
) -> list[DataSourceError | None]:
    """Call ``check_connection`` for several sources concurrently. Return an error or None for each, in order."""
    slots, alone, host = asyncio.Semaphore(_AT_ONCE), asyncio.Lock(), host_engines(engines or {})

    async def check(source: RegisteredSource) -> DataSourceError | None:
        try:
            engine = find_engine(parse_url(source.url), host, trusted=source.trusted)
            async with alone if engine.opens_one else slots:
                await check_connection(source, keys=keys, engines=engines, seconds=seconds)
        except DataSourceError as error:
            return error
        return None

    return await asyncio.gather(*map(check, sources))
