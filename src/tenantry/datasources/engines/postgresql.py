"""PostgreSQL and Redshift: each query runs in a read-only transaction, which is rolled back."""

from __future__ import annotations

import logging
from collections.abc import Generator, Sequence
from contextlib import closing
from typing import Any, Final

import psycopg
from sqlalchemy.engine import URL

from tenantry.database import IN_POSTGRESQL, TABLES, check_postgresql_rows, libpq_url, postgres_problem
from tenantry.datasources.driver import (
    OpenRows,
    check_statement,
    driver_parameters,
    query_error,
    refuse_dynamic_sql,
    statement_error,
    timeout_error,
    too_many_bytes_error,
    unreachable_error,
)
from tenantry.datasources.engines import postgresql_connection
from tenantry.datasources.engines.postgresql_connection import PipelineConnection, ServerError, Statement
from tenantry.datasources.engines.postgresql_values import ServerColumn, encode_parameters
from tenantry.datasources.pool.query_limits import Limits, bytes_counter, take_result
from tenantry.datasources.query_label import untagged
from tenantry.datasources.results import Result
from tenantry.datasources.session import session_escape_error
from tenantry.datasources.statement import SEVERAL, WRITES, refusal
from tenantry.datasources.url import parse_url
from tenantry.errors import InvalidSource, TenantryError, UnbindableValue
from tenantry.groups import RegisteredSource
from tenantry.sql import BoundSQL

_log = logging.getLogger(__name__)
_LIBPQ: Final = 170_000
REDSHIFT: Final = "redshift"
_PORT_OF_REDSHIFT: Final = 5439
_AWAY: Final = frozenset({"08", "28", "3D", "53", "57"})  # SQLSTATE classes of a server that is not available
_BAD_VALUE: Final = "22"
_READ_ONLY: Final = "25006"
_CANCELLED: Final = "57014"
_LOCKED: Final = "55P03"
_SEVERAL: Final = "42601"
_UNBOUNDED: Final = ("decimal",)  # types of numbers that may be large: a decimal has up to 131,072 digits
# All statements from `begin` to `rollback` are sent together, so that a pooler such as PgBouncer runs them on one
# server connection. A message of the extended protocol holds one statement, so a template cannot end the transaction
# and begin another. The transaction refuses writes to tables, but not other actions (COPY … TO PROGRAM, pg_read_file).
# So the first keyword must be one that reads, and the role should have no rights to such actions.
_BEGIN: Final = (b"begin read only", ())
_BACKSLASH: Final = (
    "it has a backslash, which this server, unlike PostgreSQL, reads as an escape in every string: "
    "write chr(92) instead, and join the parts with ||"
)
_HAS_NUL: Final = "it contains a NUL character, at which the server would end it: remove it"

# With these settings the server reads strings as our lexer does, writes values in the formats that RowReader reads, and
# begins a day at midnight UTC, as on the other engines, whatever zone the server, the database or the role has. Each
# transaction sets them again: behind a pooler, another client may have changed the settings of the server connection.
_SETTINGS: Final = (
    b"select set_config('standard_conforming_strings', 'on', true), "  # with `off`, '\' would not be a whole string
    b"set_config('datestyle', 'ISO', true), set_config('intervalstyle', 'iso_8601', true), "
    b"set_config('timezone', 'UTC', true), set_config('extra_float_digits', '1', true), "
    b"set_config('statement_timeout', '%d', true)"
)
_BYPASSES_POLICIES: Final = """(
select (select rolsuper or rolbypassrls from pg_roles where rolname = current_user)
  or exists (select from pg_class where relrowsecurity and not row_security_active(oid)))
"""
_ROLE: Final = "select current_setting('is_superuser', true) = 'on', "


