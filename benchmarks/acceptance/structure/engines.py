"""Real engines, and the structure that each of them reads in a statement.

Every value is pasted into the text as a literal, as drivers do that bind on the client: in the position of a
placeholder it is one literal and nothing else. The engine's own account of the statement, without the values of its
literals, is then the same for all values. And it counts as many placeholders in the text as there are parameters.
"""

from __future__ import annotations

import hashlib
import re
import sqlite3
from collections.abc import Callable, Sequence
from typing import Any, Final, Protocol

import duckdb
import psycopg
import pymysql

from benchmarks.acceptance.structure.generator import TABLE
from engines.clickhouse import ClickHouse as ClickHouseEngine
from tenantry.sql import BoundSQL

ERROR: Final = "error"
"""How the structure of a statement begins that the engine refuses."""


class Engine(Protocol):
    """One engine with the table ``orders``. ``style`` is the paramstyle in which placeholders are counted."""

    dialect: str
    style: str

    def paste(self, bound: BoundSQL) -> str:
        """The text with its values as literals; ``bound`` is of the style ``format``."""

    def structures(self, statements: Sequence[str]) -> list[str]:
        """What each of these statements is, without its values; ``ERROR`` and its kind for one that is refused."""

    def placeholders(self, statements: Sequence[BoundSQL]) -> list[int]:
        """How many the engine counts in the text of each. Raises whatever the driver raises."""

    def close(self) -> None:
        """Ends the connection."""


def splice(bound: BoundSQL) -> str:
    """The control: values between quotes, and nothing done about what is in them."""
    if not bound.params:
        return bound.sql
    return bound.sql % tuple(f"'{each}'" if isinstance(each, str) else str(each) for each in bound.params)


def _standard_text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


def _pasted(bound: BoundSQL) -> str:
    """Literals of the SQL standard, which SQLite and DuckDB read: only the quote is special."""
    return bound.sql % tuple(map(_literal, bound.params)) if bound.params else bound.sql


def _literal(value: Any, text: Callable[[str], str] = _standard_text) -> str:
    """``text`` writes one of text."""
    if isinstance(value, list):
        return "[" + ", ".join(_literal(item, text) for item in value) + "]"
    if value is None:
        return "null"
    return text(value) if isinstance(value, str) else str(value)


class SQLite:
    """The program of the statement's virtual machine, without its constants."""

    dialect: str = "sqlite"
    style: str = "qmark"

    def __init__(self) -> None:
        self._connection = sqlite3.connect(":memory:", isolation_level=None)
        self._connection.execute(TABLE)

    def close(self) -> None:
        self._connection.close()

    def paste(self, bound: BoundSQL) -> str:
        return _pasted(bound)

    def structures(self, statements: Sequence[str]) -> list[str]:
        return [self._program(statement) for statement in statements]

    def _program(self, statement: str) -> str:
        try:
            rows = self._connection.execute(f"explain {statement}").fetchall()
        except sqlite3.Error as error:
            return f"{ERROR} {type(error).__name__}"
        # In opcodes that load a constant, p1 is its value.
        program = [(name, 0 if name == "Integer" else p1, p2, p3) for _, name, p1, p2, p3, *_ in rows]
        return hashlib.sha256(repr(program).encode()).hexdigest()

    def placeholders(self, statements: Sequence[BoundSQL]) -> list[int]:
        return [self._counted(bound) for bound in statements]

    def _counted(self, bound: BoundSQL) -> int:
        self._connection.execute(f"explain {bound.sql}", bound.params or ())  # refused if it counts others
        return len(bound.params or ())


class DuckDB:
    """The syntax tree that the engine's own parser makes."""

    dialect: str = "duckdb"
    style: str = "qmark"

    def __init__(self) -> None:
        self._connection = duckdb.connect(config={"threads": 1})
        self._connection.execute(TABLE)

    def close(self) -> None:
        self._connection.close()

    def paste(self, bound: BoundSQL) -> str:
        return _pasted(bound)

    def structures(self, statements: Sequence[str]) -> list[str]:
        found = self._connection.execute(_DUCKDB_TREE, [list(statements)]).fetchall()
        return [each for (each,) in found]

    def placeholders(self, statements: Sequence[BoundSQL]) -> list[int]:
        extracted = [self._connection.extract_statements(bound.sql) for bound in statements]
        return [len(statement.named_parameters) for (statement,) in extracted]


_HISTORY: Final = 32
"""How many statements the server's history keeps, as ``engines.mariadb`` starts it."""
_DIGESTS: Final = """
select digest from performance_schema.events_statements_history
where thread_id = (select thread_id from performance_schema.threads where processlist_id = connection_id())
order by event_id desc limit %s
"""
_DUCKDB_TREE: Final = r"""
select case when tree->>'error' = 'true' then 'error' else md5(regexp_replace(regexp_replace(tree::varchar,
    '"query_location(_length)?":[0-9]+', '', 'g'), '"(value|text)":("([^"\\]|\\.)*"|-?[0-9.]+)', '', 'g')) end
from (select json_serialize_sql(unnest($1::varchar[])) as tree)
"""
"""Without locations, and the values of literals: ``value`` up to version 1, ``text`` since."""


