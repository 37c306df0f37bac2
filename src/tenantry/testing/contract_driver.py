"""DriverContract: what every Driver guarantees, as tests to run over your own.

    class TestMyDriver(DriverContract):
        @pytest.fixture
        def engine(self):
            return EngineCase(make_driver=MyDriver, url="mine://user:secret@127.0.0.1/test", …)

EngineCase says what the contract cannot know of an engine. The tests need pytest and nothing else.
"""
# ruff: noqa: S101, S608 - a test suite, which is in the package because third parties run it too; its SQL is its own

from __future__ import annotations

import asyncio
import logging
import traceback
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any, Final
from uuid import UUID

import pytest

from tenantry.datasources.driver import StreamingDriver
from tenantry.errors import (
    NotOneStatement,
    QueryFailed,
    SourceUnavailable,
    UnbindableValue,
)
from tenantry.sql import DIALECTS, PARAMSTYLES
from tenantry.testing.contract_bounds import BoundsContract, check_answers, run_check
from tenantry.testing.engine_case import AskedDriver, EngineCase

_NOON: Final = datetime(2026, 1, 31, 12, 0, 0, 5)  # noqa: DTZ001  # a clock time is meant

VALUES: Final[Mapping[str, Sequence[Any]]] = {
    "text": (
        "",
        " a ",
        "' or 1 = 1 -- ",
        '"`\\',
        "\\' or 1 = 1 -- ",
        "%s %% %(a)s :a $1 ? ?1 @a {a} {a:Int8}",
        "e\u0301 \u00e9 \u00df \u0130 \u65e5\u672c\u8a9e",
        "\U0001f600 \U00020bb7 \U0010fffd",
        "a\nb\r\nc\td",
        "x" * 20_000,
    ),
    "integer": (0, 1, -1, 2**31, 2**53 + 1, 2**63 - 1, -(2**63)),
    "decimal": (Decimal("0.10"), Decimal("-1.50"), Decimal("1234567890123456789.0123456789")),
    "float": (0.1, -2.5e-10, 1e300),
    "boolean": (True, False),
    "date": (date(2026, 1, 31), date(2024, 2, 29), date(1970, 1, 1)),
    "datetime": (_NOON, datetime(1999, 12, 31, 23, 59, 59)),  # noqa: DTZ001
    "instant": (_NOON.replace(tzinfo=UTC), _NOON.replace(tzinfo=timezone(timedelta(hours=5, minutes=30)))),
    "uuid": (UUID(int=5), UUID("f81d4fae-7dec-41d0-a765-00a0c91e6bf6")),
    "bytes": (b"", b"ab", bytes(range(256))),
}
"""Kinds of values, and some that are hard to keep. An instant is equal as a moment, and has a zone."""

_REQUIRED = frozenset({"text", "integer"})
_CANARY: Final = "c4n4ry"
_REFUSALS: Final = (NotOneStatement, QueryFailed)


