# ruff: noqa: S101 - tests, which third parties run too; their SQL has no foreign input

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any

from tenantry.datasources import Driver, StreamLimits
from tenantry.errors import QueryTimeout, SourceUnavailable, TooManyBytes, TooManyRows
from tenantry.testing.contract_checks import SHORT, check_answers, connected, run_check, skip_unless_stopped
from tenantry.testing.engine_case import AskedDriver, EngineCase

_LATE = 3
"""How many times the tests stop a query that has already ended, as the pool may do."""
_ROWS = 70
"""More rows than any engine sends in one chunk."""
_CANCELLED = 16
_STEP = 0.001
"""Queries are cancelled after multiples of this time, in seconds."""


class BoundsContract:
    def test_rows_are_limited(self, engine: EngineCase) -> None:
        async def check(asked: AskedDriver) -> None:
            for limit in (1, 50):
                async with engine.ask(row_limit=limit) as limited:
                    assert len(await limited.result(engine.rows(limit))) == limit
                    error = await limited.error(engine.rows(limit + 1))
                    assert isinstance(error, TooManyRows), repr(error)
                    assert len(await limited.result(engine.rows(limit))) == limit

        run_check(engine, check)

    def test_bytes_are_limited(self, engine: EngineCase) -> None:

        async def check(asked: AskedDriver) -> None:
            text = engine.types["text"]
            many, one = engine.rows(40, text), f"select {text} as v{engine.from_one_row}"
            assert len(await asked.result(many, v="x" * 1_250)) == 40
            assert len(await asked.result(one, v="x" * 50_000)) == 1
            # Sizes between half the limit and the limit are not tested, because engines count differently.
            for template, size in ((many, 2_501), (one, 100_001)):
                error = await asked.error(template, v="x" * size)
                assert isinstance(error, TooManyBytes), repr(error)
            await check_answers(asked, engine)

        run_check(engine, check, max_bytes=100_000)

    def test_rows_of_a_stream_are_limited(self, engine: EngineCase) -> None:
        async def check(asked: AskedDriver) -> None:
            for limit in (1, 50):
                async with engine.ask(row_limit=limit, stream=StreamLimits(row_limit=limit)) as limited:
                    assert len((await limited.streamed(engine.rows(limit))).splitlines()) == 1 + limit
                    error = await limited.stream_error(engine.rows(limit + 1))
                    assert isinstance(error, TooManyRows), repr(error)
                    assert len(await limited.result(engine.rows(limit))) == limit

        run_check(engine, check)

    def test_bytes_of_a_stream_are_limited(self, engine: EngineCase) -> None:
        async def check(asked: AskedDriver) -> None:
            many = engine.rows(40, engine.types["text"])
            assert len(await asked.streamed(many, v="x" * 1_250)) > 40 * 1_250
            error = await asked.stream_error(many, v="x" * 2_501)
            assert isinstance(error, TooManyBytes), repr(error)
            await check_answers(asked, engine)

        run_check(engine, check, max_bytes=100_000, stream=StreamLimits(max_bytes=100_000))

    def test_a_query_is_stopped_at_its_timeout(self, engine: EngineCase) -> None:
        skip_unless_stopped(engine)

        async def check(asked: AskedDriver) -> None:
            error = await asked.error(engine.slow)
            assert isinstance(error, QueryTimeout), repr(error)
            await check_answers(asked, engine)

        run_check(engine, check, timeout=SHORT)

    def test_a_stream_is_stopped_at_its_timeout(self, engine: EngineCase) -> None:
        skip_unless_stopped(engine)

        async def check(asked: AskedDriver) -> None:
            error = await asked.stream_error(engine.slow)
            assert isinstance(error, QueryTimeout), repr(error)
            await check_answers(asked, engine)

        run_check(engine, check, timeout=SHORT)

    def test_a_query_is_stopped_from_another_thread(self, engine: EngineCase) -> None:
        skip_unless_stopped(engine)

        async def check(asked: AskedDriver) -> None:
            for pause in (0.0, SHORT / 2):
                task = asyncio.create_task(asked.result(engine.slow))
                await asyncio.sleep(pause)
                task.cancel()
                await asyncio.wait([task])
                assert task.cancelled(), (
                    f"the query `slow` ended by itself: it must run for longer than {engine.patience:g} s"
                )
                await check_answers(asked, engine)

        # The timeout is so long that only the cancellation can end the query.
        run_check(engine, check, timeout=4 * engine.patience)

    def test_it_is_closed_while_queries_run(self, engine: EngineCase) -> None:
        skip_unless_stopped(engine)

        async def check(asked: AskedDriver) -> None:
            running = [asyncio.create_task(asked.result(engine.slow)) for _ in range(2)]
            await asyncio.sleep(SHORT / 2)
            await asked.close(engine.patience)
            for outcome in await asyncio.gather(*running, return_exceptions=True):
                assert isinstance(outcome, SourceUnavailable), repr(outcome)

        run_check(engine, check, pool_size=2, timeout=4 * engine.patience)

    def test_a_stop_after_the_last_row_stops_nothing(self, engine: EngineCase) -> None:
        driver = engine.open_driver(engine.limits())
        bound = AskedDriver(driver, engine.limits()).bind(engine.rows(3))
        with connected(driver) as other:
            for _ in range(_LATE):
                with connected(driver) as connection:
                    assert len(driver.fetch(connection, bound)) == 3
                    for _ in range(_LATE):
                        driver.interrupt(connection)
                    assert len(driver.fetch(other, bound)) == 3, "stopping one connection stops the query of another"
                with suppress(Exception):  # a closed connection may raise anything
                    driver.interrupt(connection)
            assert len(driver.fetch(other, bound)) == 3
        driver.shutdown()

    def test_queries_are_cancelled_at_any_moment(self, engine: EngineCase) -> None:
        async def check(asked: AskedDriver) -> None:
            template = f"select {engine.types['text']} as v{engine.from_one_row}"
            for number in range(_CANCELLED):
                task = asyncio.create_task(asked.rows(template, v="cancelled"))
                await asyncio.sleep(number * _STEP)
                task.cancel()
                await asyncio.wait([task])
                rows = await asked.rows(template, v=f"value {number}")
                assert rows == [(f"value {number}",)], f"a query has the rows of a cancelled one: {rows}"

        run_check(engine, check)

    def test_connections_are_given_back(self, engine: EngineCase) -> None:
        driver = CountingDriver(engine.open_driver(engine.limits(row_limit=_ROWS)))

        async def run() -> None:
            asked = AskedDriver(driver, engine.limits(row_limit=_ROWS))
            for _ in range(3):
                await asked.result(engine.rows(_ROWS))
                await asked.error(engine.rows(_ROWS + 1))
                await asked.error("select nothing from nowhere_at_all")
                await asked.leave_stream(engine.rows(_ROWS))
                task = asyncio.create_task(asked.result(engine.rows(3)))
                await asyncio.sleep(_STEP)
                task.cancel()
                await asyncio.wait([task])
            await check_answers(asked, engine)
            await asked.close(engine.patience)

        asyncio.run(run())
        assert driver.closed == driver.opened, "a connection is left open, or closed twice"


class CountingDriver:
    def __init__(self, driver: Driver[Any]) -> None:
        self._driver = driver
        self.opened: int = 0
        self.closed: int = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._driver, name)

    def open(self) -> Any:
        connection = self._driver.open()
        self.opened += 1
        return connection

    def close(self, connection: Any) -> None:
        self.closed += 1
        self._driver.close(connection)
