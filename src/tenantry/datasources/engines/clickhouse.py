"""ClickHouse over HTTP without sessions, through clickhouse-connect."""

from __future__ import annotations

import logging
import ssl
from collections.abc import Generator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from itertools import chain
from math import ceil
from threading import Lock
from typing import TYPE_CHECKING, Any, Final
from uuid import uuid4

import clickhouse_connect
from sqlalchemy.engine import URL

from tenantry.database import OTHER_PROTOCOL, causes, network_problem
from tenantry.datasources.driver import OpenRows, unreachable_error
from tenantry.datasources.engines import tls
from tenantry.datasources.engines.clickhouse_queries import (
    READ_AS,
    failure_of,
    limit_settings,
    to_rows,
)
from tenantry.datasources.engines.clickhouse_sql import to_statement
from tenantry.datasources.pool.query_limits import Limits, StreamLimits, take_open_rows
from tenantry.datasources.results import Result
from tenantry.datasources.url import parse_url
from tenantry.errors import InvalidSource, TenantryError
from tenantry.groups import RegisteredSource
from tenantry.sql import BoundSQL

if TYPE_CHECKING:
    from clickhouse_connect.driver.client import Client

_MODES: Final = ("disabled", "verify")
_SLACK: Final = 2.0  # seconds for which the client waits beyond the server's timeout
_UNSAID: Final = "Unexpected Http Driver Exception"
_NO_TLS: Final = "the server has no TLS on this port: add ssl_mode=disabled if the network is private"


def _says_more(record: logging.LogRecord) -> bool:
    return record.msg != _UNSAID or record.exc_info is not None


# Drop the log line that names no cause. The client then raises the error with its cause.
logging.getLogger("clickhouse_connect.driver._backend.http_sync").addFilter(_says_more)


class ClickHouseAddress:
    """The options of a ClickHouse URL. Raises InvalidSource for unknown or contradictory options."""

    def __init__(self, url: URL) -> None:
        options = tls.read_options(url, "ClickHouse", tls.OPTIONS, modes=_MODES)
        plain = tls.is_loopback(url.host) and not any(name in options for name in tls.FILES)
        mode = tls.asked_mode(options) or ("disabled" if plain else "verify")
        self._context = None if mode == "disabled" else tls.TLSContext(mode, options)
        self._login = {
            "interface": "http" if self._context is None else "https",
            "host": url.host or "localhost",
            "port": url.port or (8123 if self._context is None else 8443),
            "username": url.username or "default",
            "password": url.password or "",
            "database": url.database,
        }

    @property
    def server(self) -> str:
        return f"{self._login['host']}:{self._login['port']}"

    def arguments(self, connections: int) -> dict[str, Any]:
        """Return the arguments for ``clickhouse_connect.get_client``. Raises InvalidSource for an unreadable
        certificate file."""
        from urllib3 import PoolManager

        context: dict[str, Any] = {} if self._context is None else {"ssl_context": self._context.get()}
        return {**self._login, "pool_mgr": PoolManager(num_pools=1, maxsize=connections, retries=False, **context)}


class RunningQuery:
    def __init__(self, client: Client) -> None:
        self.client = client
        self.query_id = ""
        self.stopping: Future[None] | None = None


