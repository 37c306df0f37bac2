"""PostgreSQL: every query alone in a read-only transaction that is rolled back, on a connection that is wiped after it.

The extended protocol takes one statement by its nature, so no statement of a template can end the transaction and have
another one follow. The transaction refuses writes; it does not refuse what a role may do outside tables (COPY … TO
PROGRAM, pg_read_file), so the first keyword must be one that reads, and the URL should name a role without such rights.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from math import inf
from typing import TYPE_CHECKING, Any

from sqlalchemy.engine import URL

from tenantry.database.own_tables import check_postgresql
from tenantry.datasources.driver import (
    Answer,
    Found,
    Rows,
    busy_error,
    check_statement,
    driver_parameters,
    dynamic_sql_error,
    missing_driver_message,
    query_error,
    statement_error,
    timeout_error,
    too_many_bytes_error,
    unreachable_error,
)
from tenantry.datasources.limits import Limits, to_dicts
from tenantry.datasources.postgresql_values import encode
from tenantry.datasources.session import session_escape_error
from tenantry.datasources.statement import SEVERAL, WRITES, refusal
from tenantry.errors import InvalidSource, TenantryError, UnbindableValue
from tenantry.sql import BoundSQL
from tenantry.sql.parsing.dynamic_sql import has_dynamic_sql

if TYPE_CHECKING:
    import asyncpg

_log = logging.getLogger(__name__)
_SLACK = 2.0  # seconds that the client waits beyond the server's own timeout, before it gives up on the server
_AWAY = frozenset({"08", "28", "3D", "53", "57"})  # SQLSTATE classes: connection, login, database, resources, shutdown
_READ_ONLY = "25006"
_CANCELLED = "57014"
_SEVERAL = "42601"
_BYPASSES_POLICIES = """
select (select rolsuper or rolbypassrls from pg_roles where rolname = current_user)
  or exists (select from pg_class where relrowsecurity and not row_security_active(oid))
