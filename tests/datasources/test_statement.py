"""What can be told of a statement from its text."""

from __future__ import annotations

import pytest

from tenantry.datasources.statement import first_keyword, is_plain, mysql_refusal


@pytest.mark.parametrize(
    ("sql", "word"),
    [
        ("select 1", "select"),
        (" \n\t-- note\n/* note */ ((SELECT 1))", "select"),
        ("-- select\r\ninsert", "insert"),
        ("/* select */copy", "copy"),
        ("/* /* */ select */ copy", None),
        ("/*! insert */", None),
        ("/*M! insert */", None),
        ("-- x\rcopy", None),
        ("\u00a0select 1", None),
        ("'select'", None),
        ("", None),
    ],
)
def test_the_first_keyword(sql: str, word: str | None) -> None:
    """Comments before it are skipped only where all engines agree on where they end."""
    assert first_keyword(sql) == word


@pytest.mark.parametrize(
    ("sql", "allowed"),
    [
        ("select 1", True),
        ("select 1;\n", True),
        ("describe t", True),
        ("desc t", True),
        ("explain select 1", True),
        ("with x as (select 1) select * from x", True),
        ("select ';', \"it's; into\", `a;b`, 'a\\';b' -- ; into\n", True),
        ("select 1 # ; into", True),
        ("select /*+ max_execution_time(1) */ 1", True),
        ("select ':=', ':= get_lock(' from t where id := 1", False),
        ("select ':=', 'get_lock(', last_insert_id from t", True),
        ("select @n := {{ v }}", False),
        ("select GET_LOCK ('x', 1)", False),
        ("select last_insert_id(%s)", False),
        ("select `get_lock`('x', 1)", False),
        ("select `last_insert_id` -- c\n (%s)", False),
        ("select 1; delete from t", False),
        ("select 'a\\'; delete from t -- '", True),
        ("select 'a\\\\'; delete from t -- '", False),
        ("select 1 into outfile '/tmp/x'", False),
        ("select 1 INTO @x", False),
        ("select 1 /*! into outfile '/tmp/x' */", False),
        ("select 1 /*!50000 ; delete from t */", False),
        ("select 1 /*M! into outfile '/tmp/x' */", False),
        ("select 1 --; delete from t\n", False),
        ("select 'open", False),
        ("select 1 /* open", False),
        ("set @x = 1", False),
        ("load data infile 'x' into table t", False),
        ("delete from t", False),
        ("", False),
    ],
)
def test_one_mysql_read(sql: str, allowed: bool) -> None:
    """Executable comments, INTO and a second statement are seen where MySQL sees them."""
    assert (mysql_refusal(sql) is None) is allowed


@pytest.mark.parametrize(
    ("sql", "plain"),
    [
        ("select a.b, 'it''s; fine', \"Name\" from t where x = ? and y in (?, ?) -- note\n limit 1", True),
        ("select 1 - 2 / 3 /* note */;", True),
        ("select %(a)s, :b, @c", True),
        ("select ''", True),
        (r"select 'it\'s'", False),
        ("select `a`", False),
        ("select [o'brien]", False),
        ("select $$a$$", False),
        ("select q'[it's]'", False),
        ("select E'a'", False),
        ("select U&'!0041' uescape '!'", False),
        ("select * from u&\"!0074s_stat\" uescape '!' (?)", False),
        ("select 1 # note", False),
        ("select '''a'''", False),
        ('select """a"""', False),
        ("select 1 --note\n", False),
        ("select 1 /*+ hint */", False),
        ("select 1 /* a /* b */", False),
        ("select 'open", False),
        ("select 1; select 2", False),
    ],
)
def test_plain_text(sql: str, plain: bool) -> None:
    """A text is plain when no SQL engine cuts it into other words."""
    assert is_plain(sql) is plain
