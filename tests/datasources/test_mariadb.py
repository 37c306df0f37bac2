"""MariaDB through the MySQL driver, on a real server: what a value or a text of the template may not reach, and the
dialect that the scheme of the URL names."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from pathlib import Path

import pytest

from engines.mariadb import MariaDB
from tenantry.errors import NotOneStatement, QueryFailed, TemplateError, UnbindableValue
from tenantry.sql import Query
from tests.datasources.conftest import Directory, group


def make_database(mariadb: MariaDB) -> str:
    database = mariadb.create_database()
    mariadb.execute("create table orders (id int, owner text)", database=database)
    mariadb.execute("insert into orders values (1, 'acm'), (2, 'it''s \\\\ ')", database=database)
    return database


@pytest.fixture
def fetch(mariadb: MariaDB, directory: Directory, open_sources):
    """Runs SQL on one connection, as root: whatever is refused, is refused to anyone."""
    directory.add(1, f"mysql://root@127.0.0.1:{mariadb.port}/{make_database(mariadb)}")
    sources = open_sources(timeout=60, row_limit=10, pool_size=1, connect_timeout=60)

    async def run(sql: str, **variables: object):
        return await sources.fetch(group(main="ds_1"), "main", sql, variables)

    return run


async def test_values_arrive_as_they_are(fetch) -> None:
    """PyMySQL writes them into the text: quotes, backslashes and letters of any length come back unchanged."""
    for value in ("' or 1 = 1 -- ", "\\' or 1 = 1 -- ", "\\", "%s", "\u00bf'", "\U0001f600", "a\nb", "ö" * 3):
        assert await fetch("select {{ v }} as v, _utf8mb4 {{ v }} as w", v=value) == [{"v": value, "w": value}]
        assert await fetch("select id from orders where owner = '{{ v }}'", v=value) == []


@pytest.mark.parametrize(
    "sql",
    [
        "select load_file({{ v }}) as f",
        "select `load_file`({{ v }}) as f",
        "select Load_File /* c */ ({{ v }}) as f",
        "select load_file(q) as f from (select {{ v }} as q) t",
    ],
)
async def test_a_value_names_no_file_of_the_server(
    sql: str, fetch, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """``load_file`` by whatever spelling the server takes. Red when MySQL's list was empty."""
    file = tmp_path / "file"
    file.write_text("secret")
    with pytest.raises(TemplateError, match="reads a table or file by name"):
        await fetch(sql, v=str(file))
    monkeypatch.setattr("tenantry.sql.parsing.parser.check_dynamic_sql", lambda *_: None)
    with pytest.raises(QueryFailed, match="a value never becomes SQL"):
        await fetch(sql, v=str(file))
    monkeypatch.setattr("tenantry.datasources.engines.mysql.refuse_dynamic_sql", lambda *_: None)
    assert await fetch(sql, v=str(file)) == [{"f": b"secret"}], "the control: the engine reads it"


@pytest.mark.parametrize(
    "sql",
    [
        "select `get_lock`('a', 0)",
        "select get_lock/**/('a', 0)",
        "select `last_insert_id`(7)",
        "execute immediate 'select 1'",
        "prepare s from 'select 1'",
        "set statement sql_mode = 'ANSI_QUOTES' for select 1",
        "set sql_mode = 'NO_BACKSLASH_ESCAPES'",
        "call nobody()",
        "begin not atomic select 1; end",
        "select 1 into @a",
        "select @a := 1",
        "handler orders open",
    ],
)
async def test_nothing_is_left_for_the_next_query(sql: str, fetch) -> None:
    """Locks and numbers of the session, and statements that run a text. Red when a name between backticks was taken for
    a column."""
    with pytest.raises(NotOneStatement):
        await fetch(sql)
    assert await fetch("select is_used_lock('a') as holder") == [{"holder": None}]


