"""DriverContract: tests for your Driver::

    class TestMyDriver(DriverContract):
        @pytest.fixture
        def engine(self):
            return EngineCase(make_driver=MyDriver, url="mine://user:secret@127.0.0.1/test", …)

The tests need pytest, but no plugin.
"""
# ruff: noqa: S101, S608 - tests, which third parties run too; their SQL has no foreign input

from __future__ import annotations

import asyncio
import logging
import traceback
from collections.abc import Sequence
from contextlib import suppress
from typing import Final

import pytest

from tenantry.errors import (
    NotOneStatement,
    QueryFailed,
    SourceUnavailable,
    UnbindableValue,
)
from tenantry.sql import DIALECTS, PARAMSTYLES
from tenantry.testing.contract_bounds import BoundsContract
from tenantry.testing.contract_checks import check_answers, connected, run_check
from tenantry.testing.contract_types import TypesContract
from tenantry.testing.contract_values import REQUIRED, VALUES
from tenantry.testing.engine_case import AskedDriver, EngineCase

_CANARY: Final = "c4n4ry"
_REFUSALS: Final = (NotOneStatement, QueryFailed)


class DriverContract(TypesContract, BoundsContract):
    """Tests of a Driver."""

    def test_it_says_how_sql_is_bound_for_it(self, engine: EngineCase) -> None:
        driver = engine.open_driver(engine.limits())
        assert driver.source_id == "ds_1", f"source_id is {driver.source_id!r}, not the id of the source"
        assert driver.dialect in DIALECTS, f"dialect is {driver.dialect!r}, not one of {', '.join(DIALECTS)}"
        assert driver.paramstyle in PARAMSTYLES, (
            f"paramstyle is {driver.paramstyle!r}, not one of {', '.join(PARAMSTYLES)}"
        )
        assert not set(engine.types) - set(VALUES), "`types` has a kind that `VALUES` does not have"
        assert set(engine.types) >= REQUIRED, "`types` must have `text` and `integer`"
        driver.shutdown()

    def test_what_writes_is_refused(self, engine: EngineCase) -> None:
        async def check(asked: AskedDriver) -> None:
            before = await asked.rows(engine.unchanged)
            for write in engine.writes:
                texts = (write, f"select 1 as v{engine.from_one_row}; {write}")
                errors = {text: await asked.error(text) for text in texts}
                async with engine.ask() as other:
                    assert await other.rows(engine.unchanged) == before, (
                        f"the driver must refuse this write, but it was done: {write}"
                    )
                for text, error in errors.items():
                    assert isinstance(error, _REFUSALS), f"{text}: {error!r}"

        assert engine.writes, "`writes` is empty, so nothing was tried"
        run_check(engine, check)

    def test_one_statement_only(self, engine: EngineCase) -> None:
        async def check(asked: AskedDriver) -> None:
            one = f"select 'a;b' as v{engine.from_one_row}"
            assert await asked.rows(one) == [("a;b",)], "a semicolon in a string is lost"
            error = await asked.error(f"{one}; {one}")
            assert isinstance(error, _REFUSALS), repr(error)

        run_check(engine, check)

    def test_a_session_keeps_nothing(self, engine: EngineCase) -> None:

        async def check(asked: AskedDriver) -> None:
            for statement, shown_by in engine.settings.items():
                before = await asked.rows(shown_by)
                with suppress(*_REFUSALS):
                    await asked.rows(statement)
                assert await asked.rows(shown_by) == before, (
                    f"the next query on the connection sees a setting of this one: {statement}"
                )
                error = await asked.error(engine.writes[0])
                assert isinstance(error, _REFUSALS), f"after {statement}: {error!r}"

        run_check(engine, check)

    def test_connections_do_not_mix_their_answers(self, engine: EngineCase) -> None:
        async def check(asked: AskedDriver) -> None:
            template = f"select {engine.types['text']} as v{engine.from_one_row}"
            answers = await asyncio.gather(*(asked.rows(template, v=f"value {number}") for number in range(12)))
            for number, rows in enumerate(answers):
                assert rows == [(f"value {number}",)], f"a query has the rows of another: {rows}"

        run_check(engine, check, pool_size=4)

    def test_an_error_shows_nothing(self, engine: EngineCase, caplog: pytest.LogCaptureFixture) -> None:
        async def check(asked: AskedDriver) -> None:
            seen = [repr(asked.driver)]
            for template in (
                f"select {_CANARY}_column as v from {_CANARY}_table where 1 = {{{{ params.v }}}}",
                f"select {_CANARY}_function({{{{ params.v }}}}, '{_CANARY}') as v{engine.from_one_row}",
                f"select {{{{ params.v }}}} as v from where '{_CANARY}' {_CANARY}",
                *engine.refused,
            ):
                for refuse in (asked.error, asked.stream_error):
                    error = await refuse(template, v=_CANARY)
                    assert isinstance(error, (*_REFUSALS, UnbindableValue)), f"{template}: {error!r}"
                    seen += _texts(error)
                await check_answers(asked, engine)
            _check_hidden(engine, [*seen, caplog.text])

        with caplog.at_level(logging.INFO):
            run_check(engine, check)

    def test_a_source_that_is_away_shows_nothing(self, engine: EngineCase, caplog: pytest.LogCaptureFixture) -> None:
        if engine.unreachable_url is None:
            pytest.skip("engine.unreachable_url is None")

        async def check() -> None:
            async with engine.ask(url=engine.unreachable_url, connect_timeout=2.0) as asked:
                error = await asked.error(engine.rows(1))
                assert isinstance(error, SourceUnavailable), repr(error)
                _check_hidden(engine, [*_texts(error), caplog.text])

        with caplog.at_level(logging.INFO):
            asyncio.run(check())

    def test_closing_one_connection_leaves_the_others(self, engine: EngineCase) -> None:
        for _ in range(2):
            driver = engine.open_driver(engine.limits())
            bound = AskedDriver(driver, engine.limits()).bind(engine.rows(1))
            with connected(driver) as second:
                with connected(driver) as first:
                    assert len(driver.fetch(first, bound)) == 1
                assert len(driver.fetch(second, bound)) == 1
            driver.shutdown()


def _texts(error: BaseException | None) -> list[str]:
    texts: list[str] = []
    while error is not None:
        texts += [str(error), repr(error), *traceback.format_exception_only(error)]
        error = error.__cause__ or error.__context__
    return texts


def _check_hidden(engine: EngineCase, seen: Sequence[str]) -> None:
    for word in (_CANARY, *engine.passwords()):
        for text in seen:
            assert word not in text, f"a value, the engine's message or a password is shown: {text}"
