"""What can be told of a statement from its text."""

from __future__ import annotations

import pytest

from tenantry.datasources.statement import first_keyword, mysql_refusal


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
