"""MySQL and MariaDB compare a text with a number by the digits that the text begins with: 0 equals every name, and
'7abc' equals 7. A value of the group finds the rows of that very value, or none, or the query is refused.
"""

from __future__ import annotations

from decimal import Decimal
from functools import cache
from typing import Any

import pytest

from engines.mariadb import MariaDB
from tenantry.datasources import DataSources, ResultCache, fetch_page
from tenantry.errors import QueryFailed, UnbindableValue
from tenantry.sql import SQLTemplate
from tests.datasources.conftest import Directory, group

pytestmark = pytest.mark.slow

TENANTS = ["acme", "globex", "7", "7abc", "0", "1", "true", "", "7.5", "2026-01-07"]
NUMBERS = ["0", "1", "7", "8"]
COLUMNS = {
    "name": ("varchar(20)", TENANTS),
    "latin": ("varchar(20) character set latin1", TENANTS),
    "number": ("int", NUMBERS),
    "big": ("bigint", NUMBERS),
    "price": ("decimal(9, 2)", NUMBERS),
    "ratio": ("double", NUMBERS),
    "flag": ("boolean", ["0", "1"]),
    "day": ("date", ["2026-01-07", "2026-01-08"]),
    "at": ("datetime", ["2026-01-07", "2026-01-08"]),
}
VALUES: list[Any] = [0, False, True, "7abc", "", 7, "7", 7.0, Decimal("7.00"), "0", "acme", "2026-01-07", "2026-01-07x"]
CONDITIONS = (
    "{column} = {{{{ v }}}}",
    "{{{{ v }}}} = {column}",
    "{column} in {{{{ vs }}}}",
    "{column} = '{{{{ v }}}}'",
    "{column} <=> {{{{ v }}}}",
    "{column} between {{{{ v }}}} and {{{{ v }}}}",
    "({column}, 1) = ({{{{ v }}}}, 1)",
    "{column} = (select {{{{ v }}}} as v)",
    "{{{{ v | matches({column}) }}}}",
    "{{{{ vs | matches({column}) }}}}",
    "not {column} <> {{{{ v }}}}",
)


@pytest.fixture(scope="module")
def database(mariadb: MariaDB) -> str:
    """For each column one table with an index on it and one without, and some hundred rows for each value: an index
    reads a literal as a number without a warning."""
    name = mariadb.create_database()
    for column, (kind, values) in COLUMNS.items():
        for index, suffix in ((", key (c)", "indexed"), ("", "plain")):
            table = f"{column}_{suffix}"
            mariadb.execute(f"create table {table} (id int auto_increment primary key, c {kind}{index})", database=name)
            inserted = " union all ".join(f"select '{value}' from seq_1_to_200" for value in values)
            mariadb.execute(f"insert into {table} (c) {inserted}", database=name)
    return name


@pytest.fixture
def sources(mariadb: MariaDB, database: str, directory: Directory, open_sources: Any) -> DataSources:
    directory.add(1, f"mysql://root@127.0.0.1:{mariadb.port}/{database}")
    made: DataSources = open_sources(timeout=60, row_limit=5000, cache=ResultCache())
    return made


def equal(column: str, stored: str, value: Any) -> bool:
    """Whether a value of a column is the value of a group, and does not merely begin as it does."""
    text = {True: "1", False: "0"}.get(value, str(value)) if isinstance(value, bool) else str(value)
    if column in {"name", "latin"}:
        return stored == ("7" if value == 7.0 and isinstance(value, float) else text)
    if column in {"day", "at"}:
        return stored == text
    try:
        return Decimal(stored) == Decimal(text)
    except ArithmeticError:
        return False


@cache  # each value is bound to it
def template(text: str) -> SQLTemplate:
    return SQLTemplate(text)


@pytest.mark.parametrize("value", VALUES, ids=repr)
@pytest.mark.parametrize("column", COLUMNS)
async def test_no_row_of_another_tenant(sources: DataSources, column: str, value: Any) -> None:
    """Broken, one after the other: with the value alone, 0 equals each name without digits, and an index on a number
    finds 7 for '7abc'; without the look at warnings '7abc' finds 7 and '' finds 0."""
    for condition in CONDITIONS:
        if "'" in condition and not isinstance(value, str):
            continue  # in quotes a value has the text of the language: false, 7.0
        for table in (f"{column}_indexed", f"{column}_plain"):
            text = f"select c from {table} where {condition.format(column='c')}"
            try:
                rows = await sources.fetch(group(main="ds_1"), "main", template(text), {"v": value, "vs": [value]})
            except UnbindableValue:
                assert column not in {"name", "latin"}, (text, value)
                assert not any(equal(column, each, value) for each in COLUMNS[column][1]), (text, value)
                continue
            found = {row["c"] for row in rows}
            stored = {each for each in COLUMNS[column][1] if equal(column, each, value)}
            assert len(rows) == 200 * len(stored), (text, value, found)


