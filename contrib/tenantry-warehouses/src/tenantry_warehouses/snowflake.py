"""The Snowflake driver, over Snowflake's connector. The server binds values, accepts one statement, and aborts it by
request id."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from importlib import import_module
from typing import Any, Final
from uuid import UUID, uuid4

from sqlalchemy.engine import URL

from tenantry.datasources import Limits, take_result
from tenantry.datasources.engines import (
    SEVERAL,
    Engine,
    is_loopback,
    parse_url,
    query_error,
    statement_error,
    timeout_error,
    unreachable_error,
    with_json,
)
from tenantry.errors import InvalidSource, TenantryError, UnbindableValue
from tenantry.groups import RegisteredSource
from tenantry.results import Result
from tenantry.sql import BoundSQL
from tenantry_warehouses.statements import (
    BY_STATEMENT,
    ReadingStatements,
    Stopper,
    url_options,
)

OPTIONS: Final = frozenset(
    {"warehouse", "role", "host", "port", "protocol", "authenticator", "token", "private_key_file"}
    | {"private_key_file_pwd"}
)
_AUTHENTICATORS: Final = frozenset({"snowflake", "snowflake_jwt", "oauth", "programmatic_access_token"})
_SELECT: Final = 0x1000  # statementTypeId
_NO_SELECT: Final = "Snowflake reports that it is not a SELECT, the only statement that a data source runs on Snowflake"
_SEVERAL_STATEMENTS: Final = 8
_STOPPED: Final = frozenset({604, 630})  # canceled, timed out
_AWAY: Final = range(250_000, 252_000)  # the connector's errors for problems of login and network
_SESSION_ENDED: Final = range(390_000, 391_000)
_BAD_VALUE: Final = "22"
_SLACK: Final = 2  # seconds for which the client waits beyond the server's timeout
_JSON: Final = "json"
_TYPES: Final[Mapping[int, str]] = {
    1: "float",
    2: "text",
    3: "date",
    **dict.fromkeys((4, 6, 7, 8), "datetime"),
    **dict.fromkeys((5, 9, 10), _JSON),  # VARIANT, OBJECT, ARRAY
    11: "bytes",
    12: "time",
    13: "boolean",
    14: _JSON,  # GEOGRAPHY, as GeoJSON
    15: _JSON,
}
_ARROW_TYPES: Final[Mapping[int, str]] = {6: "timestamptz", 7: "timestamptz", 8: "timestamp", 12: "time64"}


def connect_arguments(url: URL) -> dict[str, Any]:
    """Return the connector's arguments for ``snowflake://user:password@account/database/schema?warehouse=…&role=…``.
    Raises InvalidSource."""
    options = url_options(url, OPTIONS)
    database, _, schema = (url.database or "").partition("/")
    if not url.host or not url.username or not database:
        raise InvalidSource(
            "a snowflake URL is snowflake://user:password@account/database/schema?warehouse=NAME&role=NAME",
            field="/url",
        )
    if options.get("authenticator", "snowflake") not in _AUTHENTICATORS:
        raise InvalidSource(
            f"the authenticator of a snowflake URL must be one of {', '.join(sorted(_AUTHENTICATORS))}, because all "
            "others need a person to log in",
            field="/url",
        )
    if options.get("protocol", "https") != "https" and not is_loopback(options.get("host", "")):
        raise InvalidSource("a snowflake URL accepts protocol=http only for a loopback address", field="/url")
    given = {"account": url.host, "user": url.username, "password": url.password, "database": database}
    return {name: value for name, value in {**given, "schema": schema, **options}.items() if value}


class SnowflakeDriver:
    """A Driver and DeclaringDriver for Snowflake. Raises InvalidSource for an unusable URL."""

    dialect = "snowflake"
    paramstyle = "qmark"
    enforcement = BY_STATEMENT

    def __init__(self, source: RegisteredSource, limits: Limits) -> None:
        url = parse_url(source.url)
        self.source_id: str = source.id
        self._limits = limits
        self._arguments = connect_arguments(url)
        self._statements = ReadingStatements(source.id, self.dialect)
        self._stopper = Stopper(source.id, limits)
        self._connector = import_module("snowflake.connector")
        self._cursor_class = _with_statement_type(self._connector.cursor.SnowflakeCursor)

    def open(self) -> Any:
        """Open a session with a timeout, in UTC. Raises SourceUnavailable."""
        limits = self._limits
        failure: TenantryError
        try:
            return self._connector.connect(
                **self._arguments,
                paramstyle="qmark",  # by default, the connector would write values into the SQL
                arrow_number_to_decimal=True,
                client_prefetch_threads=1,
                login_timeout=max(1, math.ceil(limits.connect_timeout)),
                network_timeout=math.ceil(limits.timeout) + _SLACK,
                platform_detection_timeout_seconds=0.0,
                session_parameters={
                    "STATEMENT_TIMEOUT_IN_SECONDS": math.ceil(limits.timeout),
                    "ROWS_PER_RESULTSET": limits.row_limit + 1,
                    "ABORT_DETACHED_QUERY": True,
                    "CLIENT_TELEMETRY_ENABLED": False,
                    "MULTI_STATEMENT_COUNT": 1,
                    "TIMEZONE": "UTC",
                    "WEEK_START": 1,
                },
            )
        except self._connector.errors.Error as error:
            failure = unreachable_error(self.source_id, error, _number(error))
        raise failure

    def fetch(self, connection: Any, bound: BoundSQL) -> Result:
        params = [_parameter(value) for value in bound.params or ()]
        cursor = connection.cursor(self._cursor_class)
        failure: TenantryError
        try:
            self._statements.check(bound, lambda: self._describe(cursor, bound.sql, params))
            request = str(uuid4())
            connection.running = (bound.sql, request)
            cursor.execute(bound.sql, params, num_statements=1, _statement_params={"requestId": request})
            return self._take(cursor)
        except self._connector.errors.Error as error:
            failure = self._failure(error, has_values=bool(params))
        finally:
            connection.running = None
            with suppress(Exception):
                cursor.close()
        raise failure

    def _describe(self, cursor: Any, sql: str, params: Sequence[Any]) -> str | None:
        # Snowflake has no read-only sessions. A statement that is not a SELECT, such as a write, a script or `with … as
        # procedure`, is refused. Functions and procedures in a SELECT run with the rights of the role.
        cursor.describe(sql, params, num_statements=1)
        return None if cursor.statement_type == _SELECT else _NO_SELECT

    def _take(self, cursor: Any) -> Result:
        names = [column.name for column in cursor.description]
        types = [_type_word(column) for column in cursor.description]
        documents = [position for position, word in enumerate(types) if word == _JSON]
        blobs = [position for position, word in enumerate(types) if word == "bytes"]
        rows = _with_bytes(cursor, blobs) if blobs else cursor
        rows = with_json(rows, documents) if documents else rows
        arrow_types = [_arrow_type(column) for column in cursor.description]
        return take_result(self.source_id, names, rows, self._limits, types=types, arrow_types=arrow_types)

    def failure(self, error: Exception) -> TenantryError:
        return self._failure(error, has_values=False)

    def _failure(self, error: Exception, *, has_values: bool) -> TenantryError:
        number = getattr(error, "errno", None)
        state = str(getattr(error, "sqlstate", None) or "")
        if number == _SEVERAL_STATEMENTS:
            return statement_error(self.source_id, SEVERAL)
        if number in _STOPPED:
            return timeout_error(self.source_id, self._limits.timeout)
        if number in _AWAY or number in _SESSION_ENDED or state.startswith("08"):
            return unreachable_error(self.source_id, error, _number(error))
        if has_values and state.startswith(_BAD_VALUE):
            return UnbindableValue(f"a value does not fit its position in the SQL{_number(error)}", name="$")
        return query_error(self.source_id, type(error).__name__ + _number(error))

    def interrupt(self, connection: Any) -> None:
        running = getattr(connection, "running", None)
        if running is not None:
            self._stopper.stop(connection, lambda: connection._cancel_query(*running))

    def close(self, connection: Any) -> None:
        self._stopper.forget(connection)
        connection.close(retry=False)

    def shutdown(self) -> None:
        self._stopper.shutdown()


ENGINE: Final = Engine(
    name="snowflake",
    dialect="snowflake",
    make_driver=SnowflakeDriver,
    enforcement=BY_STATEMENT,
    check_url=connect_arguments,
    package="snowflake-connector-python",
    module="snowflake.connector",
    install="tenantry-warehouses[snowflake]",
)


def _with_statement_type(cursor_class: Any) -> Any:
    class DescribedCursor(cursor_class):  # type: ignore[misc]  # the connector may not be installed
        statement_type: int | None = None

        def _init_result_and_meta(self, data: dict[Any, Any]) -> None:
            self.statement_type = data.get("statementTypeId")
            super()._init_result_and_meta(data)

    return DescribedCursor


def _with_bytes(rows: Iterable[tuple[Any, ...]], positions: Sequence[int]) -> Iterator[tuple[Any, ...]]:
    for row in rows:
        yield tuple(
            bytes(value) if position in positions and value is not None else value for position, value in enumerate(row)
        )


def _arrow_type(column: Any) -> str | None:
    if column.type_code == 0:  # NUMBER, of up to 38 digits
        return f"decimal({column.precision}, {column.scale})" if column.precision else "string"
    return _ARROW_TYPES.get(column.type_code)


def _type_word(column: Any) -> str | None:
    if column.type_code == 0:  # NUMBER
        return "decimal" if column.scale else "integer"
    return _TYPES.get(column.type_code)


def _parameter(value: Any) -> Any:
    if isinstance(value, datetime) and value.tzinfo is not None:  # else the connector would send it without its offset
        return ("TIMESTAMP_TZ", value)
    if isinstance(value, UUID):
        return str(value)
    if isinstance(value, timedelta):
        raise UnbindableValue("a timedelta cannot be bound on Snowflake: use dateadd(second, …)", name="$")
    return value


def _number(error: Exception) -> str:
    number = getattr(error, "errno", None)
    return f" ({number})" if isinstance(number, int) and number > 0 else ""
