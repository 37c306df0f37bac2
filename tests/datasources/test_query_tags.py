"""The comment in the SQL that says for whom a query runs: what a server sees of it, and what it must not change."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from urllib.parse import unquote

import pytest

from engines.mariadb import MariaDB
from tenantry import DataSources, QueryFolder
from tenantry.datasources import statement
from tenantry.datasources.query_label import QueryLabel, comment, template_name, untagged, with_tag
from tenantry.errors import InvalidSettings, NotOneStatement, QueryFailed
from tenantry.sql import PARAMSTYLES, BoundSQL, Query, SQLTemplate
from tests.datasources.conftest import Directory, group, sqlite_file
from tests.datasources.settings import data_sources, executed

HOSTILE = [
    "*/ drop table orders; /*", "a'b", 'a"b', "x\n-- y\r\n", "100%s %(p1)s ? :p1 @p1 $1 {x:Int8} {{ a }}", "\\",
    "é 東 \x00", "/*! select */", "*/*/", "%2A/", "\ud800", "",
]  # fmt: skip
LABEL = QueryLabel("ds_1", "production", "acme", "sales/by_day")


@pytest.mark.parametrize("hostile", HOSTILE)
def test_no_id_ends_the_comment(hostile: str) -> None:
    """Whatever a group's id or a template's name holds, the comment is of letters, digits and ``%_.~-'=,`` alone.

    Red when the values are not encoded: the first one ends the comment and drops a table.
    """
    tag = comment(QueryLabel("ds_1", "production", hostile, hostile))
    inside = re.fullmatch(r"/\*([\w.~%',=-]*)\*/", tag, re.ASCII)
    assert inside is not None
    pairs = dict(pair.split("=") for pair in inside[1].split(","))
    assert sorted(pairs) == list(pairs) == ["application", "group", "source", "template"]
    assert unquote(pairs["group"][1:-1]) == hostile.encode("utf-8", "replace").decode()


@pytest.mark.parametrize("paramstyle", PARAMSTYLES)
@pytest.mark.parametrize("hostile", HOSTILE)
def test_no_driver_finds_a_placeholder_in_it(paramstyle: str, hostile: str) -> None:
    """What a driver makes of the text by its paramstyle leaves the comment as it is. Red when ``%`` is not doubled."""
    label = QueryLabel("ds_1", "production", hostile, "")
    for text, variables in (("select {{ a }} as a", {"a": 1}), ("select 1 as a", {})):
        bound = with_tag(SQLTemplate(text).bind(variables, paramstyle, dialect="clickhouse"), label)
        sql = bound.sql
        if PARAMSTYLES[paramstyle].doubles_percent and bound.params is not None:
            sql %= bound.params
        assert sql.endswith(f"\n{comment(label)}")
        assert not PARAMSTYLES[paramstyle].markers & set(comment(label))


@pytest.mark.parametrize("end", ["", ";", " -- the end", " /* the end */", "; \n", " --"])
def test_it_follows_what_the_text_ends_with(end: str) -> None:
    """On a line of its own, before a semicolon. Red without the line: the last comment swallows it."""
    bound = with_tag(BoundSQL(f"select 1 as one{end}", (), "qmark", "sqlite"), LABEL)
    assert bound.sql.splitlines()[-1] == comment(LABEL)
    assert ";" not in bound.sql
    assert untagged(bound) == f"select 1 as one{end}"


def test_the_name_of_a_template(tmp_path: Path) -> None:
    """A query file has that of its path; a text has a digest, which is the same in every process."""
    (tmp_path / "sales").mkdir()
    (tmp_path / "sales" / "by_day.sql").write_text("select 1 as one")
    assert template_name(QueryFolder(tmp_path)["sales/by_day"]) == "sales/by_day"
    assert template_name(SQLTemplate("select 1 as one")) == "sql-b7e82eb5476f"


async def test_no_cache_keeps_a_query_with_a_name(
    directory: Directory, open_sources, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An author of the SQL editor makes one with each keystroke. Red when template_name, which keeps the template, is
    called for each."""
    directory.add(1, sqlite_file(tmp_path / "one.db", "acme"))
    monkeypatch.setattr("tenantry.datasources.sources.template_name", lambda _: pytest.fail("it keeps the template"))
    query = Query("select 1 as one", name="draft")
    assert await open_sources().fetch(group(main="ds_1"), "main", query, {}) == [{"one": 1}]