"""


class ByteCounter(asyncio.Protocol):
    """Passes everything on to ``inner``. After ``allow(n)`` it ends the connection when more than ``n`` bytes come.

    asyncpg reads all rows of an answer before it gives any of them, and who reads a portal in parts cannot know how
    long its next rows are. So the bytes are counted as they come, by a protocol between the socket and asyncpg.
    """

    def __init__(self, inner: Any, transport: Any) -> None:
        self._inner = inner
        self._transport = transport
        self._left = inf
        self.exceeded: bool = False
        """Whether more came than was allowed."""

    def allow(self, count: float) -> None:
        """So many bytes from now on; ``inf`` for any number."""
        self._left = count

    def data_received(self, data: bytes) -> None:
        """Counts the bytes, and passes them on or ends the connection."""
        self._left -= len(data)
        if self._left >= 0:
            self._inner.data_received(data)
        elif not self.exceeded:
            self.exceeded = True
            self._transport.abort()

    def eof_received(self) -> Any:
        """Passed on."""
        return self._inner.eof_received()

    def connection_lost(self, exc: Exception | None) -> None:
        """Passed on."""
        self._inner.connection_lost(exc)

    def pause_writing(self) -> None:
        """Passed on."""
        self._inner.pause_writing()

    def resume_writing(self) -> None:
        """Passed on."""
        self._inner.resume_writing()


def counting_connection(base: type[Any]) -> type[Any]:
    """A class of asyncpg connections (``base``) that count what they receive, each in its ``counter``."""

    class CountingConnection(base):  # type: ignore[misc]  # asyncpg is loaded when it is first needed
        __slots__ = ("counter",)

        def __init__(self, protocol: Any, transport: Any, *arguments: Any) -> None:
            super().__init__(protocol, transport, *arguments)
            self.counter = ByteCounter(protocol, transport)
            transport.set_protocol(self.counter)

    return CountingConnection


class PostgreSQLSource:
    """A DataSource over an asyncpg pool. Opens nothing before the first query.

    ``has_session``: each query comes with session variables, so a role that no policy holds is refused. Raises
    InvalidSource when asyncpg is not installed.
    """

    dialect = "postgresql"
    paramstyle = "numeric_dollar"

    def __init__(self, source_id: str, url: URL, limits: Limits, *, has_session: bool = False) -> None:
        self._has_session = has_session
        try:
            import asyncpg
        except ImportError:
            raise InvalidSource(missing_driver_message("asyncpg", "postgres")) from None
        self._asyncpg = asyncpg
        self._source_id = source_id
        self._dsn = url.set(drivername="postgresql").render_as_string(hide_password=False)
        self._limits = limits
        self._pool: asyncpg.Pool | None = None
        self._opening = asyncio.Lock()
        self._warned = False

    async def fetch(self, shape: Callable[[Answer], Found], bound: BoundSQL, session: BoundSQL | None = None) -> Found:
        """Raises DataSourceError, and UnbindableValue for a value that its position in the SQL cannot take."""
        check_statement(self._source_id, refusal(bound.sql))
        if bound.params and has_dynamic_sql(bound.sql, self.dialect):
            raise dynamic_sql_error(self._source_id)
        escape = None if session is None else session_escape_error(self._source_id, bound.sql)
        if escape is not None:
            raise escape
        failure: TenantryError
        async with self._opening:
            if self._pool is None:
                self._pool = await self._create_pool()
            pool = self._pool
        connection = await self._acquire(pool)
        counter: ByteCounter = connection.counter
        try:
            async with asyncio.timeout(self._limits.timeout + _SLACK):
                return shape(await self._run(connection, bound, session, counter))
        except TenantryError:
            raise
        except TimeoutError:
            failure = timeout_error(self._source_id, self._limits.timeout)
        except Exception as error:  # noqa: BLE001  # whatever a driver raises may quote a value: none of it may leave
            failure = self._failure(error)
            if counter.exceeded:
                failure = too_many_bytes_error(self._source_id, self._limits.max_bytes)
        finally:
            # a connection that cannot be wiped is terminated by the pool: that is no failure of this query
            with suppress(OSError, TimeoutError, self._asyncpg.PostgresError, self._asyncpg.InterfaceError):
                await pool.release(connection, timeout=_SLACK)
        raise failure

    async def _run(self, connection: Any, bound: BoundSQL, session: BoundSQL | None, counter: ByteCounter) -> Rows:
        transaction = connection.transaction(readonly=True)
        await transaction.start()
        try:
            if session is not None:
                await connection.execute(session.sql, *driver_parameters(session))
            statement = await connection.prepare(bound.sql)
            values = encode(driver_parameters(bound), statement.get_parameters())
            columns = [attribute.name for attribute in statement.get_attributes()]
            if not columns:
                raise statement_error(self._source_id, "it gives no columns")
            # One portal, executed once with a bound on its rows: the timeout covers all of it.
            cursor = await statement.cursor(*values)
            counter.allow(self._limits.max_bytes)
            rows = await cursor.fetch(self._limits.row_limit + 1)
            counter.allow(inf)
        finally:
            await _roll_back(connection, transaction)
        return to_dicts(self._source_id, columns, rows, self._limits.row_limit)

    async def _acquire(self, pool: asyncpg.Pool) -> Any:
        failure: TenantryError
        try:
            return await pool.acquire(timeout=self._limits.connect_timeout)
        except TimeoutError as error:
            full = pool.get_size() - pool.get_idle_size() >= self._limits.pool_size
            failure = busy_error(self._source_id) if full else unreachable_error(self._source_id, error)
        except (OSError, self._asyncpg.PostgresError, self._asyncpg.InterfaceError, ValueError) as error:
            state = getattr(error, "sqlstate", None)
            failure = unreachable_error(self._source_id, error, f" (SQLSTATE {state})" if state else "")
        raise failure

    async def _create_pool(self) -> asyncpg.Pool:
        failure: TenantryError
        try:
            return await self._asyncpg.create_pool(
                self._dsn,
                min_size=0,  # connects when a query needs it
                max_size=self._limits.pool_size,
                timeout=self._limits.connect_timeout,
                statement_cache_size=0,  # DISCARD ALL would forget on the server what the client still remembers
                init=self._check_connection,
                connection_class=counting_connection(self._asyncpg.Connection),
                # nothing that a query did to its session reaches the next one: settings, role, locks, tables, plans
                reset=lambda connection: connection.execute("discard all"),
                server_settings={
                    "application_name": "tenantry",
                    "default_transaction_read_only": "on",
                    "standard_conforming_strings": "on",  # off, '\' does not end where the template's lexer ends it
                    "statement_timeout": str(self._limits.timeout_ms),
                    "idle_in_transaction_session_timeout": str(self._limits.timeout_ms + round(_SLACK * 1000)),
                },
            )
        except (OSError, self._asyncpg.PostgresError, self._asyncpg.InterfaceError, ValueError) as error:
            failure = unreachable_error(self._source_id, error)
        raise failure

    async def _check_connection(self, connection: Any) -> None:
        await check_postgresql(connection)
        if self._has_session and await connection.fetchval(_BYPASSES_POLICIES):
            raise InvalidSource(
                f"row-level security does not hold the role of data source {self._source_id}, so its session variables "
                "would filter nothing: give it a role that is no superuser, has no BYPASSRLS and owns no table "
                "without `force row level security`"
            )
        if not self._warned and getattr(connection.get_settings(), "is_superuser", "off") == "on":
            self._warned = True
            _log.warning(
                "data source %s connects as a superuser, who can read the server's files even in a read-only "
                "transaction: give it a role that may only read",
                self._source_id,
            )

    def _failure(self, error: Exception) -> TenantryError:
        state: str | None = getattr(error, "sqlstate", None)
        if state == _CANCELLED:
            return timeout_error(self._source_id, self._limits.timeout)
        if state == _READ_ONLY:
            return statement_error(self._source_id, WRITES)
        if state == _SEVERAL and "multiple commands" in str(error):
            return statement_error(self._source_id, SEVERAL)
        if isinstance(error, OSError) or (state or "")[:2] in _AWAY:
            return unreachable_error(self._source_id, error, f" (SQLSTATE {state})" if state else "")
        if isinstance(error, self._asyncpg.DataError) and error.severity is None:  # asyncpg's own: nothing was sent
            return UnbindableValue("a value does not fit the type that its position in the SQL has", name="$")
        if state is None:
            return query_error(self._source_id, type(error).__name__)
        position: str | None = getattr(error, "position", None)
        where = f", at character {position} of the SQL" if position else ""
        return query_error(self._source_id, f"{type(error).__name__} (SQLSTATE {state}){where}")

    async def aclose(self) -> None:
        """Lets what is running finish for two seconds, then stops it."""
        pool, self._pool = self._pool, None
        if pool is not None:
            with suppress(OSError, TimeoutError, self._asyncpg.InterfaceError):
                async with asyncio.timeout(_SLACK):
                    await pool.close()  # terminates when it is cancelled

    def abandon(self) -> None:
        """Ends every connection without waiting."""
        pool, self._pool = self._pool, None
        if pool is not None:
            with suppress(RuntimeError, self._asyncpg.InterfaceError):  # its event loop is closed
                pool.terminate()


async def _roll_back(connection: Any, transaction: Any) -> None:
    """A connection that cannot be rolled back in time is not used again."""
    clean = False
    try:
        async with asyncio.timeout(_SLACK):
            if not connection.is_closed():
                await transaction.rollback()
        clean = True
    finally:
        if not clean:
            connection.terminate()
