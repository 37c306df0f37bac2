# ruff: noqa: S101 - tests, which third parties run too

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

import pytest

from tenantry.datasources import C, DeclaringDriver, Driver
from tenantry.errors import QueryTimeout, SourceUnavailable
from tenantry.testing.engine_case import AskedDriver, EngineCase

SHORT: Final = 0.5
"""A timeout in seconds. ``EngineCase.slow`` is a query that takes longer than this."""


def run_check(engine: EngineCase, check: Callable[[AskedDriver], Awaitable[None]], **limits: Any) -> None:
    async def with_driver() -> None:
        async with engine.ask(**limits) as asked:
            await check(asked)

    asyncio.run(with_driver())


@contextmanager
def connected(driver: Driver[C]) -> Iterator[C]:
    connection = driver.open()
    try:
        yield connection
    finally:
        driver.close(connection)


async def check_answers(asked: AskedDriver, engine: EngineCase) -> None:
    """Run a query, and check that it returns only its rows, not rows of an earlier query."""
    loop = asyncio.get_running_loop()
    until = loop.time() + engine.patience
    while True:
        try:
            rows = await asked.rows(engine.rows(3))
        except QueryTimeout:
            if loop.time() < until:
                continue
            raise
        except SourceUnavailable as error:
            raise AssertionError(f"the previous query was not stopped: {error!r}") from None
        assert sorted(rows) == [(0,), (1,), (2,)], f"a query has the rows of another: {rows}"
        return


def skip_unless_stopped(engine: EngineCase) -> None:
    driver = engine.open_driver(engine.limits())
    declared = driver.enforcement if isinstance(driver, DeclaringDriver) else None
    driver.shutdown()
    if declared is not None and not declared.can_stop:
        pytest.skip("the driver declares that it cannot stop a query")