class DriverContract(BoundsContract):
    """Tests of a Driver. A subclass gives the fixture ``engine``."""

    def test_it_says_how_sql_is_bound_for_it(self, engine: EngineCase) -> None:
        """Its id is that of the source, and dialect and paramstyle are known ones."""
        driver = engine.open_driver(engine.limits())
        assert driver.source_id == "ds_1", f"source_id is {driver.source_id!r}, not the id of the source"
        assert driver.dialect in DIALECTS, f"dialect is {driver.dialect!r}: {', '.join(DIALECTS)}"
        assert driver.paramstyle in PARAMSTYLES, f"paramstyle is {driver.paramstyle!r}: {', '.join(PARAMSTYLES)}"
        assert not set(engine.types) - set(VALUES), "types has kinds that VALUES does not have"
        assert set(engine.types) >= _REQUIRED, "types must have text and integer"
        driver.shutdown()

    def test_values_come_back_equal(self, engine: EngineCase) -> None:
        """Each as a parameter and back, with its type. NULL is None; a template has no parameter for it."""

        async def check(asked: AskedDriver) -> None:
            for kind, expression in engine.types.items():
                template = f"select {expression} as v{engine.from_one_row}"
                for value in VALUES[kind]:
                    ((back,),) = await asked.rows(template, v=value)
                    assert _is_same(value, back), f"{kind}: {value!r} comes back as {back!r}"
            ((nothing,),) = await asked.rows(f"select null as v{engine.from_one_row}")
            assert nothing is None, f"NULL comes back as {nothing!r}"

        run_check(engine, check)

    def test_a_text_stays_a_value(self, engine: EngineCase) -> None:
        """A text that reads like SQL is compared as a text, and matches itself alone."""

        async def check(asked: AskedDriver) -> None:
            text = engine.types["text"]
            template = f"select v from (select 1 as v{engine.from_one_row}) t where {text} = 'a'"
            assert await asked.rows(template, v="a") == [(1,)], "a text does not match itself"
            for value in ("b", "a' or '1' = '1", "a\\' or 1 = 1 -- "):
                assert await asked.rows(template, v=value) == [], f"a text matches another: {value}"

        run_check(engine, check)

    def test_literals_have_their_types(self, engine: EngineCase) -> None:
        """An expression of the engine gives the value of Python that it is known for."""

        async def check(asked: AskedDriver) -> None:
            for expression, value in engine.literals.items():
                ((back,),) = await asked.rows(f"select {expression} as v{engine.from_one_row}")
                assert _is_same(value, back), f"{expression} gives {back!r}, not {value!r}"

        run_check(engine, check)

    def test_an_empty_result_has_its_columns(self, engine: EngineCase) -> None:
        """No rows, and the names. Take the rows by ``take_result``: dicts have no names where there is none."""

        async def check(asked: AskedDriver) -> None:
            inner = f"select 1 as v, 2 as w{engine.from_one_row}"
            result = await asked.result(f"select v, w from ({inner}) t where 1 = 0")
            assert len(result) == 0, "a condition that never holds gives rows"
            names = [name.lower() for name in result.names]  # there are engines that write all names in capitals
            assert names == ["v", "w"], f"an empty result has the columns {names}"

        run_check(engine, check)

    def test_columns_of_one_name_are_refused(self, engine: EngineCase) -> None:
        """In a row of names the second would replace the first. Also where there are no rows."""

        async def check(asked: AskedDriver) -> None:
            error = await asked.error(f"select 1 as v, 2 as w, 3 as v{engine.from_one_row}")
            assert isinstance(error, QueryFailed), repr(error)

        run_check(engine, check)

    def test_what_writes_is_refused(self, engine: EngineCase) -> None:
        """Each statement alone, and after one that reads; and nothing was written."""

        async def check(asked: AskedDriver) -> None:
            before = await asked.rows(engine.unchanged)
            for write in engine.writes:
                for text in (write, f"select 1 as v{engine.from_one_row}; {write}"):
                    error = await asked.error(text)
                    async with engine.ask() as other:
                        assert await other.rows(engine.unchanged) == before, f"this was written: {text}"
                    assert isinstance(error, _REFUSALS), f"{text}: {error!r}"

        assert engine.writes, "writes is empty: nothing was tried"
        run_check(engine, check)

    def test_one_statement_only(self, engine: EngineCase) -> None:
        """Two are refused; one may end in a semicolon, and have one in a text."""

        async def check(asked: AskedDriver) -> None:
            one = f"select 'a;b' as v{engine.from_one_row}"
            assert await asked.rows(one) == [("a;b",)], "a semicolon in a text is not kept"
            error = await asked.error(f"{one}; {one}")
            assert isinstance(error, _REFUSALS), repr(error)

        run_check(engine, check)

    def test_a_session_keeps_nothing(self, engine: EngineCase) -> None:
        """Whatever a query sets is refused, or gone before the next query on its connection."""

        async def check(asked: AskedDriver) -> None:
            for statement, shown_by in engine.settings.items():
                before = await asked.rows(shown_by)
                with suppress(*_REFUSALS):
                    await asked.rows(statement)
                assert await asked.rows(shown_by) == before, f"the next query sees what this one set: {statement}"

        run_check(engine, check)

    def test_connections_do_not_mix_their_answers(self, engine: EngineCase) -> None:
        """Twelve queries on four connections: each has its own value, as have those that fail."""

        async def check(asked: AskedDriver) -> None:
            template = f"select {engine.types['text']} as v{engine.from_one_row}"
            answers = await asyncio.gather(*(asked.rows(template, v=f"value {number}") for number in range(12)))
            for number, rows in enumerate(answers):
                assert rows == [(f"value {number}",)], f"a query has the rows of another: {rows}"

        run_check(engine, check, pool_size=4)

    def test_a_stream_gives_the_same_rows(self, engine: EngineCase) -> None:
        """``open_rows`` of a StreamingDriver, twice on one connection and before a plain query on it."""
        driver = engine.open_driver(engine.limits())
        if not isinstance(driver, StreamingDriver):
            driver.shutdown()
            pytest.skip("the driver is no StreamingDriver")
        asked = AskedDriver(driver, engine.limits())
        bound = asked.bind(engine.rows(70))
        connection = driver.open()
        for _ in range(2):
            opened = driver.open_rows(connection, bound, None)
            assert len(opened.names) == 1
            assert sorted(tuple(row) for row in opened.rows) == [(number,) for number in range(70)]
            opened.close()
        assert len(driver.fetch(connection, bound)) == 70
        driver.close(connection)
        driver.shutdown()

    def test_an_error_shows_nothing(self, engine: EngineCase, caplog: pytest.LogCaptureFixture) -> None:
        """No value, no word of the SQL that the engine would quote, and no password: neither in an error with all that
        is attached to it, nor in the log. The next query has its rows."""

        async def check(asked: AskedDriver) -> None:
            seen = [repr(asked.driver)]
            for template in (
                f"select {_CANARY}_column as v from {_CANARY}_table where 1 = {{{{ params.v }}}}",
                f"select {_CANARY}_function({{{{ params.v }}}}, '{_CANARY}') as v{engine.from_one_row}",
                f"select {{{{ params.v }}}} as v from where '{_CANARY}' {_CANARY}",
                *engine.refused,
            ):
                error = await asked.error(template, v=_CANARY)
                assert isinstance(error, (*_REFUSALS, UnbindableValue)), f"{template}: {error!r}"
                seen += _texts(error)
                await check_answers(asked, engine)
            _check_hidden(engine, [*seen, caplog.text])

        with caplog.at_level(logging.INFO):
            run_check(engine, check)

    def test_a_source_that_is_away_shows_nothing(self, engine: EngineCase, caplog: pytest.LogCaptureFixture) -> None:
        """It is SourceUnavailable, without the password."""
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
        """And after ``shutdown`` another driver of the same source works."""
        for _ in range(2):
            driver = engine.open_driver(engine.limits())
            bound = AskedDriver(driver, engine.limits()).bind(engine.rows(1))
            first, second = driver.open(), driver.open()
            assert len(driver.fetch(first, bound)) == 1
            driver.close(first)
            assert len(driver.fetch(second, bound)) == 1
            driver.close(second)
            driver.shutdown()


def _is_same(value: Any, back: Any) -> bool:
    if type(back) is not type(value) or back != value:
        return False
    return not isinstance(value, datetime) or (value.tzinfo is None) == (back.tzinfo is None)


def _texts(error: BaseException | None) -> list[str]:
    """All that an error says, and whatever it came of."""
    texts: list[str] = []
    while error is not None:
        texts += [str(error), repr(error), *traceback.format_exception_only(error)]
        error = error.__cause__ or error.__context__
    return texts


def _check_hidden(engine: EngineCase, seen: Sequence[str]) -> None:
    for word in (_CANARY, *engine.passwords()):
        for text in seen:
            assert word not in text, f"a value, a text of the engine or a password is shown: {text}"
