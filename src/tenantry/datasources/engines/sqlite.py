"""SQLite: a read-only file, and an authorizer that allows only reads."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any, Final
from uuid import UUID
from zoneinfo import ZoneInfo

from tenantry.database import check_sqlite
from tenantry.datasources.driver import (
    OpenRows,
    named_word,
    query_error,
    statement_error,
    timeout_error,
    unreachable_error,
)
from tenantry.datasources.pool.query_limits import Limits, take_result
from tenantry.datasources.results import Result
from tenantry.datasources.statement import NOTHING, SEVERAL, UNCLEAR, WRITES, refusal
from tenantry.datasources.url import file_path, parse_url
from tenantry.errors import InvalidSource, SourceUnavailable, TenantryError
from tenantry.groups import RegisteredSource
from tenantry.sql import DIALECTS, BoundSQL

_KEYWORDS = frozenset({"select", "with", "values", "explain"})
_DENIED = (
    "it writes, or calls a function that runs a string as SQL, loads a library or reads the connection's settings: "
    "a data source can only read tables"
)
_READING = frozenset({sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE})
_FORBIDDEN_FUNCTIONS = DIALECTS["sqlite"].dynamic_functions
_DECLARED = DIALECTS["sqlite"].bind_as
_SCHEMA_TABLES = frozenset({"sqlite_master", "sqlite_temp_master"})
_MAX_VALUE = 64 * 1024 * 1024  # bytes of one value, so that zeroblob(1e9) does not fill the memory

# SQLite has one code for all these errors, so only the message distinguishes them. Only these beginnings of messages
# are shown, because the rest may quote a value.
_NAMED = re.compile(
    r"^(?:no such (?:column|table|function): (?:\w+\.)*(\w+)|ambiguous column name: (?:\w+\.)*(\w+)|"
    r'wrong number of arguments to function (\w+)\(|near "(\w+)": syntax error)'
)
_PHRASES = ("no such column", "no such table", "no such function", "ambiguous column name", "wrong number of arguments")
_AWAY = frozenset(
    {
        sqlite3.SQLITE_BUSY,
        sqlite3.SQLITE_LOCKED,
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_NOTADB,
        sqlite3.SQLITE_CORRUPT,
        sqlite3.SQLITE_IOERR,
    }
)


def _clock(moment: datetime) -> str:
    text: str = moment.isoformat(sep=" ") if moment.tzinfo is None else _DECLARED["datetime"](moment)
    return text


BOUND_AS: Final[Mapping[type, Callable[[Any], str | int | float]]] = {
    Decimal: _DECLARED["decimal"],
    UUID: _DECLARED["uuid"],
    date: _DECLARED["date"],
    datetime: _clock,
    time: time.isoformat,
    timedelta: _DECLARED["interval"],
}
"""Python type that SQLite lacks → function that converts values of this type. Declared parameters are converted in the
same way."""


def authorise(action: int, first: str | None, second: str | None, _database: str | None, _trigger: str | None) -> int:
    """SQLite's authorizer callback (https://www.sqlite.org/c3ref/set_authorizer.html)."""
    if action == sqlite3.SQLITE_FUNCTION:
        allowed = not _FORBIDDEN_FUNCTIONS.matches(second or "")
    elif action == sqlite3.SQLITE_UPDATE:
        # SQLite reports this update when a query uses a virtual table (FTS, json_each), but nothing is written.
        allowed = first in _SCHEMA_TABLES
    elif action == sqlite3.SQLITE_PRAGMA:
        allowed = first == "data_version" and second is None  # FTS5 reads this pragma during a search
    else:
        allowed = action in _READING
    return sqlite3.SQLITE_OK if allowed else sqlite3.SQLITE_DENY