@pytest.mark.parametrize(
    ("scheme", "dialect"), [("mysql", "mysql"), ("mariadb", "mariadb"), ("mariadb+pymysql", "mariadb")]
)
async def test_the_scheme_of_the_url_names_the_dialect(
    scheme: str, dialect: str, mariadb: MariaDB, directory: Directory, open_sources
) -> None:
    """A query is bound for it, with its fragments: one of another dialect is refused, and one of this dialect runs. Red
    when every driver of this module was `mysql`."""
    directory.add(1, f"{scheme}://root@127.0.0.1:{mariadb.port}/{make_database(mariadb)}")
    sources, acme = open_sources(timeout=60, connect_timeout=60), group(main="ds_1")
    assert await sources.dialect(acme, "main") == dialect
    for named in ("mysql", "mariadb"):
        fragment = Query(f"/* ---\ndialect: {named}\n--- */\nselect id from orders where owner = {{{{ v }}}}", "mine")
        query = Query("select count(*) as n from ({{> mine }}) m", fragments={"mine": fragment})
        if named == dialect:
            assert await sources.fetch(acme, "main", query, {"v": "acm"}) == [{"n": 1}]
        else:
            problem = f"this fragment is for {named}, but the template .* for {dialect}"
            with pytest.raises(TemplateError, match=problem):
                await sources.fetch(acme, "main", query, {"v": "acm"})


@pytest.fixture
def typed(mariadb: MariaDB, directory: Directory, open_sources):
    """Runs SQL on a table with a column of each type, and one row."""
    database = make_database(mariadb)
    mariadb.execute(
        "create table typed (n int, l varchar(20) character set latin1, u uuid, d date, at datetime(6), "
        "stamp timestamp null, j json, t time(3), b bit(8), price decimal(20, 4))",
        database=database,
    )
    mariadb.execute(
        "insert into typed values (1, 'x', '123e4567-e89b-12d3-a456-426614174000', '2026-01-01', "
        "'2026-01-01 12:00:00.5', '2026-01-01 12:00:00', '[1]', '-25:00:01.5', 3, 1.5)",
        database=database,
    )
    directory.add(1, f"mariadb://root@127.0.0.1:{mariadb.port}/{database}")
    sources = open_sources(timeout=60, row_limit=10, pool_size=1, connect_timeout=60)

    async def run(sql: str, **variables: object):
        return await sources.fetch(group(main="ds_1"), "main", sql, variables)

    return run


@pytest.mark.parametrize(
    ("sql", "value"),
    [
        ("select 'a' regexp {{ params.v }} as a", "("),
        ("select 'a' rlike {{ params.v }} as a", "["),
        ("select regexp_replace('a', {{ params.v }}, 'b') as a", "*"),
        ("select n + {{ params.v }} as a from typed", 2**63 - 1),
        ("select 2 * n * {{ params.v }} as a from typed", -(2**63)),
        ("select abs({{ params.v }}) as a", -(2**63)),
        ("select pow(10, {{ params.v }}) as a", 10_000),
        ("select exp({{ params.v }}) as a", 10_000),
        ("select n from typed where l = {{ params.v }}", "\u65e5"),
        ("select n from typed where l like {{ params.v }}", "\U0001f600"),
        ("select n from typed where l in {{ params.v }}", ["x", "\U0001f600"]),
        ("select concat(l, {{ params.v }}) as a from typed", "\U0001f600"),
        ("select n from typed order by field(l, {{ params.v }})", "\u65e5"),
        ("select n from typed where u = {{ params.v }}", 5),
        ("select ntile({{ params.v }}) over (order by n) as a from typed", 0),
        ("select percentile_cont({{ params.v }}) within group (order by n) over () as a from typed", 5),
        ("select q.a from json_table({{ params.v }}, '$[*]' columns (a int path '$')) q", "{bad"),
        ("select 'a' like 'b' escape {{ params.v }} as a", "long"),
        ("select n from typed limit {{ params.v }}", "many"),
        ("select n from typed limit {{ params.v }}", -1),
        ("select n from typed limit 1 offset {{ params.v }}", 1.5),
    ],
)
async def test_a_bad_value_is_the_viewers(sql: str, value: object, typed) -> None:
    """422, not 502, and the connection is kept. Red when the server's numbers for it were not known."""
    connection = "select connection_id() as c"
    first = await typed(connection)
    with pytest.raises(UnbindableValue) as caught:
        await typed(sql, params={"v": value})
    assert caught.value.__context__ is None, "the server's words are nowhere"
    assert await typed(connection) == first


@pytest.mark.parametrize("path", ["v", "params.v"])
@pytest.mark.parametrize(
    "sql",
    [
        "select cast({{ v }} as signed) as a",
        "select n from typed where d > {{ v }}",
        "select n from typed where n = {{ v }}",
        "select cast({{ v }} as uuid) as a",
    ],
)
async def test_what_the_server_reads_as_something_else(sql: str, path: str, typed) -> None:
    """A text that is no number, day or UUID would be 0, NULL, no row or each row, with a warning. Broken: without the
    look at warnings it is no error."""
    with pytest.raises(UnbindableValue, match="1292") as caught:
        await typed(sql.replace("{{ v }}", f"{{{{ {path} }}}}"), v="{bad", params={"v": "{bad"})
    assert "bad" not in caught.value.message


