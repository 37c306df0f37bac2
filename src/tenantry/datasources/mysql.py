"""MySQL and MariaDB through PyMySQL: a read-only session, a read-only transaction, one statement, no local files.

PyMySQL puts the values into the text itself, so the server must read that text as PyMySQL wrote it: the character set
is utf8mb4 and ``sql_mode`` is set for the session, without NO_BACKSLASH_ESCAPES (which changes what ends a string) and
without ANSI_QUOTES (which makes a name of one).
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from sqlalchemy.engine import URL

from tenantry.datasources.driver import (
    Rows,
    check_statement,
    dynamic_sql_error,
    missing_driver_message,
    query_error,
    statement_error,
    timeout_error,
    unreachable_error,
)
from tenantry.datasources.limits import Limits, take_rows, to_dicts
from tenantry.datasources.statement import WRITES, mysql_refusal
from tenantry.errors import InvalidSource, TenantryError
from tenantry.sql import BoundSQL
from tenantry.sql.parsing.dynamic_sql import has_dynamic_sql

SQL_MODE = "STRICT_TRANS_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION"
_OPTIONS = frozenset({"ssl_ca", "ssl_cert", "ssl_key", "unix_socket"})
_UNKNOWN_VARIABLE = 1193
_READ_ONLY = frozenset({1290, 1792})
_TIMED_OUT = frozenset({1969, 3024})  # MariaDB's number and MySQL's
_AWAY = frozenset({1040, 1044, 1045, 1049, 1053, 1203, 1226, 2002, 2003, 2005, 2006, 2013})
_SLACK = 2.0  # seconds that the client waits beyond the server's own timeout


class MySQLDriver:
    """A ``Driver`` for one MySQL or MariaDB database; ``dialect`` is that of the SQL which templates are bound to.

    Raises InvalidSource when PyMySQL is not installed, or for an option of the URL that it does not know.
    """

    paramstyle = "format"

    def __init__(self, source_id: str, url: URL, limits: Limits, dialect: str = "mysql") -> None:
        self.source_id = source_id
        self.dialect = dialect
        self._limits = limits
        self._options = _options(url)
        try:
            import pymysql
            from pymysql.cursors import SSCursor
        except ImportError:
            raise InvalidSource(missing_driver_message("PyMySQL", "mysql")) from None
        self._pymysql = pymysql
        self._cursor = SSCursor  # rows come as they are read: a limit on them bounds the memory

    def open(self) -> Any:
        """A connection whose session is read-only and has a timeout."""
        failure: TenantryError
        try:
            connection = self._pymysql.connect(
                **self._options,
                charset="utf8mb4",
                sql_mode=SQL_MODE,
                local_infile=False,
                client_flag=0,  # in particular not MULTI_STATEMENTS
                autocommit=True,  # transactions are begun by hand, as read-only ones
                connect_timeout=max(1, round(self._limits.connect_timeout)),
                read_timeout=self._limits.timeout + _SLACK,
                write_timeout=self._limits.timeout + _SLACK,
            )
            self._prepare(connection)
            return connection
        except self._pymysql.MySQLError as error:
            failure = unreachable_error(self.source_id, error, f" ({_number(error)})")
        raise failure

    def _prepare(self, connection: Any) -> None:
        ready = False
        try:
            with connection.cursor() as cursor:
                cursor.execute("set session transaction read only")
                self._set_timeout(cursor)
            ready = True
        finally:
            if not ready:
                with suppress(Exception):
                    connection.close()

    def _set_timeout(self, cursor: Any) -> None:
        try:
            cursor.execute(f"set session max_execution_time = {self._limits.timeout_ms}")
        except self._pymysql.MySQLError as error:
            if _number(error) != _UNKNOWN_VARIABLE:
                raise
            cursor.execute(f"set session max_statement_time = {self._limits.timeout_ms / 1000}")  # MariaDB: seconds

    def fetch(self, connection: Any, bound: BoundSQL) -> Rows:
        """One statement that reads, in a read-only transaction that is rolled back."""
        check_statement(self.source_id, mysql_refusal(bound.sql))
        if bound.params and has_dynamic_sql(bound.sql, self.dialect):
            raise dynamic_sql_error(self.source_id)
        connection.ping(reconnect=False)  # servers close idle connections
        with connection.cursor() as cursor:
            cursor.execute("start transaction read only")
        columns, rows = self._read(connection, bound)
        with connection.cursor() as cursor:
            cursor.execute("rollback")
        return to_dicts(self.source_id, columns, rows, self._limits.row_limit)

    def _read(self, connection: Any, bound: BoundSQL) -> tuple[list[str], list[Any]]:
        cursor = connection.cursor(self._cursor)
        cursor.execute(bound.sql, bound.params)
        columns = [column[0] for column in cursor.description or ()]
        try:
            rows = take_rows(self.source_id, iter(cursor.fetchone, None), self._limits)
        except TenantryError:
            cursor.connection = None  # else its end would read all the other rows; the connection is closed instead
            raise
        cursor.close()
        return columns, rows

    def failure(self, error: Exception) -> TenantryError:
        """Our error for PyMySQL's, by its number."""
        number = _number(error)
        if number in _READ_ONLY:
            return statement_error(self.source_id, WRITES)
        if number in _TIMED_OUT:
            return timeout_error(self.source_id, self._limits.timeout)
        if number in _AWAY:
            return unreachable_error(self.source_id, error, f" ({number})")
        return query_error(self.source_id, type(error).__name__ + (f" ({number})" if number else ""))

    def interrupt(self, connection: Any) -> None:
        """PyMySQL cannot: the server's own timeout ends the query."""

    def close(self, connection: Any) -> None:
        """Closes the connection."""
        connection.close()

    def shutdown(self) -> None:
        """Nothing is shared between connections."""


def _number(error: Exception) -> int | None:
    """The server's or client's error number, which PyMySQL gives as the first argument."""
    first = error.args[0] if error.args else None
    return first if isinstance(first, int) else None


def _options(url: URL) -> dict[str, Any]:
    query = {name: value for name, value in url.query.items() if name != "charset"}
    unknown = sorted(set(query) - _OPTIONS)
    if unknown:
        raise InvalidSource(
            f"the MySQL URL has unknown options: {', '.join(unknown)}; known are {', '.join(sorted(_OPTIONS))}",
            field="/url",
        )
    return {
        "host": url.host or "localhost",
        "port": url.port or 3306,
        "user": url.username,
        "password": url.password or "",
        "database": url.database,
        **query,
    }
