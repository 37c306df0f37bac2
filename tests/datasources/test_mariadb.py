"""MariaDB through the MySQL driver, on a real server: what a value or a text of the template may not reach, and the
dialect that the scheme of the URL names."""

from __future__ import annotations

from pathlib import Path

import pytest

from engines.mariadb import MariaDB
from tenantry.errors import NotOneStatement, QueryFailed, TemplateError
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
    sources = open_sources(timeout=5, row_limit=10, pool_size=1, connect_timeout=5)

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
    with pytest.raises(TemplateError, match="reads what it names"):
        await fetch(sql, v=str(file))
    monkeypatch.setattr("tenantry.sql.parsing.parser.check_dynamic_sql", lambda *_: None)
    with pytest.raises(QueryFailed, match="a value never becomes SQL"):
        await fetch(sql, v=str(file))
    monkeypatch.setattr("tenantry.datasources.mysql.has_dynamic_sql", lambda *_: False)
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
    sources, acme = open_sources(timeout=5), group(main="ds_1")
    assert await sources.dialect(acme, "main") == dialect
    for named in ("mysql", "mariadb"):
        fragment = Query(f"/* ---\ndialect: {named}\n--- */\nselect id from orders where owner = {{{{ v }}}}", "mine")
        query = Query("select count(*) as n from ({{> mine }}) m", fragments={"mine": fragment})
        if named == dialect:
            assert await sources.fetch(acme, "main", query, {"v": "acm"}) == [{"n": 1}]
        else:
            with pytest.raises(TemplateError, match=f"this fragment is {named}, and the template .* {dialect}"):
                await sources.fetch(acme, "main", query, {"v": "acm"})