clock_time = datetime.fromisoformat
IN_INDIA = datetime(2026, 1, 1, 17, 30, tzinfo=timezone(timedelta(hours=5, minutes=30)))


async def test_an_instant_is_the_same_one_on_the_server(typed) -> None:
    """Its clock time is that of UTC, which is the zone of the session. Red with PyMySQL's own writing: 17:30, for the
    offset was dropped; and without the zone of the session, on a server whose own is another."""
    row = (await typed("select {{ v }} as v, n from typed where stamp = {{ v }}", v=IN_INDIA))[0]
    assert row == {"v": "2026-01-01 12:00:00", "n": 1}
    assert await typed("select @@time_zone as zone") == [{"zone": "+00:00"}]
    declared = "select n from typed where stamp between {{ a }} and {{ b }}"
    assert await typed(declared, a=IN_INDIA - timedelta(seconds=1), b=IN_INDIA + timedelta(seconds=1)) == [{"n": 1}]
    assert await typed("select {{ v }} as v", v=IN_INDIA.replace(tzinfo=None)) == [{"v": "2026-01-01 17:30:00"}]


@pytest.mark.parametrize(
    "value",
    [
        time(17, 30, tzinfo=IN_INDIA.tzinfo),
        datetime(1, 1, 1, tzinfo=IN_INDIA.tzinfo),
        datetime.max.replace(tzinfo=timezone(-timedelta(hours=5))),
    ],
)
async def test_what_has_no_clock_time_in_utc_is_refused(value: object, typed) -> None:
    """A time of day with an offset is none without a day; and the years end. Red when the offset was dropped."""
    with pytest.raises(UnbindableValue, match="cannot be bound on MySQL"):
        await typed("select {{ v }} as v", v=value)


async def test_types_come_as_the_docs_say(typed) -> None:
    """MariaDB's JSON is a text. A date that no calendar has is None: red when it came as text."""
    assert await typed("select * from typed") == [
        {
            "n": 1,
            "l": "x",
            "u": "123e4567-e89b-12d3-a456-426614174000",
            "d": date(2026, 1, 1),
            "at": clock_time("2026-01-01T12:00:00.500000"),
            "stamp": clock_time("2026-01-01T12:00:00"),
            "j": "[1]",
            "t": -timedelta(hours=25, seconds=1.5),
            "b": b"\x03",
            "price": Decimal("1.5000"),
        }
    ]
    never = (
        "cast('0000-00-00' as date) as a, cast('0000-00-00 00:00:00' as datetime) as b, cast('2026-00-15' as date) as c"
    )
    assert await typed(f"select {never}") == [{"a": None, "b": None, "c": None}]


async def test_a_result_knows_the_types_of_its_columns(mariadb: MariaDB, directory: Directory, open_sources) -> None:
    """As the server says them, also of columns without a value. Red without them: None for each."""
    directory.add(1, f"mariadb://root@127.0.0.1:{mariadb.port}/{make_database(mariadb)}")
    casts = {
        "cast(null as signed)": "integer",
        "cast(null as double)": "float",
        "cast(null as decimal(5, 2))": "decimal",
        "cast(null as char)": "text",
        "cast(null as binary)": "bytes",
        "cast(null as date)": "date",
        "cast(null as datetime)": "datetime",
        "cast(null as time)": "interval",
    }
    columns = ", ".join(f"{cast} as c{number}" for number, cast in enumerate(casts))
    result = await open_sources().query(group(main="ds_1"), "main", f"select {columns}", {})
    assert [column.type for column in result.columns] == [*casts.values()]


async def test_texts_of_any_length(mariadb: MariaDB, directory: Directory, open_sources) -> None:
    """Their lengths are written in one, three or four bytes: red at 251 when a length was one byte."""
    directory.add(1, f"mysql://root@127.0.0.1:{mariadb.port}/{make_database(mariadb)}")
    sources = open_sources(timeout=60, connect_timeout=60)
    lengths = [0, 1, 250, 251, 252, 65_535, 65_536, 2**20]
    columns = ", ".join(f"repeat('ö', {length}) as a{length}, null as n{length}" for length in lengths)
    row = (await sources.fetch(group(main="ds_1"), "main", f"select {columns}", {}))[0]
    for length in lengths:
        assert (row[f"a{length}"], row[f"n{length}"]) == ("ö" * length, None)
