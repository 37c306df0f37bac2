"""The part of DriverContract about limits of rows, bytes and time."""
# ruff: noqa: S101 - tests, which third parties run too; their SQL has no foreign input

from __future__ import annotations

from tenantry.datasources import StreamLimits
from tenantry.errors import QueryTimeout, TooManyBytes, TooManyRows
from tenantry.testing.contract_checks import SHORT, check_answers, run_check, skip_unless_stopped
from tenantry.testing.engine_case import AskedDriver, EngineCase


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
        """Half of the limit must pass, more than the limit must fail. In between engines count differently."""

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
