"""Which rows a group's value finds, on the real engines and through their drivers: by ``=``, and by ``exact_equal``.

The tables here hold every case in which a row is found whose text is not the value.
"""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import closing
from decimal import Decimal
from itertools import product
from pathlib import Path
from typing import Any, TypeAlias

import duckdb
import psycopg
import pytest

from engines.clickhouse import ClickHouse, ClickHouseError
from engines.mariadb import MariaDB
from engines.postgres import Postgres
from tenantry.errors import MissingVariable, QueryFailed, TenantryError
from tenantry.sql import SQLTemplate
from tenantry.sql.dialects import DIALECTS
from tests.datasources.conftest import Directory, group
from tests.datasources.settings import data_sources

UUID = "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"
VALUES: tuple[Any, ...] = (
    *("acme", "ACME", "acmé", "acme ", "acme\0", "", "0", "7", "7abc", " 7", "07", "7.0", "1e0", "true", UUID),
    *(UUID.upper(), 0, 1, 7, 7.0, True, False),
)
TEXTS = ["acme", "ACME", "acmé", "acme ", "acme\0", "", "0", "7", "7abc", " 7", "true", None]
INTEGERS = [0, 1, 7, None]
Columns: TypeAlias = Mapping[str, list[Any]]
Found: TypeAlias = dict[str, dict[Any, list[str]]]
"""Kind of column → value → texts of rows."""
Query: TypeAlias = Callable[[str, Any], Awaitable[list[Any]]]

WITHOUT_NUL = [text for text in TEXTS if text != "acme\0"]
COLUMNS: dict[str, Columns] = {
    "postgresql": {
        **dict.fromkeys(("text", "varchar(20)", "citext"), WITHOUT_NUL),
        "char(10)": ["acme", "ACME", "acmé", "0", "7", "7abc", " 7", None],
        "integer": INTEGERS,
        "numeric(9, 2)": INTEGERS,
        "boolean": [False, True, None],
        "uuid": [UUID, None],
    },
    "postgresql_icu": {"text": WITHOUT_NUL, "text collate loose": WITHOUT_NUL},
    "mariadb": {
        **dict.fromkeys(
            ("varchar(40)", "varchar(40) character set latin1", "varchar(40) collate uca1400_ai_ci"), TEXTS
        ),
        "char(10)": ["acme", "ACME", "acmé", "0", "7", "7abc", " 7", None],
        "integer": INTEGERS,
        "decimal(9, 2)": INTEGERS,
        "boolean": [0, 1, None],
        "uuid": [UUID, None],
    },
    "sqlite": {
        **dict.fromkeys(("text", "text collate nocase", "text collate rtrim"), TEXTS),
        "integer": INTEGERS,
        "real": INTEGERS,
    },
    "duckdb": {
        **dict.fromkeys(("varchar", "varchar collate nocase", "varchar collate noaccent"), TEXTS),
        "integer": INTEGERS,
        "decimal(9, 2)": INTEGERS,
        "boolean": [False, True, None],
        "uuid": [UUID, None],
    },
    "clickhouse": {
        **dict.fromkeys(("Nullable(String)", "LowCardinality(Nullable(String))", "Nullable(FixedString(40))"), TEXTS),
        "Nullable(Int64)": INTEGERS,
        "Nullable(Decimal(9, 2))": INTEGERS,
        "Nullable(Bool)": [0, 1, None],
        "Nullable(UUID)": [UUID, None],
        "Nullable(Enum8('ACME' = 1, 'acme' = 7))": ["ACME", "acme", None],
    },
}


@pytest.fixture
async def query(request: pytest.FixtureRequest, engine: str, tmp_path: Path) -> AsyncIterator[Query]:
    """Runs a template with the group's value ``v`` on tables ``t0``, ``t1``, … for the engine's columns."""
    if engine == "clickhouse":
        yield _in_clickhouse(request.getfixturevalue("clickhouse"))
        return
    directory = Directory()
    directory.add(1, _create(request, engine, tmp_path))
    sources = data_sources(directory, connect_timeout=60.0, timeout=60.0)

    async def fetch(text: str, value: Any) -> list[Any]:
        return [row["c"] for row in await sources.fetch(group(main="ds_1"), "main", text, {"v": value})]

    yield fetch
    await sources.aclose()


