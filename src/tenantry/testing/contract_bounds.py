"""BoundsContract: limits, timeouts and stops of a Driver. It is a part of DriverContract."""
# ruff: noqa: S101 - a test suite, which is in the package because third parties run it too

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Final

import pytest

from tenantry.datasources import DeclaringDriver
from tenantry.errors import QueryTimeout, SourceUnavailable, TooManyBytes, TooManyRows
from tenantry.testing.engine_case import AskedDriver, EngineCase

_SHORT: Final = 0.5
"""Seconds: the timeout of a query that is stopped by it."""


class BoundsContract:
    """Tests of what a query may cost."""

    def test_rows_are_limited(self, engine: EngineCase) -> None:
        """As many as the limit are given, and one more is refused."""

        async def check(asked: AskedDriver) -> None:
            for limit in (1, 50):
                async with engine.ask(row_limit=limit) as limited:
                    assert len(await limited.result(engine.rows(limit))) == limit
                    error = await limited.error(engine.rows(limit + 1))
                    assert isinstance(error, TooManyRows), repr(error)
                    assert len(await limited.result(engine.rows(limit))) == limit

        run_check(engine, check)

    def test_bytes_are_limited(self, engine: EngineCase) -> None:
        """Half of the limit is given, and what is longer than all of it is refused: in one value, and in many. What an
        engine counts beyond the letters of a text is its own."""

        async def check(asked: AskedDriver) -> None:
            text = engine.types["text"]
            many, one = engine.rows(40, text), f"select {text} as v{engine.from_one_row}"
            assert len(await asked.result(many, v="x" * 1_250)) == 40
            assert len(await asked.result(one, v="x" * 50_000)) == 1
            for template, size in ((many, 2_501), (one, 100_001)):
                error = await asked.error(template, v="x" * size)
                assert isinstance(error, TooManyBytes), repr(error)
            await check_answers(asked, engine)

        run_check(engine, check, max_bytes=100_000)

    def test_a_query_is_stopped_at_its_timeout(self, engine: EngineCase) -> None:
        """It is QueryTimeout, and the only connection has the right rows of the next query."""
        _skip_unless_stopped(engine)

        async def check(asked: AskedDriver) -> None:
            error = await asked.error(engine.slow)
            assert isinstance(error, QueryTimeout), repr(error)
            await check_answers(asked, engine)

        run_check(engine, check, timeout=_SHORT)

    def test_a_query_is_stopped_from_another_thread(self, engine: EngineCase) -> None:
        """Its viewer leaves while it runs: the only connection has the right rows of the next query."""
        _skip_unless_stopped(engine)

        async def check(asked: AskedDriver) -> None:
            for pause in (0.0, _SHORT / 2):
                task = asyncio.create_task(asked.result(engine.slow))
                await asyncio.sleep(pause)
                task.cancel()
                await asyncio.wait([task])
                assert task.cancelled(), f"it ended by itself: slow must run for longer than {engine.patience:g} s"
                await check_answers(asked, engine)

        # The engine's own timeout must not be what ends it.
        run_check(engine, check, timeout=4 * engine.patience)

    def test_it_is_closed_while_queries_run(self, engine: EngineCase) -> None:
        """They are stopped, not waited for."""
        _skip_unless_stopped(engine)

        async def check(asked: AskedDriver) -> None:
            running = [asyncio.create_task(asked.result(engine.slow)) for _ in range(2)]
            await asyncio.sleep(_SHORT / 2)
            await asked.close(engine.patience)
            for outcome in await asyncio.gather(*running, return_exceptions=True):
                assert isinstance(outcome, SourceUnavailable), repr(outcome)

        run_check(engine, check, pool_size=2, timeout=4 * engine.patience)


def run_check(engine: EngineCase, check: Callable[[AskedDriver], Awaitable[None]], **limits: Any) -> None:
    """Runs the check with a driver that has these limits."""

    async def with_driver() -> None:
        async with engine.ask(**limits) as asked:
            await check(asked)

    asyncio.run(with_driver())


async def check_answers(asked: AskedDriver, engine: EngineCase) -> None:
    """The next query has its own rows. Where the timeout is short, one that is slow in itself is asked again."""
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
            raise AssertionError(f"the query before was not stopped: {error!r}") from None
        assert sorted(rows) == [(0,), (1,), (2,)], f"a query has the rows of another: {rows}"
        return


def _skip_unless_stopped(engine: EngineCase) -> None:
    driver = engine.open_driver(engine.limits())
    declared = driver.enforcement if isinstance(driver, DeclaringDriver) else None
    driver.shutdown()
    if declared is not None and not declared.can_stop:
        pytest.skip("the driver declares that it cannot stop a query")
