"""MySQL and MariaDB through PyMySQL: read-only sessions, one statement, no local files."""

from __future__ import annotations

import math
import re
from collections.abc import Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from threading import Event
from time import monotonic
from typing import Any

from pymysql import VERSION, MySQLError

from tenantry.database import CLOSED
from tenantry.datasources.driver import (
    OpenRows,
    check_statement,
    named_word,
    query_error,
    refuse_dynamic_sql,
    statement_error,
    timeout_error,
    unreachable_error,
)
from tenantry.datasources.engines.mysql_connection import (
    WARNINGS_KEPT,
    ServerAddress,
    Session,
    connection_problem,
    error_number,
)
from tenantry.datasources.engines.mysql_values import SESSION_ZONE
from tenantry.datasources.pool.query_limits import Limits, take_open_rows
from tenantry.datasources.query_label import untagged
from tenantry.datasources.results import Result
from tenantry.datasources.statement import WRITES, mysql_refusal
from tenantry.datasources.url import parse_url
from tenantry.errors import TenantryError, UnbindableValue
from tenantry.groups import RegisteredSource
from tenantry.sql import BoundSQL

if VERSION[:2] < (1, 2):  # older versions go on without TLS if the server has none
    raise ImportError("PyMySQL is older than 1.2")

# PyMySQL writes values into the SQL, so the server must read strings as PyMySQL quotes them. NO_BACKSLASH_ESCAPES would
# change where a string ends, and ANSI_QUOTES would make "…" a name. ERROR_FOR_DIVISION_BY_ZERO would add a warning for
# each division by zero, and servers keep few warnings.
SQL_MODE = "STRICT_TRANS_TABLES,NO_ENGINE_SUBSTITUTION"
_NO_SUCH_THREAD = 1094
_UNKNOWN_VARIABLE = 1193
_READ_ONLY = frozenset({1290, 1792})
_TIMED_OUT = frozenset({1969, 3024})  # the code of MariaDB, and that of MySQL
_AWAY = frozenset({1040, 1044, 1045, 1049, 1053, 1203, 1226, 1927, 2002, 2003, 2005, 2006, 2013, 2026, 4031})
_LOST = 2013
_NO_CONNECTION = frozenset({1040, 1203, 1226})  # over a limit of the server, the user, the user's resources
_BAD_VALUE = frozenset(
    {
        # codes of MySQL and MariaDB: regular expressions, arguments, collations, conversions, ranges
        *(1139, 1210, 1267, 1270, 1271, 1292, 1366, 1367, 1411, 1416, 1525, 1690),
        # codes of MariaDB only: window functions, JSON, JSON paths, types, percentiles
        *(4024, 4038, 4042, 4078, 4079, 4103),
        # codes of MySQL only: geometry, JSON, JSON paths, regular expressions
        *(3037, 3140, 3141, 3143, 3144, 3146, 3147, *range(3685, 3701)),
    }
)
# Codes whose messages quote a name of the SQL: unknown column, ambiguous column, unknown table, unknown function.
_NAMES_A_WORD = frozenset({1052, 1054, 1146, 1305})
_NAMED = re.compile(r"(?:Unknown column|Column|Table|FUNCTION) '?(?:\w+\.)*(\w+)")
# The variable that sets the timeout of a statement, and the number of milliseconds in its unit.
_ON_MYSQL, _ON_MARIADB = ("max_execution_time", 1), ("max_statement_time", 1000)
_TRUNCATED = (
    "the server read the beginning of a string as a number or a time and ignored the rest, so the rows may belong to "
    "another group; compare values of one type, for example cast(column as char) = {{ value }}"
)
_SLACK = 2.0  # seconds for which the client waits beyond the server's timeout
_FIRST_PAUSE = 0.1  # seconds before a failed stop is retried; doubled each time


