# ruff: noqa: S101, S608 - tests, which third parties run too; their SQL has no foreign input

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from tenantry.datasources import StreamingDriver
from tenantry.errors import QueryFailed
from tenantry.testing.contract_checks import connected, run_check
from tenantry.testing.contract_values import LISTS, VALUES, WORDS, is_same
from tenantry.testing.engine_case import AskedDriver, EngineCase


class TypesContract:
    def test_values_come_back_equal(self, engine: EngineCase) -> None:
        async def check(asked: AskedDriver) -> None:
            for kind, expression in engine.types.items():
                template = f"select {expression} as v{engine.from_one_row}"
                for value in VALUES[kind]:
                    ((back,),) = await asked.rows(template, v=value)
                    assert is_same(value, back), f"{kind}: {value!r} comes back as {back!r}"
            ((nothing,),) = await asked.rows(f"select null as v{engine.from_one_row}")
            assert nothing is None, f"NULL comes back as {nothing!r}"

        run_check(engine, check)

    def test_null_is_none_beside_values(self, engine: EngineCase) -> None:
        async def check(asked: AskedDriver) -> None:
            for kind, expression in engine.types.items():
                value = VALUES[kind][-1]
                nothing = f"select null as v{engine.from_one_row}"
                template = f"select {expression} as v{engine.from_one_row} union all {nothing}"
                found = [back for (back,) in await asked.rows(template, v=value)]
                assert len(found) == 2, f"{kind}: two rows come back as {len(found)}"
                assert None in found, f"{kind}: NULL comes back as {found!r}"
                assert any(is_same(value, back) for back in found), f"{kind}: {value!r} comes back as {found!r}"

        run_check(engine, check)

    def test_a_column_says_its_type(self, engine: EngineCase) -> None:
        async def check(asked: AskedDriver) -> None:
            for kind, expression in engine.types.items():
                result = await asked.result(f"select {expression} as v{engine.from_one_row}", v=VALUES[kind][-1])
                word = result.columns[0].type
                assert word in {None, WORDS.get(kind, kind)}, f"a column of the kind {kind} has the type {word}"

        run_check(engine, check)

    def test_a_list_matches_its_members(self, engine: EngineCase) -> None:
        async def check(asked: AskedDriver) -> None:
            letters = " union all ".join(f"select '{letter}' as v{engine.from_one_row}" for letter in "abc")
            template = f"select v from ({letters}) t where v in {{{{ params.v }}}}"
            for members, matched in LISTS:
                found = sorted(back for (back,) in await asked.rows(template, v=members))
                assert found == matched, f"{members[:5]!r} matches {found!r}"

        run_check(engine, check)

    def test_a_text_stays_a_value(self, engine: EngineCase) -> None:
        async def check(asked: AskedDriver) -> None:
            text = engine.types["text"]
            template = f"select v from (select 1 as v{engine.from_one_row}) t where {text} = 'a'"
            assert await asked.rows(template, v="a") == [(1,)], "a string does not match itself"
            for value in ("b", "a' or '1' = '1", "a\\' or 1 = 1 -- "):
                assert await asked.rows(template, v=value) == [], f"a string matches another: {value}"

        run_check(engine, check)

    def test_literals_have_their_types(self, engine: EngineCase) -> None:
        async def check(asked: AskedDriver) -> None:
            for expression, value in engine.literals.items():
                ((back,),) = await asked.rows(f"select {expression} as v{engine.from_one_row}")
                assert is_same(value, back), f"{expression} gives {back!r}, not {value!r}"

        run_check(engine, check)

    def test_an_empty_result_has_its_columns(self, engine: EngineCase) -> None:
        async def check(asked: AskedDriver) -> None:
            inner = f"select 1 as v, 2 as w{engine.from_one_row}"
            result = await asked.result(f"select v, w from ({inner}) t where 1 = 0")
            assert len(result) == 0, "a condition that never holds gives rows"
            names = [name.lower() for name in result.names]  # some engines write names in capitals
            assert names == ["v", "w"], f"an empty result has the columns {names}"

        run_check(engine, check)

    def test_columns_of_one_name_are_refused(self, engine: EngineCase) -> None:
        """Fails if rows are dicts."""

        # A dict would lose one of the two columns ``v``.
        async def check(asked: AskedDriver) -> None:
            error = await asked.error(f"select 1 as v, 2 as w, 3 as v{engine.from_one_row}")
            assert isinstance(error, QueryFailed), repr(error)

        run_check(engine, check)

    def test_a_stream_gives_the_same_rows(self, engine: EngineCase) -> None:
        with _streaming(engine) as (driver, connection, asked):
            bound = asked.bind(engine.rows(70))
            for _ in range(2):
                opened = driver.open_rows(connection, bound, None)
                assert len(opened.names) == 1
                assert sorted(tuple(row) for row in opened.rows) == [(number,) for number in range(70)]
                opened.close()
            assert len(driver.fetch(connection, bound)) == 70

    def test_a_stream_gives_the_same_values(self, engine: EngineCase) -> None:
        inner = f"select 1 as v, 2 as w{engine.from_one_row}"
        with _streaming(engine) as (driver, connection, asked):
            for kind, expression in engine.types.items():
                for value in VALUES[kind]:
                    bound = asked.bind(f"select {expression} as v{engine.from_one_row}", v=value)
                    opened = driver.open_rows(connection, bound, None)
                    ((back,),) = list(opened.rows)
                    opened.close()
                    assert is_same(value, back), f"{kind}: {value!r} is streamed as {back!r}"
            opened = driver.open_rows(connection, asked.bind(f"select v, w from ({inner}) t where 1 = 0"), None)
            names = [name.lower() for name in opened.names]
            assert names == ["v", "w"], f"an empty stream has the columns {names}"
            assert list(opened.rows) == []
            opened.close()


@contextmanager
def _streaming(engine: EngineCase) -> Iterator[tuple[Any, Any, AskedDriver]]:
    driver = engine.open_driver(engine.limits())
    try:
        if not isinstance(driver, StreamingDriver):
            pytest.skip("the driver is no StreamingDriver")
        with connected(driver) as connection:
            yield driver, connection, AskedDriver(driver, engine.limits())
    finally:
        driver.shutdown()
