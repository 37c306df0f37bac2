"""DuckDB: the file is read-only, external access is disabled, and the configuration is locked."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from threading import Lock
from typing import Final

import duckdb

from tenantry.database import is_sqlite
from tenantry.datasources.driver import (
    OpenRows,
    check_statement,
    driver_parameters,
    named_word,
    query_error,
    refuse_dynamic_sql,
    statement_error,
    timeout_error,
    unreachable_error,
)
from tenantry.datasources.engines.json_columns import Row, with_json
from tenantry.datasources.pool.query_limits import Limits, take_open_rows
from tenantry.datasources.results import Result
from tenantry.datasources.results.arrow import ARROW_TYPES
from tenantry.datasources.statement import NOTHING, READING_DUCKDB, SEVERAL, UNCLEAR, WRITES, first_keyword, refusal
from tenantry.datasources.url import file_path, memory_limit, parse_url
from tenantry.errors import InvalidSource, SourceUnavailable, TenantryError
from tenantry.groups import RegisteredSource
from tenantry.sql import BoundSQL

# Unless external access is off, a read-only DuckDB reads and writes other files (`read_csv`, `copy … to`) and the
# network. The lock keeps SQL from turning external access on. python_enable_replacements would let SQL read variables
# of this program by name. A process opens a file only once, so all sources of one file must have the same settings.
LOCKED: dict[str, str | bool | int | float | list[str]] = {
    "enable_external_access": "false",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "allow_community_extensions": "false",
    "python_enable_replacements": "false",
    "temp_directory": "",  # without a folder, a query beyond the memory limit fails instead of writing to disk
    "lock_configuration": "true",
}
_SELECTS = "SELECT"  # DuckDB's kind of `select`, and also of `from`, `values`, `describe`, `summarize` and `show`
_EXPLAINED = "EXPLAIN"
_REWRITTEN = frozenset({"pragma", "call", "use", "set"})  # DuckDB 1.x makes selects of some of these statements
_EXPLAIN = re.compile(r"[\s(]*explain\b\s*(?:analyze\b\s*)?(?:\(\s*(?:analyze|format)\b[^()]*\)\s*)?", re.IGNORECASE)
# The statement type of a `pivot` that takes its columns from the rows. DuckDB creates a type for it and drops the type
# afterwards.
_EXPANDED = "MULTI"
_PIVOT_WITH_VALUES = ("PIVOT statements with pivot elements extracted", "a statement that expands into several")
_NAME_THE_COLUMNS = (
    "a `pivot` that takes its columns from the rows cannot have values: name the columns, "
    "as in `pivot … on column in ('a', 'b')`"
)
_NAMED: Final = re.compile(
    r'Referenced (?:column|table) "(\w+)" not found|does not have a column named "(\w+)"|'
    r'Ambiguous reference to column name "(\w+)"|with name (\w+) does not exist|syntax error at or near "(\w+)"'
)
_JSON: Final = "json"
_TYPES: Final[Mapping[str, str]] = {
    **dict.fromkeys(("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT"), "integer"),
    **dict.fromkeys(("UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT"), "integer"),
    **dict.fromkeys(("FLOAT", "DOUBLE"), "float"),
    **dict.fromkeys(("TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS"), "datetime"),
    **dict.fromkeys(("VARCHAR", "BIT", "BIGNUM", "VARINT"), "text"),
    "BOOLEAN": "boolean",
    "BLOB": "bytes",
    "DATE": "date",
    "TIME": "time",
    "TIME WITH TIME ZONE": "time",
    "TIMESTAMP WITH TIME ZONE": "datetime",
    "INTERVAL": "interval",
    "UUID": "uuid",
    "JSON": _JSON,
}
_TYPE_FAMILIES: Final[Mapping[str, str]] = {"DECIMAL": "decimal", "STRUCT": "struct", "MAP": "struct", "ENUM": "text"}


_ARROW_TYPES: Final[Mapping[str, str]] = {
    **dict.fromkeys(("UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT"), "uint64"),
    **dict.fromkeys(("UHUGEINT", "TIME WITH TIME ZONE"), "string"),
    "HUGEINT": "decimal(38, 0)",
    "TIMESTAMP WITH TIME ZONE": "timestamptz",
}
"""DuckDB type → Arrow type, where ``ARROW_TYPES`` does not apply."""
_DECIMAL: Final = re.compile(r"DECIMAL\((\d+),\s*(\d+)\)")


class DuckDBDriver:
    """A ``StreamingDriver`` for a DuckDB file. Connections are cursors of one instance."""

    dialect = "duckdb"
    paramstyle = "numeric_dollar"

    def __init__(self, source: RegisteredSource, limits: Limits) -> None:
        url = parse_url(source.url)
        self.source_id: str = source.id
        self._memory_limit = memory_limit(url)
        self._path = file_path(url)
        self._limits = limits
        self._lock = Lock()
        self._instance: duckdb.DuckDBPyConnection | None = None

    def open(self) -> duckdb.DuckDBPyConnection:
        if not self._path.is_file():
            raise SourceUnavailable(f"the file of data source {self.source_id} does not exist")
        if is_sqlite(self._path):
            raise InvalidSource(
                f"the file of data source {self.source_id} is a SQLite file: register it as sqlite:///…"
            )
        failure = None
        settings = {**LOCKED, "memory_limit": self._memory_limit}
        with self._lock:
            if self._instance is None:
                try:
                    self._instance = duckdb.connect(str(self._path), read_only=True, config=settings)
                except duckdb.ConnectionException as error:
                    failure = unreachable_error(
                        self.source_id, error, ": this process already has the file open with other settings"
                    )
                except duckdb.IOException as error:
                    failure = unreachable_error(
                        self.source_id, error, ": it is not a DuckDB file, or another process has it open for writing"
                    )
            if failure is None and self._instance is not None:
                return self._instance.cursor()
        raise failure or SourceUnavailable(f"data source {self.source_id} cannot be opened")

    def fetch(self, connection: duckdb.DuckDBPyConnection, bound: BoundSQL) -> Result:
        return take_open_rows(self.source_id, self.open_rows(connection, bound, None), self._limits)

    def open_rows(self, connection: duckdb.DuckDBPyConnection, bound: BoundSQL, session: BoundSQL | None) -> OpenRows:
        statements = connection.extract_statements(bound.sql)
        check_statement(self.source_id, _refusal(connection, bound.sql, statements))
        refuse_dynamic_sql(self.source_id, bound, self.dialect)
        cursor = connection.execute(statements[0], driver_parameters(bound))
        description = cursor.description or ()
        declared = [str(column[1]) for column in description]
        types = [type_word(each) for each in declared]
        rows: Iterator[Row] = iter(cursor.fetchone, None)  # one at a time, because a row may be large
        if _JSON in types:
            rows = with_json(rows, [position for position, word in enumerate(types) if word == _JSON])
        names = [column[0] for column in description]
        return OpenRows(names, rows, types, arrow_types=[arrow_type(each) for each in declared])

    def failure(self, error: Exception) -> TenantryError:
        if isinstance(error, duckdb.InterruptException):
            return timeout_error(self.source_id, self._limits.timeout)
        if any(phrase in str(error) for phrase in _PIVOT_WITH_VALUES):
            return statement_error(self.source_id, _NAME_THE_COLUMNS)
        if isinstance(error, duckdb.InvalidInputException):
            if "read-only mode" in str(error):
                return statement_error(self.source_id, WRITES)
            if "'pytz'" in str(error):
                return query_error(
                    self.source_id,
                    "timestamp with time zone needs the package pytz: pip install pytz, or cast the value to timestamp",
                )
        if isinstance(error, duckdb.OutOfMemoryException):
            return query_error(
                self.source_id,
                f"it needs more than {self._memory_limit} of memory: aggregate, select fewer columns, or raise "
                "memory_limit in the URL of the data source",
            )
        if isinstance(error, duckdb.PermissionException):
            return query_error(self.source_id, "a query cannot use files, networks or extensions (PermissionException)")
        return query_error(self.source_id, type(error).__name__, word=named_word(str(error), _NAMED))

    def interrupt(self, connection: duckdb.DuckDBPyConnection) -> None:
        connection.interrupt()

    def close(self, connection: duckdb.DuckDBPyConnection) -> None:
        connection.close()

    def shutdown(self) -> None:
        with self._lock:
            if self._instance is not None:
                self._instance.close()
                self._instance = None


def _refusal(connection: duckdb.DuckDBPyConnection, sql: str, statements: list[duckdb.Statement]) -> str | None:
    if len(statements) != 1:
        return SEVERAL if statements else NOTHING
    reason = refusal(sql, READING_DUCKDB)
    kind = statements[0].type.name.removesuffix("_STATEMENT")
    if kind == _EXPLAINED or first_keyword(sql) == "explain":
        explain = _EXPLAIN.match(sql)
        if explain is None:
            return reason or UNCLEAR
        # Check the explained statement too, because `explain create temp table` creates the table.
        explained = sql[explain.end() :]
        return _refusal(connection, explained, connection.extract_statements(explained))
    is_rewritten = first_keyword(sql) in _REWRITTEN
    if (kind == _SELECTS and not is_rewritten) or (kind == _EXPANDED and reason is None):
        return None
    return reason or f"DuckDB reports that it is a {kind} statement, which does more than read"


def type_word(name: str) -> str | None:
    """Return the ``ResultColumn.type`` for a DuckDB type, or None if it is unknown."""
    if name.endswith("]"):
        return "list"
    family, bracket, _ = name.partition("(")
    return _TYPE_FAMILIES.get(family) if bracket else _TYPES.get(name)


def arrow_type(name: str) -> str | None:
    digits = _DECIMAL.fullmatch(name)
    if digits is not None:
        return f"decimal({digits[1]}, {digits[2]})"
    word = type_word(name)
    return None if word is None else _ARROW_TYPES.get(name) or ARROW_TYPES.get(word, "string")