TAGGED = "group='a%20%2A%2F%20b',source='ds_1',template='sql-"


async def test_what_postgresql_is_sent(postgres, directory: Directory, open_sources) -> None:
    """The query's own text in pg_stat_activity ends with it, and an error's position is that of the template."""
    directory.add(1, postgres.create_database())
    sources = open_sources()
    asked = "select query, {{ n }}::int as n from pg_stat_activity where pid = pg_backend_pid();"
    ((seen),) = await sources.fetch(group("a */ b", main="ds_1"), "main", asked, {"n": 1})
    assert TAGGED in seen["query"]
    assert seen["n"] == 1
    with pytest.raises(QueryFailed, match="at character 8 of"):
        await sources.fetch(group("a */ b", main="ds_1"), "main", "select missing", {})
    ((bare),) = await open_sources(query_tags=()).fetch(group("a */ b", main="ds_1"), "main", asked, {"n": 1})
    assert "tenantry" not in bare["query"]


async def test_what_mariadb_is_sent(mariadb: MariaDB, directory: Directory, open_sources) -> None:
    """With a value and without one: PyMySQL undoubles ``%`` only in the first case."""
    directory.add(1, mariadb.create_user(mariadb.create_database(), "select"))
    sources = open_sources()
    asked = "select info from information_schema.processlist where id = connection_id()"
    for text, variables in ((asked, {}), (asked + " and 1 = {{ n }}", {"n": 1})):
        ((seen),) = await sources.fetch(group("a */ b", main="ds_1"), "main", text, variables)
        assert TAGGED in seen["info"]
        assert seen["info"].endswith("*/")


async def test_the_text_is_checked_without_it(
    mariadb: MariaDB, directory: Directory, open_sources, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A check is cached by its text, which is one for all groups; and it refuses what it refused.

    Red when the guard is given the tagged text: each group is another one.
    """
    checked: list[str] = []
    real = statement.mysql_refusal
    monkeypatch.setattr(
        "tenantry.datasources.engines.mysql.mysql_refusal", lambda sql: checked.append(sql) or real(sql)
    )
    directory.add(1, mariadb.create_user(mariadb.create_database(), "select"))
    sources = open_sources()
    for name in ("acme", "globex"):
        await sources.fetch(group(name, main="ds_1"), "main", "select {{ n }} as n", {"n": name})
    assert checked == ["select concat(%s) as n"] * 2
    for refused in ("select 1 as a; delete from t", "select @a := 1 as a", "delete from t", ";", ""):
        with pytest.raises(NotOneStatement):
            await sources.fetch(group(main="ds_1"), "main", refused, {})


async def test_engines_without_a_list_of_queries_get_none(directory: Directory, open_sources, tmp_path: Path) -> None:
    """A file has nobody who would read it, and Python keeps SQLite's statements by their text. Red with a tag on
    every engine: the text of the statement shows it."""
    directory.add(1, sqlite_file(tmp_path / "a.db", "acme"))
    sources: DataSources = open_sources()
    sent: list[str] = []
    await sources.fetch(group(main="ds_1"), "main", "select 1 as one", {})
    source = sources._open_sources._open[1, "ds_1"].pool
    real = source.fetch  # type: ignore[attr-defined]

    async def fetch(shape, bound, *further):
        sent.append(bound.sql)
        return await real(shape, bound, *further)

    source.fetch = fetch  # type: ignore[method-assign]
    await asyncio.gather(*(sources.fetch(group(name, main="ds_1"), "main", "select 2 as two", {}) for name in "ab"))
    assert set(sent) == {"select 2 as two"}


async def test_groups_still_share_what_reads_nothing_of_them(postgres, directory: Directory, open_sources) -> None:
    """The tag is no part of the key. Red when the fingerprint is that of the tagged text: two executions."""
    directory.add(1, postgres.create_database())
    sources = open_sources()
    slow = SQLTemplate("select pg_sleep(0.3) is null as no")
    await asyncio.gather(*(sources.fetch(group(name, main="ds_1"), "main", slow, {}) for name in "ab"))
    assert executed(sources) == 1


@pytest.mark.parametrize("wrong", ["postgresql", ["postgres"], ["acme"]])
def test_an_unknown_engine_is_refused(wrong: object, directory: Directory) -> None:
    """Red when any text is taken: a tag that nobody sees."""
    with pytest.raises(InvalidSettings, match="query_tags"):
        data_sources(directory, query_tags=wrong)