class MySQLDriver:
    """A ``StreamingDriver`` and ``ReusingDriver`` for MySQL or MariaDB. Raises InvalidSource for wrong URL options."""

    paramstyle = "format"

    def __init__(self, source: RegisteredSource, limits: Limits) -> None:
        url = parse_url(source.url)
        self.source_id: str = source.id
        self.dialect: str = url.get_backend_name()
        self._limits = limits
        self._address = ServerAddress(url)
        # Queries are stopped in separate threads and over separate connections, because queries may occupy all others.
        self._stoppers = ThreadPoolExecutor(limits.pool_size, thread_name_prefix=f"tenantry-stop-{source.id}")
        self._closing = Event()

    def open(self) -> Session:
        failure: TenantryError
        session: Session | None = None
        try:
            session = self._connect(self._limits.timeout + _SLACK)
            self._set_up(session)
            return session
        except MySQLError as error:
            number = error_number(error)
            failure = self._unreachable(error, has_no_connection=number in _NO_CONNECTION)
        if session is not None:
            with suppress(MySQLError, OSError):
                session.close()
        raise failure

    def _connect(self, timeout: float) -> Session:
        try:
            return self._session(timeout)
        except MySQLError as error:
            if not self._address.goes_on_without_tls(error_number(error)):
                raise
        return self._session(timeout)

    def _session(self, timeout: float) -> Session:
        address = self._address
        return Session(address.arguments(), timeout, self._limits.connect_timeout, pipelining=address.pipelining)

    def _set_up(self, session: Session) -> None:
        read_only = "set session transaction read only"  # with autocommit, each query is one such transaction
        settings = (
            f"set names utf8mb4, session sql_mode = '{SQL_MODE}', session time_zone = '{SESSION_ZONE}', "
            f"session autocommit = 1, session max_error_count = {WARNINGS_KEPT}, "
        )
        try:
            session.set_up((read_only, settings + _timeout(_ON_MYSQL, self._limits.timeout)))
        except MySQLError as error:
            if error_number(error) != _UNKNOWN_VARIABLE:
                raise
            session.set_up((read_only, settings + _timeout(_ON_MARIADB, self._limits.timeout)))
            session.is_mariadb = True

    def fetch(self, connection: Session, bound: BoundSQL) -> Result:
        rows = self._open(connection, bound, self._limits.timeout)
        try:
            return take_open_rows(self.source_id, rows, self._limits)
        finally:
            rows.close()

    def open_rows(self, connection: Session, bound: BoundSQL, session: BoundSQL | None) -> OpenRows:
        stream = self._limits.stream
        timeout = _timeout(_ON_MARIADB if connection.is_mariadb else _ON_MYSQL, stream.timeout)
        # The server closes a connection whose client reads nothing for net_write_timeout.
        patience = math.ceil(stream.reader_timeout + self._limits.timeout)
        settings = f"set {timeout}, session net_write_timeout = {patience}"
        return self._open(connection, bound, stream.timeout, settings, is_stream=True)

    def _open(
        self,
        connection: Session,
        bound: BoundSQL,
        seconds: float,
        settings: str | None = None,
        *,
        is_stream: bool = False,
    ) -> OpenRows:
        check_statement(self.source_id, mysql_refusal(untagged(bound)))
        refuse_dynamic_sql(self.source_id, bound, self.dialect)
        failure: TenantryError
        is_settled = False
        try:
            connection.settle(settings)
            is_settled = True
            end = monotonic() + seconds
            asks_first = is_stream and bound.reads_group and bool(bound.params)
            if asks_first and connection.first_row_truncates(bound.sql, bound.params):
                connection.wipe()
                raise self._truncated(has_values=True)
            columns, answer = connection.read(bound.sql, bound.params)
        except MySQLError as error:
            if is_settled:
                failure = self._failure(error, seconds, has_values=bool(bound.params))
            else:  # the query was not sent, so it may run on another connection
                failure = self._unreachable(error)
        else:
            rows = self._rows(connection, answer, end, seconds, has_values=bool(bound.params))
            next(rows)
            names, types, arrow_types = zip(*columns, strict=True) if columns else ((), (), ())
            return OpenRows(names, rows, types, rows.close, arrow_types)
        raise failure

    def _rows(
        self, connection: Session, rows: Iterator[Any], end: float, seconds: float, *, has_values: bool
    ) -> Generator[tuple[Any, ...]]:
        failure: TenantryError
        try:
            # `_open` reads this first item. From then on, closing the generator stops the query.
            yield ()
            yield from rows
            is_truncated = connection.was_truncated()
        except MySQLError as error:
            failure = self._failure(error, seconds, has_values=has_values)
        except BaseException:  # some rows are not read
            connection.abandon()
            self.interrupt(connection)  # otherwise the query would run until the server sends its next row
            raise
        else:
            connection.wipe()
            if is_truncated:
                failure = self._truncated(has_values=has_values)
            elif monotonic() < end:
                return
            else:
                failure = timeout_error(
                    self.source_id, seconds
                )  # the timeout may have stopped a function, which then returned a wrong value
        raise failure

    def failure(self, error: Exception) -> TenantryError:
        return self._failure(error, self._limits.timeout, has_values=False)

    def _failure(self, error: Exception, seconds: float, *, has_values: bool) -> TenantryError:
        number = error_number(error)
        if number in _READ_ONLY:
            return statement_error(self.source_id, WRITES)
        if number in _TIMED_OUT:
            return timeout_error(self.source_id, seconds)
        if number in _AWAY:
            return self._unreachable(error)
        if has_values and number in _BAD_VALUE:
            return UnbindableValue(f"a value does not fit its position in the SQL ({number})", name="$")
        word = named_word(str(error), _NAMED) if number in _NAMES_A_WORD else ""
        return query_error(self.source_id, type(error).__name__ + (f" ({number})" if number else ""), word=word)

    def _unreachable(self, error: MySQLError, *, has_no_connection: bool = False) -> TenantryError:
        number, server = error_number(error), self._address.server
        closed = CLOSED.format(server) if number == _LOST else None
        return unreachable_error(
            self.source_id,
            error,
            f" ({number})",
            cause=connection_problem(error, number) or closed,
            server=self._address.server,
            has_no_connection=has_no_connection,
        )

    def _truncated(self, *, has_values: bool) -> TenantryError:
        if has_values:
            return UnbindableValue(f"a value does not fit its position in the SQL (1292): {_TRUNCATED}", name="$")
        return query_error(self.source_id, f"1292: {_TRUNCATED}")

    def is_reusable(self, connection: Session) -> bool:
        return connection.reusable

    def interrupt(self, connection: Session) -> None:
        if connection.stopping is None or connection.stopping.done():
            connection.stopping = self._stoppers.submit(self._stop, connection.thread_id(), connection.server)

    def _stop(self, thread_id: int, server: tuple[Any, ...]) -> None:
        until, pause = monotonic() + self._limits.timeout, _FIRST_PAUSE
        # Tried repeatedly, because the server may have no free connection at first.
        while not self._kill(thread_id, server) and monotonic() < until and not self._closing.wait(pause):
            pause *= 2

    def _kill(self, thread_id: int, server: tuple[Any, ...]) -> bool:
        try:
            with closing(self._connect(self._limits.connect_timeout)) as other:
                if other.identify() != server:  # a load balancer may have connected us to another server
                    return False
                other.query(f"kill query {thread_id:d}")
        except MySQLError as error:
            return error_number(error) == _NO_SUCH_THREAD
        except OSError:
            return False
        return True

    def close(self, connection: Session) -> None:
        connection.close()

    def shutdown(self) -> None:
        self._closing.set()
        self._stoppers.shutdown(wait=False)


def _timeout(variable: tuple[str, int], seconds: float) -> str:
    name, divisor = variable
    milliseconds = max(1, round(seconds * 1000))  # 0 would mean no timeout
    return f"session {name} = {milliseconds if divisor == 1 else milliseconds / divisor}"
