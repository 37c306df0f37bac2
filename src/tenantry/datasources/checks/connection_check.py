from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from time import monotonic
from typing import Final

from tenantry.datasources.driver import as_result, unreachable_error
from tenantry.datasources.engines.engine import DriverFactory
from tenantry.datasources.engines.registry import find_engine, host_engines
from tenantry.datasources.open_sources import create_source
from tenantry.datasources.pool.fair_queue import FairQueue
from tenantry.datasources.pool.query_limits import Limits
from tenantry.datasources.url import parse_url
from tenantry.datasources.url_secrets.resolution import Keys, UrlSecrets
from tenantry.errors import DataSourceError
from tenantry.groups import RegisteredSource
from tenantry.sql import SQLTemplate

CHECK_SECONDS: Final = 5.0
"""Default seconds to wait for an answer."""

_AT_ONCE: Final = 16
_QUESTION: Final = SQLTemplate("select 1 as answer")


async def check_connection(
    source: RegisteredSource,
    *,
    keys: Keys = None,
    engines: Mapping[str, DriverFactory] | None = None,
    seconds: float = CHECK_SECONDS,
) -> float:
    """Connect as a query would, run ``select 1`` and return how many seconds that took.

    ``keys``, ``engines``: as for ``DataSources``. Raises SourceUnavailable, SecretUnavailable, QueryTimeout,
    QueryFailed; InvalidSource for an unusable URL or driver, or a source that can read the store's tables.
    """
    begun = monotonic()
    connectable = UrlSecrets(keys).resolve(source).source
    limits = Limits(timeout=seconds, connect_timeout=seconds, pool_size=1)
    opened = create_source(connectable, limits, host_engines(engines or {}))
    bound = _QUESTION.bind({}, opened.paramstyle, dialect=opened.dialect)
    late = False
    try:
        async with asyncio.timeout(seconds):
            await opened.fetch(as_result, bound, FairQueue(source.id, limits).acquire(b""))
    except TimeoutError:
        late = True
    finally:
        if opened.is_running:  # do not wait for the thread, which still waits for the server
            opened.abandon()
        else:
            await opened.aclose()
    if late:
        raise unreachable_error(source.id, TimeoutError(), f": no answer within {seconds:g} s")
    return monotonic() - begun


async def check_connections(
    sources: Iterable[RegisteredSource],
    *,
    keys: Keys = None,
    engines: Mapping[str, DriverFactory] | None = None,
    seconds: float = CHECK_SECONDS,
) -> list[DataSourceError | None]:
    """``check_connection`` for several sources at once. Returns an error or None for each, in order."""
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