class PostgreSQL:
    """The identifier that the server computes of a parsed query, which leaves out its constants."""

    dialect: str = "postgresql"
    style: str = "numeric_dollar"

    def __init__(self, url: str) -> None:
        self._connection = psycopg.connect(url, autocommit=True)
        self._connection.execute(TABLE)
        self._connection.execute(_POSTGRESQL_FUNCTION)
        self._connection.execute("set compute_query_id = on")
        self._connection.execute("set default_transaction_read_only = on")
        self._connection.execute("set role pg_read_all_data")  # what the control splices in may do nothing
        self._client = psycopg.ClientCursor(self._connection)

    def close(self) -> None:
        self._connection.close()

    def paste(self, bound: BoundSQL) -> str:
        return self._client.mogrify(bound.sql, bound.params)

    def structures(self, statements: Sequence[str]) -> list[str]:
        row = self._connection.execute("select structures(%s)", [list(statements)]).fetchone()
        assert row is not None
        found: list[str] = row[0]
        return found

    def placeholders(self, statements: Sequence[BoundSQL]) -> list[int]:
        return [self._counted(bound) for bound in statements]

    def _counted(self, bound: BoundSQL) -> int:
        self._connection.execute(f"prepare counted as {bound.sql}", prepare=False)
        count = "select cardinality(parameter_types) from pg_prepared_statements where name = 'counted'"
        row = self._connection.execute(count).fetchone()
        self._connection.execute("deallocate counted")
        assert row is not None
        return int(row[0])


_POSTGRESQL_FUNCTION: Final = """
create function structures(statements text[]) returns text[] language plpgsql as $function$
declare found text[] := '{}'; statement text; line text; identifier text;
begin
  foreach statement in array statements loop
    identifier := 'none';
    begin
      for line in execute 'explain (verbose, costs off) ' || statement loop
        if line like 'Query Identifier:%' then identifier := line; end if;
      end loop;
    exception when others then identifier := 'error ' || sqlstate;
    end;
    found := found || identifier;
  end loop;
  return found;
end $function$
"""


class MariaDB:
    """The digest that the server's performance schema keeps of a statement, which leaves out its literals."""

    dialect: str = "mysql"
    style: str = "format"

    def __init__(self, connection: Any) -> None:
        self._connection = connection
        self._cursor = connection.cursor()
        self._cursor.execute(TABLE)

    def close(self) -> None:
        self._connection.close()

    def paste(self, bound: BoundSQL) -> str:
        return str(self._cursor.mogrify(bound.sql, bound.params))

    def structures(self, statements: Sequence[str]) -> list[str]:
        found = []
        for first in range(0, len(statements), _HISTORY):
            some = statements[first : first + _HISTORY]
            errors = [self._error(statement) for statement in some]
            self._cursor.execute(_DIGESTS, (len(some),))
            digests = [str(digest) for (digest,) in reversed(self._cursor.fetchall())]
            found += [error or digest for error, digest in zip(errors, digests, strict=True)]
        return found

    def _error(self, statement: str) -> str:
        try:
            self._cursor.execute(f"explain {statement}")
            self._cursor.fetchall()
        except pymysql.MySQLError as error:
            return f"{ERROR} {error.args[0]}"
        return ""

    def placeholders(self, statements: Sequence[BoundSQL]) -> list[int]:
        return [self._counted(bound) for bound in statements]

    def _counted(self, bound: BoundSQL) -> int:
        self._cursor.execute("prepare counted from %s", (bound.sql.replace("%s", "?").replace("%%", "%"),))
        self._cursor.execute("deallocate prepare counted")
        return len(bound.params or ())


class ClickHouse:
    """The statement as the engine's parser writes it again, without its literals."""

    dialect: str = "clickhouse"
    style: str = "pyformat"

    def __init__(self, engine: ClickHouseEngine) -> None:
        self._engine = engine

    def close(self) -> None:
        """Who started the engine stops it."""

    def paste(self, bound: BoundSQL) -> str:
        return (
            bound.sql % tuple(_literal(each, _clickhouse_text) for each in bound.params) if bound.params else bound.sql
        )

    def structures(self, statements: Sequence[str]) -> list[str]:
        return [ERROR if text is None else hashlib.sha256(text.encode()).hexdigest() for text in self._read(statements)]

    def placeholders(self, statements: Sequence[BoundSQL]) -> list[int]:
        marked = [
            bound.sql % {name: f"{{{name}:String}}" for name in bound.params} if bound.params else bound.sql
            for bound in statements
        ]
        return [len(set(re.findall(r"\{(\w+):String\}", text or ""))) for text in self._read(marked)]

    def _read(self, statements: Sequence[str]) -> list[str | None]:
        """Each as the engine writes it, a question mark for a literal; None for one that it refuses."""
        array = _literal(list(statements), _clickhouse_text)
        return [text for (text,) in self._engine.query(_CLICKHOUSE_TEXTS, {"statements": array})]


def _clickhouse_text(value: str) -> str:
    """As its drivers write one."""
    return "'" + value.translate(_CLICKHOUSE_ESCAPES) + "'"


_CLICKHOUSE_ESCAPES: Final = str.maketrans(
    {"\\": "\\\\", "'": "\\'", "\b": "\\b", "\f": "\\f", "\r": "\\r", "\n": "\\n", "\t": "\\t", "\0": "\\0"}
)
_LITERALS: Final = r"""(`(?:[^`\\]|\\.)*`)|'(?:[^'\\]|\\.)*'|\b[0-9][0-9.]*(?:e[+-]?[0-9]+)?\b"""
"""Names in backquotes, which stay, and literals, as the engine's formatter writes them."""
_CLICKHOUSE_TEXTS: Final = f"""
select replaceRegexpAll(formatQuerySingleLineOrNull(statement), {_clickhouse_text(_LITERALS)}, '\\\\1?')
from (select arrayJoin({{statements:Array(String)}}) as statement)
"""
