"""Hostile values: the SQL text is the same for every one, and the value comes back whole from real engines."""

from __future__ import annotations

import sqlite3
from functools import cache
from pathlib import Path
from typing import Any

import asyncpg
import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engines.clickhouse import ClickHouse
from engines.hypothesis_profile import examples
from engines.postgres import Postgres
from engines.samples import sampled
from tenantry.errors import UnbindableValue
from tenantry.sql import DIALECTS, PARAMSTYLES, BoundSQL, SQLTemplate

EVERY_POSITION = SQLTemplate(
    "select {{ x }} as v, '{{ x }}' as w, 'a%{{ x }}''b' where c in ({{ xs }}) and d not in {{ xs }} "
    "[[ and e = {{ params.x }} ]]"
)
UNDOUBLED = SQLTemplate(EVERY_POSITION.text.replace("''", "-"))  # for dialects where two quotes are not one
ROUND_TRIP = SQLTemplate("select cast({{ x }} as text), cast('<{{ x }}>' as text) where 'no' not in {{ xs }}")


@pytest.fixture(scope="module", params=["ours", "corpus"])
def payloads(request: pytest.FixtureRequest) -> list[str]:
    """Strings of our own, which every checkout has; then the corpus that is beside some.

    The corpus has one payload a line, split on LF only; lines that begin with #! are headers.
    """
    if request.param == "ours":
        return OURS
    corpus: Path = request.getfixturevalue("corpus")
    lines = (corpus / "sqli_payloads.txt").read_bytes().decode().split("\n")
    found = [line for line in lines if line and not line.startswith("#!")]
    assert len(found) == 19_867
    return found


OURS = [
    "' or '1'='1",
    "'; drop table t; --",
    '" or ""="',
    "') or 1 in (select 1) /*",
    "*/ or true --",
    "\\' or true -- ",
    "$$ || pg_sleep(9) || $$",
    "{{ x }} [[ or true ]] \\{{",
    "%' or 1=1 -- ",
    "?, :p1, $1, %s, %(p1)s",
    "0x27 or 1=1",
    "\uff07 or true",
]


def variables(value: str) -> dict[str, Any]:
    return {"x": value, "xs": [value, "y"], "params": {"x": value}}


def given_values(bound: BoundSQL) -> list[Any]:
    params = bound.params
    return list(params.values() if isinstance(params, dict) else params or ())


PAIRS = [(dialect.name, dialect.paramstyle) for dialect in DIALECTS.values()]
PAIRS += [("postgresql", style) for style in PARAMSTYLES if ("postgresql", style) not in PAIRS]


@sampled(9)
@pytest.mark.parametrize(("dialect", "paramstyle"), PAIRS)
def test_the_text_is_identical_for_every_payload(payloads: list[str], dialect: str, paramstyle: str) -> None:
    """19,867 payloads of the corpus, and ours, in every position: one text, and each value in the parameters alone.
    Every dialect with its driver's paramstyle, and every paramstyle.

    Red when `bind` writes a value into the SQL, or when a payload makes a clause or a list come or go.
    """
    doubled = DIALECTS[dialect].doubled_quotes
    template = EVERY_POSITION if doubled else UNDOUBLED
    expected = template.bind(variables("benign"), paramstyle, dialect=dialect)
    assert "benign" not in expected.sql
    for payload in payloads:
        bound = template.bind(variables(payload), paramstyle, dialect=dialect)
        assert bound.sql is expected.sql
        composed = f"a%{payload}{chr(39) if doubled else '-'}b"
        once = [payload, "y"] if PARAMSTYLES[paramstyle].shares else [payload, "y", payload, "y"]
        assert given_values(bound) == [payload, payload, composed, *once, payload]


@given(value=st.text(max_size=30))
@settings(max_examples=examples(200), deadline=None)
def test_the_text_does_not_depend_on_the_value(value: str) -> None:
    """Any text at all: the same SQL, or a refusal that does not show it."""
    expected = EVERY_POSITION.bind(variables("benign"), "named", dialect="mysql").sql
    try:
        bound = EVERY_POSITION.bind(variables(value), "named", dialect="mysql")
    except UnbindableValue:
        assert "\0" in value
        return
    assert bound.sql is expected


@given(value=st.text(alphabet=st.characters(codec=None, categories=["Cs", "Lu", "Cc"]), max_size=8))
@settings(max_examples=examples(300), deadline=None)
def test_nul_and_lone_surrogates_never_reach_a_driver(value: str) -> None:
    """Refused with the path. Newlines and all other characters pass. Red when `all_bindable` skips `isascii`."""
    bad = "\0" in value or any("\ud800" <= character <= "\udfff" for character in value)
    try:
        EVERY_POSITION.bind(variables(value))
    except UnbindableValue:
        assert bad
    else:
        assert not bad


def expected_row(payload: str) -> tuple[str, str]:
    return payload, f"<{payload}>"


CONTROLS = [
    "\n or true --",
    "\r\n",
    "\x01\x1b\x7f",
    "\u2028\u2029\x85",
    "\ufeff\uffff",
    "\U0001f600",
    "\\",
    "\\'",
    "%s %% %(p1)s",
    "$1 :p1 ?",
]