@pytest.mark.parametrize("table", ["number_indexed", "number_plain"])
@pytest.mark.parametrize(
    "condition",
    [
        "c = {{ v }}",
        "c in {{ vs }}",
        "c between {{ v }} and {{ v }}",
        "case c when {{ v }} then true end",
        "c * {{ v }} >= 0",
        "c >= {{ v }} order by c, id",
        "c = {{ v }} group by c, id",
    ],
)
async def test_a_stream_is_refused_before_its_first_row(sources: DataSources, table: str, condition: str) -> None:
    """Broken: without the question about the first row, rows are sent before the last one is refused."""
    text = f"select c, id from {table} join seq_1_to_50 s where {condition}"
    with pytest.raises(UnbindableValue, match="ignored the rest"):
        await sources.stream(group(main="ds_1"), "main", text, {"v": "7abc", "vs": ["7abc"]})
    stream = await sources.stream(group(main="ds_1"), "main", text, {"v": "7", "vs": ["7"]})
    assert [piece async for piece in stream]


async def test_a_stream_whose_later_rows_are_coerced_ends_with_the_error(sources: DataSources) -> None:
    """The first row says nothing of them. Broken: without the look at warnings after the last row it ends well."""
    text = "select n.c from name_plain n where n.c + {{ v }} >= 0 or n.id < 2"
    stream = await sources.stream(
        group(main="ds_1"), "main", text.replace("n.c + ", "if(n.id < 9, 1, n.c) + "), {"v": 1}
    )
    with pytest.raises(UnbindableValue, match="1292"):
        async for _ in stream:
            pass


async def test_statements_that_cannot_nest_are_streamed(sources: DataSources) -> None:
    """``show`` is no sub-select, and a query may have its own comments, parentheses and semicolon."""
    for text in (
        "show tables like {{ v }}",
        "select 1 as a, {{ v }} as b; -- end",
        "(select {{ v }} as a) union (select 2 as a)",
        "with q as (select {{ v }} as a) select * from q",
    ):
        stream = await sources.stream(group(main="ds_1"), "main", text, {"v": "day_plain"}, format="ndjson")
        assert b"day_plain" in b"".join([piece async for piece in stream])


async def test_pages_and_cached_results_are_refused(sources: DataSources) -> None:
    """A page, and the same query twice: what is refused is kept nowhere. The connection is used again."""
    asking, template = group(main="ds_1"), SQLTemplate("select c, id from number_indexed where c = {{ v }}")
    before = await sources.fetch(asking, "main", "select connection_id() as c", {}, max_age=0)
    for _ in range(2):
        with pytest.raises(UnbindableValue, match="1292") as caught:
            await sources.fetch(asking, "main", template, {"v": "7abc"})
        assert "7abc" not in str(caught.value)
        with pytest.raises(UnbindableValue, match="1292"):
            await fetch_page(sources, asking, "main", template, {"v": "7abc"}, order=["id"], size=10)
        assert len(await sources.fetch(asking, "main", template, {"v": 7})) == 200
    assert await sources.fetch(asking, "main", "select connection_id() as c", {}, max_age=0) == before


async def test_a_query_without_values_is_refused_as_the_authors(sources: DataSources) -> None:
    """Two columns that are compared by a part of a text make rows of others too; other warnings refuse nothing."""
    asking = group(main="ds_1")
    with pytest.raises(QueryFailed, match="1292"):
        await sources.fetch(
            asking, "main", "select n.id from name_plain n join number_plain c on n.c = c.c where n.id < 9", {}
        )
    assert len(await sources.fetch(asking, "main", "select id / 0 as a from number_plain limit 2000", {})) == 800


@pytest.mark.parametrize("rows", [3_000, 20_000])
async def test_other_warnings_hide_none(mariadb: MariaDB, sources: DataSources, database: str, rows: int) -> None:
    """However many come before it; divisions by zero are none, and more warnings than are kept refuse the query. Red
    when those of a thousand rows hide that of the last one."""
    table = f"noisy_{rows}"
    mariadb.execute(f"create table {table} (n int auto_increment primary key, c varchar(9))", database=database)
    mariadb.execute(
        f"insert into {table} (c) select '7' from seq_1_to_{rows} union all select '7abc'", database=database
    )
    for noise in ("n / 0", "str_to_date(concat('x', n), '%d')"):
        text = f"select count(*) as a from {table} where {noise} is null and c + 0 = {{{{ v }}}}"
        with pytest.raises(UnbindableValue, match="1292"):
            await sources.fetch(group(main="ds_1"), "main", text, {"v": 7})
        if noise == "n / 0" or rows < 10_000:
            good = f"select count({noise}) as a, {{{{ v }}}} as v from {table}"
            assert (await sources.fetch(group(main="ds_1"), "main", good, {"v": 7}))[0]["a"] == 0


