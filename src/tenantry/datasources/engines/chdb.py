"""chDB: ClickHouse in this process, on one local folder at a time."""

from __future__ import annotations

from collections.abc import Generator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from itertools import chain
from threading import Lock
from typing import TYPE_CHECKING, Any, Final
from uuid import uuid4

import clickhouse_connect

from tenantry.datasources.driver import OpenRows, unreachable_error
from tenantry.datasources.engines.clickhouse_queries import READ_AS, failure_of, limit_settings, to_rows
from tenantry.datasources.engines.clickhouse_sql import to_statement
from tenantry.datasources.pool.query_limits import Limits, StreamLimits, take_open_rows
from tenantry.datasources.results import Result
from tenantry.datasources.statement import first_keyword
from tenantry.datasources.url import file_path, memory_bytes, parse_url
from tenantry.errors import InvalidSource, SourceUnavailable, TenantryError
from tenantry.groups import RegisteredSource
from tenantry.sql import BoundSQL

if TYPE_CHECKING:
    from clickhouse_connect.driver.client import Client

_OWN_FOLDERS: Final = ("metadata", "store")
# For other statements, such as `show`, chDB returns all rows at once.
_STREAMED: Final = frozenset({"select", "with", "from"})
"""First words of the statements that chDB streams."""
_BUSY_FOLDER: Final = ": this process has another chDB folder open, or another process has this one open"


class Handle:
    def __init__(self, client: Client) -> None:
        self.client = client
        self.streaming: Client | None = None
        """A second client, for streams: streams have other limits, and a client's limits cannot be changed."""
        self.mark = ""
        """An SQL comment at the start of the query, by which another client can find and stop the query."""
        self.stopping: Future[None] | None = None


class ChDBDriver:
    """A ``StreamingDriver`` and ``ReusingDriver`` for a chDB folder. The first query imports chDB."""

    # chDB takes half a gigabyte.

    dialect = "clickhouse"
    paramstyle = "pyformat"

    def __init__(self, source: RegisteredSource, limits: Limits) -> None:
        url = parse_url(source.url)
        self.source_id: str = source.id
        self._path = file_path(url)
        self._limits = limits
        self._memory = str(memory_bytes(url))
        self._lock = Lock()
        self._stoppers = ThreadPoolExecutor(limits.pool_size, thread_name_prefix=f"tenantry-stop-{source.id}")

    def open(self) -> Handle:
        if not self._path.is_dir():
            raise SourceUnavailable(f"the folder of data source {self.source_id} does not exist")
        if not all(
            (self._path / name).is_dir() for name in _OWN_FOLDERS
        ):  # otherwise the engine would create a database in the folder
            raise InvalidSource(f"the folder of data source {self.source_id} contains no chDB database")
        return Handle(self._client(self._limits))

    def _client(self, limits: Limits | StreamLimits) -> Client:
        # A folder cannot be opened read-only. Writes are refused by the setting `readonly`, which no query can change,
        # and by the check of the SQL. No setting can be changed after `readonly`.
        settings = {**limit_settings(limits), "max_memory_usage": self._memory, "readonly": "1"}
        failure: TenantryError
        try:
            with self._lock:
                client = clickhouse_connect.get_client(interface="chdb", path=str(self._path), tz_mode="schema")
            try:
                for name, value in settings.items():
                    client.set_client_setting(name, value)
            except BaseException:
                client.close()
                raise
            return client
        except clickhouse_connect.driver.exceptions.Error as error:
            failure = unreachable_error(self.source_id, error, _BUSY_FOLDER)
        raise failure

    def fetch(self, connection: Handle, bound: BoundSQL) -> Result:
        with closing(self._read(connection, connection.client, bound, self._limits)) as rows:
            return take_open_rows(self.source_id, to_rows(next(rows), rows), self._limits)

    def open_rows(self, connection: Handle, bound: BoundSQL, session: BoundSQL | None) -> OpenRows:
        limits = self._limits.stream
        if connection.streaming is None:
            connection.streaming = self._client(limits)
        rows = self._read(connection, connection.streaming, bound, limits)
        return to_rows(next(rows), rows)

    def _read(
        self, connection: Handle, client: Client, bound: BoundSQL, limits: Limits | StreamLimits
    ) -> Generator[Any]:
        # Yields the columns, and then the rows.
        sql, params = to_statement(self.source_id, bound)
        connection.mark = f"/*{uuid4().hex}*/"
        marked = connection.mark + sql
        failure: TenantryError
        try:
            if first_keyword(sql) not in _STREAMED:
                answer: Any = client.query(marked, parameters=params, query_formats=READ_AS)
                yield list(zip(answer.column_names, answer.column_types, strict=True))
                yield from map(tuple, answer.result_rows)
                return
            with client.query_row_block_stream(marked, parameters=params, query_formats=READ_AS) as blocks:
                source: Any = blocks.source
                columns = list(zip(source.column_names, source.column_types, strict=True))
                if columns:
                    yield columns
                    yield from chain.from_iterable(blocks)
                    return
            yield _columns_without_rows(client, f"{connection.mark}describe ({sql}\n)", params)
            return
        except clickhouse_connect.driver.exceptions.Error as error:
            failure = failure_of(self.source_id, limits, error, has_values=bool(params))
        raise failure

    def failure(self, error: Exception) -> TenantryError:
        return failure_of(self.source_id, self._limits, error)

    def is_reusable(self, connection: Handle) -> bool:
        return True  # a query cannot change its handle

    def interrupt(self, connection: Handle) -> None:
        if connection.mark and (connection.stopping is None or connection.stopping.done()):
            connection.stopping = self._stoppers.submit(self._stop, connection.mark)

    def _stop(self, mark: str) -> None:
        import chdb

        # If this fails, the error stays unread in the future, and the engine's timeout ends the query.
        with closing(chdb.connect(str(self._path))) as other:
            other.query(f"kill query where startsWith(query, '{mark}') async")

    def close(self, connection: Handle) -> None:
        connection.client.close()  # the last client of a folder releases the folder
        if connection.streaming is not None:
            connection.streaming.close()

    def shutdown(self) -> None:
        self._stoppers.shutdown(wait=False)


def _columns_without_rows(client: Client, describe: str, params: dict[str, Any]) -> list[tuple[str, Any]]:
    # For a stream without rows, chDB does not name the columns.
    from clickhouse_connect.datatypes.registry import get_from_name

    rows: Any = client.query(describe, parameters=params).result_rows
    return [(row[0], get_from_name(row[1])) for row in rows]