class PostgreSQLDriver:
    """A ``StreamingDriver``, ``SessionDriver`` and ``ReusingDriver`` over libpq. Raises InvalidSource if libpq is too
    old or the URL is unreadable."""

    paramstyle = "numeric_dollar"

    def __init__(self, source: RegisteredSource, limits: Limits) -> None:
        url = parse_url(source.url)
        self.source_id: str = source.id
        self.dialect = REDSHIFT if url.get_backend_name() == REDSHIFT else "postgresql"
        self._limits = limits
        self._has_session = bool(source.session)
        self.role_warning: str = ""
        """A warning if the database role is a superuser. Known once a connection is open."""
        if psycopg.pq.version() < _LIBPQ:
            raise InvalidSource("data sources on PostgreSQL need libpq 17 or later: pip install 'psycopg[binary]'")
        self._params = self._parse(url)

    def _parse(self, url: URL) -> dict[str, Any]:
        port = url.port or (_PORT_OF_REDSHIFT if self.dialect == REDSHIFT else None)
        dsn = libpq_url(url.set(port=port))
        unreadable = False
        params: dict[str, Any] = {}
        try:
            params = dict(psycopg.conninfo.conninfo_to_dict(dsn))
        except psycopg.Error:
            unreadable = True
        # Raise outside the except clause: otherwise the context would be the caught error, which quotes the URL.
        if unreadable:
            raise InvalidSource(
                f"libpq cannot parse the URL of data source {self.source_id}: correct it, and remove options that "
                "libpq does not know",
                field="/url",
            )
        return params

    def open(self) -> PipelineConnection:
        """Connect. Raises SourceUnavailable if this fails, and InvalidSource in these cases:
        - A Redshift URL leads to PostgreSQL.
        - The role can read the store's tables.
        - The source has session variables, but the role bypasses row-level security.
        """
        failure: TenantryError
        try:
            connection = postgresql_connection.connect(self._params, self._limits.connect_timeout)
        except (psycopg.Error, OSError) as error:
            failure = unreachable_error(self.source_id, error, cause=postgres_problem(error))
        else:
            self._check(connection)
            return connection
        raise failure

    def _check(self, connection: PipelineConnection) -> None:
        checked = False
        try:
            if connection.is_postgresql:
                if self.dialect == REDSHIFT:
                    raise InvalidSource(
                        f"the server of data source {self.source_id} is PostgreSQL, not Redshift: write postgresql:// "
                        "instead of redshift:// in its URL"
                    )
                self._check_role(connection)
                tables = encode_parameters([list(TABLES)])
                check_postgresql_rows(self._rows(connection, (IN_POSTGRESQL.encode(), tables)))
            checked = True
        finally:
            if not checked:
                connection.close()

    def _check_role(self, connection: PipelineConnection) -> None:
        text = _ROLE + (_BYPASSES_POLICIES if self._has_session else "false")
        ((is_superuser, bypasses),) = self._rows(connection, (text.encode(), ()))
        if bypasses:
            raise InvalidSource(
                f"row-level security does not apply to the role of data source {self.source_id}, so the session "
                "variables would filter nothing: use a role that is not a superuser, does not have BYPASSRLS, and "
                "owns no table without `force row level security`"
            )
        if is_superuser and not self.role_warning:
            self.role_warning = (
                f"data source {self.source_id} connects as a superuser, who can read the server's files even in a "
                "read-only transaction: give it a role that may only read"
            )
            _log.warning("%s", self.role_warning)

    def _rows(self, connection: PipelineConnection, query: Statement) -> list[tuple[Any, ...]]:
        before = self._before(connection, self._limits.timeout_ms)
        with connection.reading(before, query, max_bytes=self._limits.max_bytes) as (_, rows):
            return list(rows)

    def _before(self, connection: PipelineConnection, timeout_ms: int) -> list[Statement]:
        if not connection.is_postgresql:
            return [_BEGIN, (f"set local statement_timeout = {timeout_ms}".encode(), ())]
        settings = _SETTINGS % timeout_ms
        if self._limits.lock_timeout is not None:
            settings += b", set_config('lock_timeout', '%dms', true)" % max(1, round(self._limits.lock_timeout * 1000))
        return [_BEGIN, (settings, ())]

    def fetch(self, connection: PipelineConnection, bound: BoundSQL) -> Result:
        return self._take(self._read(connection, bound, None))

    def fetch_in_session(self, connection: PipelineConnection, bound: BoundSQL, session: BoundSQL) -> Result:
        return self._take(self._read(connection, bound, session))

    def open_rows(self, connection: PipelineConnection, bound: BoundSQL, session: BoundSQL | None) -> OpenRows:
        rows = self._read(connection, bound, session, is_stream=True)
        columns = next(rows)
        names, types, arrow_types = _described(columns)
        return OpenRows(names, rows, types, rows.close, arrow_types)

    def _take(self, rows: Generator[Any]) -> Result:
        with closing(rows):
            columns = next(rows)
            names, types, arrow_types = _described(columns)
            count = bytes_counter(types, unbounded=_UNBOUNDED)
            return take_result(
                self.source_id, names, rows, self._limits, types=types, arrow_types=arrow_types, count=count
            )

    def _read(
        self, connection: PipelineConnection, bound: BoundSQL, session: BoundSQL | None, *, is_stream: bool = False
    ) -> Generator[Any]:
        self._check_text(connection, bound, session)
        limits = self._limits
        before = self._before(connection, limits.stream.timeout_ms if is_stream else limits.timeout_ms)
        if session is not None:
            before.append(_statement(session))
        failure: TenantryError
        try:
            query = _statement(bound)
            with connection.reading(before, query, max_bytes=limits.max_bytes, is_stream=is_stream) as (columns, rows):
                yield columns
                yield from rows
            return
        except postgresql_connection.AnswerTooLong:
            failure = too_many_bytes_error(self.source_id, limits.max_bytes)
        except postgresql_connection.NoColumns:
            failure = statement_error(self.source_id, "it returns no columns")
        except ServerError as error:
            seconds = limits.stream.timeout if is_stream else limits.timeout
            failure = self._refused(error, seconds, has_values=bool(bound.params))
        raise failure

    def _check_text(self, connection: PipelineConnection, bound: BoundSQL, session: BoundSQL | None) -> None:
        escape = None if session is None else session_escape_error(self.source_id, untagged(bound))
        if escape is not None:
            raise escape
        check_statement(self.source_id, _HAS_NUL if "\0" in bound.sql else refusal(bound.sql))
        refuse_dynamic_sql(self.source_id, bound, self.dialect)
        if "\\" in bound.sql and not connection.is_postgresql and self.dialect != REDSHIFT:
            raise statement_error(self.source_id, _BACKSLASH)

    def failure(self, error: Exception) -> TenantryError:
        if isinstance(error, ServerError):
            return self._refused(error, self._limits.timeout)
        if isinstance(error, psycopg.OperationalError | OSError):
            return unreachable_error(self.source_id, error, cause=postgres_problem(error))
        return query_error(self.source_id, type(error).__name__)

    def _refused(self, error: ServerError, seconds: float, *, has_values: bool = False) -> TenantryError:
        state = error.sqlstate
        if state == _CANCELLED:
            return timeout_error(self.source_id, seconds)
        if state == _LOCKED and self._limits.lock_timeout is not None:
            return timeout_error(self.source_id, self._limits.lock_timeout)
        if state == _READ_ONLY:
            return statement_error(self.source_id, WRITES)
        if state == _SEVERAL and error.several:
            return statement_error(self.source_id, SEVERAL)
        evidence = f"{self._error_name(state)} (SQLSTATE {state})"
        if state[:2] in _AWAY:
            hint = f" (SQLSTATE {state})"
            return unreachable_error(self.source_id, error, hint, has_no_connection=error.has_no_connection)
        if error.parameter is not None:
            return UnbindableValue(
                f"the value of parameter ${error.parameter} does not fit the type of its position: {evidence}",
                name=f"${error.parameter}",
            )
        if state[:2] == _BAD_VALUE and has_values:
            return UnbindableValue(f"the database cannot compute with a value of the query: {evidence}", name="$")
        return query_error(self.source_id, evidence, int(error.position or 0))

    def _error_name(self, state: str) -> str:
        try:
            return psycopg.errors.lookup(state).__name__
        except KeyError:
            return "Error"

    def is_reusable(self, connection: PipelineConnection) -> bool:
        return connection.is_clean

    def interrupt(self, connection: PipelineConnection) -> None:
        connection.interrupt()

    def close(self, connection: PipelineConnection) -> None:
        connection.close()

    def shutdown(self) -> None:
        pass


def _statement(bound: BoundSQL) -> Statement:
    return bound.sql.encode(), encode_parameters(driver_parameters(bound))


def _described(columns: Sequence[ServerColumn]) -> tuple[list[str], list[str], list[str | None]]:
    return [each.name for each in columns], [each.type for each in columns], [each.arrow_type for each in columns]