def _create(request: pytest.FixtureRequest, engine: str, tmp_path: Path) -> str:
    columns = COLUMNS[engine].items()
    if engine.startswith("postgresql"):
        server: Postgres = request.getfixturevalue("postgres" if engine == "postgresql" else "postgres_with_icu")
        url = server.create_database()
        with psycopg.connect(url, autocommit=True) as connection:
            if engine == "postgresql":
                connection.execute("create extension citext")
            else:
                options = "provider = icu, locale = 'und-u-ks-level1', deterministic = false"
                connection.execute(f"create collation loose ({options})")
            for number, (kind, rows) in enumerate(columns):
                connection.execute(f"create table t{number} (c {kind})")
                for row in rows:
                    connection.execute(f"insert into t{number} values (%s)", [row])
        return url
    if engine == "mariadb":
        mariadb: MariaDB = request.getfixturevalue("mariadb")
        database = mariadb.create_database()
        with closing(mariadb.connect(database)) as connection, connection.cursor() as cursor:
            for number, (kind, rows) in enumerate(columns):
                cursor.execute(f"create table t{number} (c {kind}, key (c))")
                cursor.executemany(f"insert into t{number} values (%s)", [[row] for row in rows])
        return f"mysql://root@127.0.0.1:{mariadb.port}/{database}"
    file = tmp_path / "tenants"
    opened: Any = sqlite3.connect(file) if engine == "sqlite" else duckdb.connect(str(file))
    with closing(opened) as connection:
        for number, (kind, rows) in enumerate(columns):
            connection.execute(f"create table t{number} (c {kind})")
            connection.executemany(f"insert into t{number} values (?)", [[row] for row in rows])
        connection.commit()
    return f"{engine}:///{file}"


def _in_clickhouse(clickhouse: ClickHouse) -> Query:
    for number, (kind, rows) in enumerate(COLUMNS["clickhouse"].items()):
        clickhouse.query(f"create or replace table t{number} (c {kind}) engine = Memory")
        for row in rows:
            literal = (
                "'" + row.replace("\0", "\\0") + "'"
                if isinstance(row, str)
                else str(row or "null" if row is None else row)
            )
            clickhouse.query(f"insert into t{number} values ({literal})")

    async def fetch(text: str, value: Any) -> list[Any]:
        try:
            return [row for (row,) in clickhouse.run(SQLTemplate(text, "clickhouse").bind({"v": value}))]
        except ClickHouseError as error:
            raise QueryFailed(str(error)) from None

    return fetch


def texts(value: Any) -> set[str]:
    """The ways in which a person writes a value or a row; 7.00 is 7, and padding is no part of it."""
    if isinstance(value, bool):
        return {str(int(value)), str(value).lower()}
    if isinstance(value, float | Decimal):
        return {str(int(value))}
    text = str(value)
    return {text.rstrip(_PADDING.get(len(text), ""))}


_PADDING = {10: " ", 39: "\0", 40: "\0"}  # of rows of char(10) and FixedString(40), by their characters


async def rows_found(engine: str, query: Query, condition: str) -> tuple[Found, Found]:
    """The rows that the condition finds for each column and value: those whose text is the value, and others."""
    own: Found = {}
    others: Found = {}
    for (number, kind), value in product(enumerate(COLUMNS[engine]), VALUES):
        try:
            rows = await query(f"select c from t{number} where {condition.format(column='c', value='{{ v }}')}", value)
        except TenantryError:
            continue  # the engine, or the binder, refuses to compare the two
        for row in rows:
            found = own if texts(row) & texts(value) else others
            given = value if isinstance(value, str) else repr((value,))  # as keys, True and 1.0 were 1
            found.setdefault(kind, {}).setdefault(given, []).append(min(texts(row)))
    return own, others


def of_each(kinds: str, found: dict[str, list[str]]) -> Found:
    return dict.fromkeys(kinds.split(" | "), found)


CASES = {"acme": ["ACME"], "ACME": ["acme"]}
ACCENTS = {"acme": ["acmé"], "acmé": ["acme"]}
BOTH = {"acme": ["ACME", "acmé"], "ACME": ["acme", "acmé"], "acmé": ["acme", "ACME"]}
SPACES = {"acme": ["acme "], "acme ": ["acme"]}
BOTH_AND_SPACES = {
    "acme": ["ACME", "acmé", "acme "],
    "ACME": ["acme", "acmé", "acme "],
    "acmé": ["acme", "ACME", "acme "],
    "acme ": ["acme", "ACME", "acmé"],
}
NUMBERS = {" 7": ["7"], "07": ["7"], "7.0": ["7"], "1e0": ["1"]}
UPPER = {UUID.upper(): [UUID]}