class SQLiteDriver:
    dialect = "sqlite"
    paramstyle = "qmark"

    def __init__(self, source: RegisteredSource, limits: Limits) -> None:
        self.source_id: str = source.id
        self._path = file_path(parse_url(source.url))
        self._limits = limits

    def open(self) -> sqlite3.Connection:
        if not self._path.is_file():
            raise SourceUnavailable(f"the file of data source {self.source_id} does not exist")
        connection = sqlite3.connect(
            # mode=ro is not enough: ATTACH could open or create any file, so it is limited below.
            f"{self._path.as_uri()}?mode=ro",
            uri=True,
            isolation_level=None,  # sqlite3 does not begin transactions
            check_same_thread=False,  # one thread at a time uses the connection, but another may interrupt or close it
            timeout=min(self._limits.connect_timeout, self._limits.timeout),
        )
        failure: TenantryError | None = None
        try:
            check_sqlite(connection)
            connection.execute("pragma query_only = on")
            connection.execute("pragma trusted_schema = off")
            connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
            connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _MAX_VALUE)
            for name, (count, function) in FUNCTIONS.items():
                connection.create_function(name, count, function, deterministic=True)
            connection.set_authorizer(authorise)
        except InvalidSource as error:
            failure = error
        except sqlite3.Error as error:
            failure = self.failure(error)
        if failure is not None:
            connection.close()
            raise failure
        return connection

    def fetch(self, connection: sqlite3.Connection, bound: BoundSQL) -> Result:
        cursor, names = self._execute(connection, bound)
        with closing(cursor):
            return take_result(self.source_id, names, cursor, self._limits, count=None)

    def open_rows(self, connection: sqlite3.Connection, bound: BoundSQL, session: BoundSQL | None) -> OpenRows:
        cursor, names = self._execute(connection, bound)
        return OpenRows(names, cursor, close=cursor.close)

    def _execute(self, connection: sqlite3.Connection, bound: BoundSQL) -> tuple[sqlite3.Cursor, tuple[str, ...]]:
        params: Sequence[Any] = tuple(bound.params or ())
        if not BOUND_AS.keys().isdisjoint(map(type, params)):
            params = [_plain(value) for value in params]
        reason: str | None = None
        try:
            cursor = connection.execute(bound.sql, params)
        except sqlite3.Error:
            reason = refusal(bound.sql, _KEYWORDS)
            if reason is None or reason == UNCLEAR:
                raise
        if reason is not None:  # this reason is clearer than SQLite's message
            raise statement_error(self.source_id, reason)
        if cursor.description is None:
            cursor.close()
            raise statement_error(self.source_id, NOTHING)
        return cursor, next(zip(*cursor.description, strict=True))

    def failure(self, error: Exception) -> TenantryError:
        if isinstance(error, sqlite3.Warning | sqlite3.ProgrammingError) and "one statement" in str(error):
            return statement_error(self.source_id, SEVERAL)
        code = getattr(error, "sqlite_errorcode", -1) & 0xFF  # the primary code; the other bits are the extended code
        if code == sqlite3.SQLITE_AUTH or str(error).startswith("not authorized to use function"):
            return statement_error(self.source_id, _DENIED)
        if code == sqlite3.SQLITE_READONLY:
            return statement_error(self.source_id, WRITES)
        if code == sqlite3.SQLITE_INTERRUPT:
            return timeout_error(self.source_id, self._limits.timeout)
        name = getattr(error, "sqlite_errorname", type(error).__name__)
        if code in _AWAY:
            return unreachable_error(self.source_id, error, f" ({name})")
        phrase = next((phrase for phrase in _PHRASES if str(error).startswith(phrase)), None)
        if phrase is None and str(error).endswith(": syntax error"):
            phrase = "syntax error"
        word = named_word(str(error), _NAMED)
        return query_error(self.source_id, f"{name} ({phrase})" if phrase else name, word=word)

    def interrupt(self, connection: sqlite3.Connection) -> None:
        connection.interrupt()

    def close(self, connection: sqlite3.Connection) -> None:
        connection.close()

    def shutdown(self) -> None:
        pass


def local_time(value: str | None, zone: str) -> str | None:
    """Convert an instant to the clock time in ``zone``. A value without an offset is taken as UTC. A date is returned
    unchanged."""
    if value is None or _is_date(value):
        return value
    return _in_zone(value, zone).replace(tzinfo=None).isoformat(sep=" ")


def utc_offset(value: str | None, zone: str) -> str | None:
    """Return the offset of ``zone`` from UTC at an instant, such as ``+01:00``. For a date, return an empty string."""
    if value is None or _is_date(value):
        return value and ""
    offset = f"{_in_zone(value, zone):%z}"
    return f"{offset[:3]}:{offset[3:5]}"


def zoned_start(start: str, value: str | None, zone: str) -> str | None:
    """Return the beginning of the hour, minute or second that contains the instant ``value``, with the offset of
    ``zone``. ``start`` is this beginning without an offset. If clocks changed between ``start`` and ``value``, return
    the time of the change. If an hour occurs twice, a time in the second hour gets a decimal (``02:00:00.0+01:00``)."""
    if value is None or _is_date(value):
        return value and start.replace(" ", "T")
    instant, begin = _in_zone(value, zone), datetime.fromisoformat(start)
    passed = instant.astimezone(UTC) - (instant.replace(tzinfo=None) - begin)
    late = abs(begin - passed.astimezone(ZoneInfo(zone)).replace(tzinfo=None))  # as much as clocks changed since then
    found = (passed + late).astimezone(ZoneInfo(zone))
    text = found.isoformat()
    # The decimal sorts the second of two equal hours after the first.
    return f"{text[:19]}.0{text[19:]}" if found.fold else text


FUNCTIONS: Final[Mapping[str, tuple[int, Callable[..., str | None]]]] = {
    "tenantry_local_time": (2, local_time),
    "tenantry_utc_offset": (2, utc_offset),
    "tenantry_zoned_start": (3, zoned_start),
}
"""SQL functions that each connection defines: name → number of arguments, function."""


def _is_date(value: str) -> bool:
    return len(value) == len("2026-01-31")


def _in_zone(value: str, zone: str) -> datetime:
    instant = datetime.fromisoformat(value)
    return (instant.replace(tzinfo=UTC) if instant.tzinfo is None else instant).astimezone(ZoneInfo(zone))


def _plain(value: Any) -> Any:
    convert = BOUND_AS.get(type(value))
    return value if convert is None else convert(value)
