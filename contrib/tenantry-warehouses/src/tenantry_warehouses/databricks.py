"""The Databricks driver, over the SQL connector of Databricks. The server binds named parameters; the connector cancels
queries.

Tests use a fake server; the driver has not been tested with Databricks itself.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from importlib import import_module
from typing import Any, Final
from uuid import UUID

from sqlalchemy.engine import URL

from tenantry.datasources import Limits, take_result
from tenantry.datasources.engines import (
    SEVERAL,
    UNCLEAR,
    Engine,
    parse_url,
    query_error,
    timeout_error,
    unreachable_error,
)
from tenantry.errors import InvalidSource, TemplateError, TenantryError, UnbindableValue
from tenantry.groups import RegisteredSource
from tenantry.results import Result
from tenantry.sql import DIALECTS, BoundSQL
from tenantry.sql.inspect import LexemeKind, Source, lex
from tenantry_warehouses.statements import BY_STATEMENT, ReadingStatements, Stopper, url_options

OPTIONS: Final = frozenset({"http_path", "catalog", "schema"})
# Databricks has no read-only sessions, and does not report the kind of a statement. So SQL must begin with a keyword
# that reads, such as `select`. Outside of strings, quoted names and comments, it must not contain a keyword that
# writes, as in `with … insert`. Functions are not checked: they run with the rights of the token.
_WRITING: Final = re.compile(r"\b(?:insert|update|delete|merge)\b", re.IGNORECASE)
_WRITES: Final = (
    "it contains a keyword that writes ({word}): if that is the name of a column or function, put the name in backticks"
)
_CODE: Final = frozenset({LexemeKind.CODE, LexemeKind.LEFT_BRACKET, LexemeKind.RIGHT_BRACKET})
_SQLSTATE: Final = re.compile(r"SQLSTATE:? ([0-9A-Z]{5})\b")
_STOPPED: Final = "57014"
_BAD_VALUE: Final = "22"
_READ: Final = 64  # maximum number of rows to fetch in one call
_TYPES: Final[Mapping[str, str]] = {
    **dict.fromkeys(("tinyint", "smallint", "int", "bigint"), "integer"),
    **dict.fromkeys(("float", "double"), "float"),
    **dict.fromkeys(("timestamp", "timestamp_ntz"), "datetime"),
    **dict.fromkeys(("struct", "map"), "struct"),
    "array": "list",
    "binary": "bytes",
    "boolean": "boolean",
    "date": "date",
    "decimal": "decimal",
    "string": "text",
}
_ARROW_TYPES: Final[Mapping[str, str]] = {"timestamp": "timestamptz", "timestamp_ntz": "timestamp"}


@dataclass(slots=True)
class CursorConnection:
    """A connection, and the cursor of its running query, if any."""

    connection: Any
    cursor: Any = None


def connect_arguments(url: URL) -> dict[str, Any]:
    """Return the connector's arguments for ``databricks://token:TOKEN@host?http_path=/sql/1.0/warehouses/ID``. Raises
    InvalidSource."""
    options = url_options(url, OPTIONS)
    if not url.host or not url.password or "http_path" not in options:
        raise InvalidSource(
            "a databricks URL is databricks://token:TOKEN@host?http_path=/sql/1.0/warehouses/ID&catalog=NAME&schema=NAME",
            field="/url",
        )
    return {"server_hostname": url.host, "access_token": url.password, **options}


def text_refusal(sql: str) -> str | None:
    """Return why to refuse SQL; None for one statement without a keyword that writes."""
    text = sql.replace("{{", "{ {").replace("{%", "{ %")  # braces in bound SQL are not template tags
    try:
        lexemes = lex(Source(text), DIALECTS["databricks"])
    except TemplateError:
        return UNCLEAR
    code = " ".join(text[each.start : each.end] for each in lexemes if each.kind in _CODE)
    found = _WRITING.search(code)
    if found is not None:
        return _WRITES.format(word=found[0].lower())
    return SEVERAL if ";" in code.rstrip(" \t\r\n;") else None


class DatabricksDriver:
    """A Driver and DeclaringDriver for Databricks. Raises InvalidSource for an unusable URL."""

    dialect = "databricks"
    paramstyle = "named"
    enforcement = BY_STATEMENT

    def __init__(self, source: RegisteredSource, limits: Limits) -> None:
        url = parse_url(source.url)
        self.source_id: str = source.id
        self._limits = limits
        self._arguments = connect_arguments(url)
        self._statements = ReadingStatements(source.id, self.dialect)
        self._stopper = Stopper(source.id, limits)
        self._sql = import_module("databricks.sql")

    def open(self) -> CursorConnection:
        """Open a session with a timeout, in UTC. Raises SourceUnavailable."""
        failure: TenantryError
        try:
            return CursorConnection(
                self._sql.connect(
                    **self._arguments,
                    user_agent_entry="tenantry",
                    enable_telemetry=False,
                    session_configuration={
                        "STATEMENT_TIMEOUT": str(math.ceil(self._limits.timeout)),
                        "TIMEZONE": "UTC",
                    },
                )
            )
        except (self._sql.exc.Error, OSError) as error:
            failure = unreachable_error(self.source_id, error)
        raise failure

    def fetch(self, connection: CursorConnection, bound: BoundSQL) -> Result:
        self._statements.check(bound, lambda: text_refusal(bound.sql))
        params = {name: _parameter(value) for name, value in dict(bound.params or {}).items()}
        cursor = connection.cursor = connection.connection.cursor()
        try:
            cursor.execute(bound.sql, params or None)
            description = cursor.description or ()
            kinds = [str(column[1]).lower() for column in description]
            return take_result(
                self.source_id,
                [column[0] for column in description],
                _tuples(cursor),
                self._limits,
                types=[_TYPES.get(kind) for kind in kinds],
                arrow_types=[_ARROW_TYPES.get(kind) for kind in kinds],
            )
        finally:
            connection.cursor = None
            with suppress(Exception):
                cursor.close()

    def failure(self, error: Exception) -> TenantryError:
        found = _SQLSTATE.findall(str(error))
        state = found[-1] if found else ""
        if state == _STOPPED:
            return timeout_error(self.source_id, self._limits.timeout)
        if not state and isinstance(error, self._sql.exc.RequestError | OSError):
            return unreachable_error(self.source_id, error)
        if state.startswith(_BAD_VALUE):
            return UnbindableValue(f"a value does not fit its position in the SQL: SQLSTATE {state}", name="$")
        return query_error(self.source_id, type(error).__name__ + (f" (SQLSTATE {state})" if state else ""))

    def interrupt(self, connection: CursorConnection) -> None:
        cursor = connection.cursor
        if cursor is not None:
            self._stopper.stop(connection, cursor.cancel)

    def close(self, connection: CursorConnection) -> None:
        self._stopper.forget(connection)
        connection.connection.close()

    def shutdown(self) -> None:
        self._stopper.shutdown()


ENGINE: Final = Engine(
    name="databricks",
    dialect="databricks",
    make_driver=DatabricksDriver,
    enforcement=BY_STATEMENT,
    check_url=connect_arguments,
    package="databricks-sql-connector",
    module="databricks.sql",
    install="tenantry-warehouses[databricks]",
)


def _tuples(cursor: Any) -> Iterator[tuple[Any, ...]]:
    count = 1
    while rows := cursor.fetchmany(count):
        yield from map(tuple, rows)
        count = min(2 * count, _READ)  # few at first, because rows may be large


def _parameter(value: Any) -> Any:
    if isinstance(value, UUID):
        return str(value)
    if isinstance(value, timedelta):
        raise UnbindableValue("a timedelta cannot be bound on Databricks: use make_dt_interval(…)", name="$")
    return value