EQUAL: dict[str, Found] = {
    "postgresql": {
        "citext": CASES,
        "char(10)": {"acme ": ["acme"]},
        "integer": {" 7": ["7"], "07": ["7"]},
        "numeric(9, 2)": NUMBERS,
        "uuid": UPPER,
    },
    "postgresql_icu": {"text collate loose": BOTH},
    "mariadb": {
        **of_each("varchar(40) | varchar(40) character set latin1", BOTH_AND_SPACES),
        "varchar(40) collate uca1400_ai_ci": {text: [*rows, "acme\0"] for text, rows in BOTH_AND_SPACES.items()},
        "char(10)": {**BOTH, "acme ": ["acme", "ACME", "acmé"]},
        **of_each("integer | decimal(9, 2)", NUMBERS),
        "boolean": {"1e0": ["1"]},
        "uuid": UPPER,
    },
    "sqlite": {
        "text collate nocase": CASES,
        "text collate rtrim": SPACES,
        **of_each("integer | real", NUMBERS),
    },
    "duckdb": {
        "varchar collate nocase": CASES,
        "varchar collate noaccent": ACCENTS,
        **of_each("integer | decimal(9, 2)", NUMBERS),
        "uuid": UPPER,
    },
    "clickhouse": {
        "Nullable(Int64)": {"07": ["7"]},
        "Nullable(Decimal(9, 2))": {"07": ["7"], "7.0": ["7"], "1e0": ["1"]},
        "Nullable(UUID)": UPPER,
        "Nullable(Enum8('ACME' = 1, 'acme' = 7))": {
            **{value: ["acme"] for value in ("7", "07", "(7,)", "(7.0,)")},
            **{value: ["ACME"] for value in ("(1,)", "(True,)")},
        },
    },
}
"""What ``=`` finds although its text is another."""

EXACT: dict[str, Found] = {
    **{name: EQUAL[name] for name in ("postgresql", "postgresql_icu")},  # its `=` alone
    **{name: {} for name in ("mariadb", "duckdb", "clickhouse")},
    "sqlite": {"real": {"7.0": ["7"]}},
}
"""What ``exact_equal`` finds although its text is another."""

_ALL = {"0": ["0"], "7": ["7"], "(0,)": ["0"], "(1,)": ["1"], "(7,)": ["7"], "(7.0,)": ["7"]}
_BOOLEANS = {"(True,)": ["1"], "(False,)": ["0"]}
LOST: dict[str, Found] = {
    "postgresql": {},
    "postgresql_icu": {},
    "mariadb": {"decimal(9, 2)": {**_ALL, **_BOOLEANS}},
    "sqlite": {
        "integer": {"(7.0,)": ["7"]},
        "real": {**{value: rows for value, rows in _ALL.items() if value != "(7.0,)"}, **_BOOLEANS},
    },
    "duckdb": {
        "integer": {"(7.0,)": ["7"], **_BOOLEANS},
        "decimal(9, 2)": {**_ALL, **_BOOLEANS},
        "boolean": {"0": ["0"], "(0,)": ["0"], "(1,)": ["1"]},
    },
    "clickhouse": {
        **of_each("Nullable(Int64) | Nullable(Decimal(9, 2))", _BOOLEANS),
        "Nullable(Bool)": {"0": ["0"], "(0,)": ["0"], "(1,)": ["1"]},
    },
}
"""What ``=`` finds and ``exact_equal`` does not, because the engine writes the row another way than the value."""


@pytest.mark.parametrize("engine", COLUMNS)
async def test_rows_found(engine: str, query: Query) -> None:
    """Every row whose text is another value's, and no other. Red with ``=`` alone as ``exact_equal`` of an engine."""
    own, others = await rows_found(engine, query, "{column} = {value}")
    assert others == EQUAL[engine]
    exact_own, exact_others = await rows_found(engine, query, DIALECTS[engine.removesuffix("_icu")].exact_equal)
    assert exact_others == EXACT[engine]
    lost = {
        kind: {value: rows for value, rows in found.items() if value not in exact_own.get(kind, {})}
        for kind, found in own.items()
    }
    assert {kind: found for kind, found in lost.items() if found} == LOST[engine]


@pytest.mark.parametrize("engine", COLUMNS)
async def test_one_tenant(engine: str, query: Query) -> None:
    """The first column is of the usual type: ``acme`` is one tenant of four, the number 0 is no name, and NULL is never
    found."""
    condition = DIALECTS[engine.removesuffix("_icu")].exact_equal.format(column="c", value="{{ v }}")
    for value, expected in (
        ("acme", ["acme"]),
        ("acme ", ["acme "]),
        (0, ["0"]),
        (7, ["7"]),
        ("nobody", []),
    ):
        try:
            assert await query(f"select c from t0 where {condition}", value) == expected
        except QueryFailed:
            assert not isinstance(value, str), "only numbers are refused"
    with pytest.raises(MissingVariable):
        await query(f"select c from t0 where {condition}", None)