class ClickHouseDriver:
    """A ``StreamingDriver`` and ``ReusingDriver``; all connections share one client. Raises InvalidSource for wrong URL
    options."""

    dialect = "clickhouse"
    paramstyle = "pyformat"

    def __init__(self, source: RegisteredSource, limits: Limits) -> None:
        self.source_id: str = source.id
        self._limits = limits
        self._address = ClickHouseAddress(parse_url(source.url))
        self._lock = Lock()
        self._client: Client | None = None
        # Queries are stopped in separate threads and over separate connections, because queries may occupy all others.
        self._stoppers = ThreadPoolExecutor(limits.pool_size, thread_name_prefix=f"tenantry-stop-{source.id}")

    def open(self) -> RunningQuery:
        failure: TenantryError
        with self._lock:
            if self._client is None:
                try:
                    self._client = self._make_client()
                except clickhouse_connect.driver.exceptions.Error as error:
                    failure = self._connection_failure(error)
            if self._client is not None:
                return RunningQuery(self._client)
        raise failure

    def _make_client(self) -> Client:
        limits = self._limits
        client: Client = clickhouse_connect.get_client(
            **self._address.arguments(2 * limits.pool_size),
            query_retries=0,
            connect_timeout=ceil(limits.connect_timeout),
            send_receive_timeout=ceil(limits.timeout + _SLACK),
            autogenerate_session_id=False,
            form_encode_query_params=True,
            tz_mode="schema",
            client_name="tenantry",
        )
        client.http_retries = 0  # type: ignore[attr-defined]  # for each retry urllib3 would log the address
        try:
            self._set_up(client)
        except BaseException:
            client.close()
            raise
        return client

    def _set_up(self, client: Client) -> None:
        # With readonly=1 a query cannot change settings, so it cannot lift the limits, and its table functions cannot
        # reach other servers. If the user's profile sets readonly=2, we cannot set 1, and the check of the SQL refuses
        # the queries that 2 would allow. If the profile sets readonly=1, we cannot set limits: the server applies the
        # profile's limits, and we apply ours to the rows that arrive.
        known = client.server_settings
        level = known["readonly"].value if "readonly" in known else "0"
        if level != "1":
            for name, value in limit_settings(self._limits).items():
                if name in known and not known[name].readonly:
                    client.set_client_setting(name, value)
        if level == "0":
            if known["readonly"].readonly:
                raise InvalidSource(
                    f"the settings profile of the user of data source {self.source_id} sets `readonly` to 0 and "
                    "forbids changing it: set `readonly` to 1 or 2 in the profile, or allow changes to `readonly`"
                )
            client.set_client_setting("readonly", "1")

    def _connection_failure(self, error: Exception) -> TenantryError:
        if getattr(error, "code", None) is not None:
            return failure_of(self.source_id, self._limits, error)
        for cause in causes(error):
            reason = tls.certificate_hint(cause)
            if reason is None and isinstance(cause, ssl.SSLError):
                reason = _NO_TLS
            if reason is not None:
                return unreachable_error(self.source_id, error, cause=reason)
        server = self._address.server
        # ClickHouse names a code in each of its errors.
        is_http = type(error).__name__ == "DatabaseError" and network_problem(error, server) is None
        return unreachable_error(
            self.source_id, error, server=server, cause=OTHER_PROTOCOL.format(server) if is_http else None
        )

    def fetch(self, connection: RunningQuery, bound: BoundSQL) -> Result:
        with closing(self._read(connection, bound, self._limits, {})) as rows:
            return take_open_rows(self.source_id, to_rows(next(rows), rows), self._limits)

    def open_rows(self, connection: RunningQuery, bound: BoundSQL, session: BoundSQL | None) -> OpenRows:
        limits, client = self._limits.stream, connection.client
        settings = {name: value for name, value in limit_settings(limits).items() if client.get_client_setting(name)}
        rows = self._read(connection, bound, limits, settings)
        return to_rows(next(rows), rows)

    def _read(
        self, connection: RunningQuery, bound: BoundSQL, limits: Limits | StreamLimits, settings: dict[str, str]
    ) -> Generator[Any]:
        # Yields the columns, and then the rows.
        sql, params = to_statement(self.source_id, bound)
        connection.query_id = uuid4().hex
        failure: TenantryError
        try:
            with connection.client.query_row_block_stream(
                sql,
                parameters=params,
                settings={"query_id": connection.query_id, **settings},
                query_formats=READ_AS,
            ) as blocks:
                source: Any = blocks.source
                try:
                    yield list(zip(source.column_names, source.column_types, strict=True))
                    yield from chain.from_iterable(blocks)
                except GeneratorExit:  # otherwise the client would read the rest before it frees the connection
                    self.interrupt(connection)
                    raise
            return
        except clickhouse_connect.driver.exceptions.Error as error:
            failure = failure_of(self.source_id, limits, error, has_values=bool(params))
        raise failure

    def failure(self, error: Exception) -> TenantryError:
        return failure_of(self.source_id, self._limits, error)

    def is_reusable(self, connection: RunningQuery) -> bool:
        return True  # requests have no session that a query could change

    def interrupt(self, connection: RunningQuery) -> None:
        if connection.query_id and (connection.stopping is None or connection.stopping.done()):
            connection.stopping = self._stoppers.submit(self._stop, connection.client, connection.query_id)

    def _stop(self, client: Client, query_id: str) -> None:
        # If this fails, the error stays unread in the future, and the server's timeout ends the query.
        client.command(f"kill query where query_id = '{query_id}' async", use_database=False)

    def close(self, connection: RunningQuery) -> None:
        pass  # the connections belong to the client

    def shutdown(self) -> None:
        self._stoppers.shutdown(wait=False)
        with self._lock:
            if self._client is not None:
                self._client.close_connections()
                self._client = None