def test_sqlite_gives_every_payload_back(payloads: list[str]) -> None:
    """A real SQLite, with the text that a paramstyle of its driver takes."""
    connection = sqlite3.connect(":memory:")
    for paramstyle in ("qmark", "named"):
        for payload in [*payloads, *CONTROLS]:
            bound = ROUND_TRIP.bind(variables(payload), paramstyle, dialect="sqlite")
            assert connection.execute(bound.sql, bound.params).fetchall() == [expected_row(payload)]
    connection.close()


def test_duckdb_gives_every_payload_back(payloads: list[str]) -> None:
    """A real DuckDB, for all payloads in batches and for some alone."""
    connection = duckdb.connect()
    values = [*payloads, *CONTROLS]
    for paramstyle in ("qmark", "numeric_dollar"):
        for payload in [*CONTROLS, *payloads[::500]]:
            bound = ROUND_TRIP.bind(variables(payload), paramstyle, dialect="duckdb")
            assert connection.execute(bound.sql, bound.params).fetchall() == [expected_row(payload)]
    for batch in _batches(values):
        assert connection.execute(*_batch(batch, "duckdb")[:2]).fetchone() == tuple(batch)
    connection.close()


def test_clickhouse_gives_every_payload_back(payloads: list[str], clickhouse: ClickHouse) -> None:
    """A real ClickHouse, for all payloads in batches and for some alone. Red for a string that ends elsewhere."""
    text = ROUND_TRIP.text.replace("as text", "as String")
    template = SQLTemplate(text + " and 'it\\'s \u2018' <> '\u2019' // don't", "clickhouse")
    for payload in [*CONTROLS, *payloads[::500]]:
        bound = template.bind(variables(payload))
        assert clickhouse.run(bound) == [list(expected_row(payload))]
    values = [*payloads, *CONTROLS]
    for batch in _batches(values):
        assert clickhouse.run(_batch(batch, "clickhouse")) == [batch]


async def test_postgresql_gives_every_payload_back(payloads: list[str], postgres: Postgres) -> None:
    """A real PostgreSQL through asyncpg, for all payloads in batches and for some through one prepared statement."""
    connection = await asyncpg.connect(postgres.create_database())
    try:
        values = [*payloads, *CONTROLS]
        statement = await connection.prepare(ROUND_TRIP.bind(variables("benign")).sql)
        for payload in [*CONTROLS, *OURS, *payloads[::20]]:
            bound = ROUND_TRIP.bind(variables(payload))
            assert bound.sql == statement.get_query()
            assert isinstance(bound.params, tuple)
            assert tuple(await statement.fetchrow(*bound.params)) == expected_row(payload)
        for batch in _batches(values):
            sql, params, *_ = _batch(batch, "postgresql")
            assert tuple(await connection.fetchrow(sql, *params)) == tuple(batch)
    finally:
        await connection.close()


def _batches(values: list[str]) -> list[list[str]]:
    return [values[start : start + 250] for start in range(0, len(values), 250)]


def _batch(values: list[str], dialect: str) -> BoundSQL:
    """One statement that selects all the values of a batch, each through its own tag."""
    return _selects(len(values), dialect).bind({"v": {f"n{n}": value for n, value in enumerate(values)}})


@cache  # to read so many tags takes longer than all else here
def _selects(number: int, dialect: str) -> SQLTemplate:
    return SQLTemplate("select " + ", ".join(f"cast({{{{ v.n{n} }}}} as text)" for n in range(number)), dialect)


@pytest.mark.parametrize(
    "text",
    [
        "select * from t where tenant = {{ tenant }} and name like '%{{ x }}%'",
        "select 1-{{ x }}",
        "select '{{ x }}' as v, \"a\"",
    ],
)
@pytest.mark.parametrize("value", ["' or true -- ", "\n or true --", "$$, (select 1), $$", "-5", "\\' or true -- "])
def test_a_driver_that_pastes_the_values_itself_stays_safe(text: str, value: str) -> None:
    """Client-side binding (PyMySQL): in the position of a placeholder the pasted literal is one literal.

    With the placeholder left inside the quotes, or in a comment, these values run as SQL.
    """
    import pymysql.converters

    bound = SQLTemplate(text, "mysql").bind({"tenant": "a", "x": value})
    pasted = bound.sql % tuple(
        pymysql.converters.escape_string(v) and f"'{pymysql.converters.escape_string(v)}'" for v in bound.params or ()
    )
    benign = bound.sql % tuple("'v'" for _ in bound.params or ())
    assert _skeleton(pasted) == _skeleton(benign)


def _skeleton(sql: str) -> list[str]:
    """The text without what is inside its strings."""
    from tenantry.sql.lexing.lexer import LexemeKind, lex
    from tenantry.sql.source import Source

    lexemes = lex(Source(sql), DIALECTS["mysql"])
    return [
        "'…'" if p.kind in {LexemeKind.STRING, LexemeKind.INTERPOLATED_STRING} else sql[p.start : p.end]
        for p in lexemes
    ]