async def test_warnings_that_are_not_kept_refuse(sources: DataSources, monkeypatch: pytest.MonkeyPatch) -> None:
    """Broken: without the count, a server that keeps no warnings has none."""
    monkeypatch.setattr("tenantry.datasources.engines.mysql.WARNINGS_KEPT", 0)
    with pytest.raises(QueryFailed, match="1292"):
        await sources.fetch(group(main="ds_1"), "main", "select c from number_plain where c = '7abc'", {})


@pytest.mark.parametrize("column", ["name_indexed", "latin_indexed", "number_indexed", "price_indexed", "big_indexed"])
@pytest.mark.parametrize("value", [7, "7"])
async def test_an_index_is_used(sources: DataSources, column: str, value: Any) -> None:
    """Also with a text next to a number, and in another character set."""
    plan = await sources.fetch(
        group(main="ds_1"), "main", f"explain select id from {column} where c = {{{{ v }}}}", {"v": value}
    )
    assert plan[0]["key"] == "c", plan


async def test_where_only_a_literal_can_be(sources: DataSources) -> None:
    """Introducers, separators and frames of windows take a literal alone. What filters nothing keeps its number."""
    sql = "select _utf8mb4 {{ v }} as a, group_concat(c separator {{ v }}) as b from day_plain where id < 3 group by id"
    assert (await sources.fetch(group(main="ds_1"), "main", sql, {"v": "-"}))[0]["a"] == "-"
    framed = (
        "select count(*) over (order by id rows {{ v }} preceding) as a, "
        "count(*) over (order by id rows between {{ v }} preceding and {{ v }} FOLLOWING) as b from day_plain limit 9"
    )
    assert (await sources.fetch(group(main="ds_1"), "main", framed, {"v": 2}))[4] == {"a": 3, "b": 5}
    rated = "select 1 as a where true [[ and {{ params.x }} = {{ rate | not_a_filter }} / 3 ]]"
    assert SQLTemplate(rated, "mysql").bind({"rate": 2, "params": {"x": 1}}).sql.endswith("and %s = %s / 3 ")


async def test_a_property_that_is_a_number_is_cast(sources: DataSources) -> None:
    """As docs/engine-mysql.md says: two properties are compared as texts, and a decimal times a text is a double."""
    text = """select {{ nine }} < {{ ten }} as texts, cast({{ nine }} as signed) < cast({{ ten }} as signed) as numbers,
        sum(c * {{ nine }}) as doubles, sum(c * cast({{ nine }} as decimal(20, 4))) as decimals from price_plain"""
    (row,) = await sources.fetch(group(main="ds_1"), "main", text, {"nine": 9, "ten": 10})
    assert (row["texts"], row["numbers"], type(row["doubles"]), type(row["decimals"])) == (0, 1, float, Decimal)
    ids = (
        "select 1 as a from (select cast(9007199254740993 as decimal(20)) as id) t where id between {{ v }} and {{ v }}"
    )
    near = {"v": 9007199254740992}
    assert await sources.fetch(group(main="ds_1"), "main", ids, near) == [{"a": 1}]
    cast = ids.replace("{{ v }}", "cast({{ v }} as decimal(20))")
    assert await sources.fetch(group(main="ds_1"), "main", cast, near) == []


async def test_what_a_collation_takes_for_equal(mariadb: MariaDB, sources: DataSources, database: str) -> None:
    """As docs/engine-mysql.md says: capitals, accents and spaces at the end, and which collations tell them apart."""
    expected = {
        "utf8mb4_general_ci": {"acme", "ACME", "acmé", "acme "},
        "utf8mb4_bin": {"acme", "acme "},
        "utf8mb4_nopad_bin": {"acme"},
    }
    for number, (collation, found) in enumerate(expected.items()):
        table = f"collated_{number}"
        mariadb.execute(f"create table {table} (c varchar(20) collate {collation})", database=database)
        mariadb.execute(
            f"insert into {table} values ('acme'), ('ACME'), ('acmé'), ('acme '), ('acmes')", database=database
        )
        rows = await sources.fetch(
            group(main="ds_1"), "main", f"select c from {table} where c = {{{{ v }}}}", {"v": "acme"}
        )
        assert {row["c"] for row in rows} == found
