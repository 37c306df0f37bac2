"""chDB: ClickHouse in this process, on one local folder at a time."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, suppress
from threading import Lock
from typing import TYPE_CHECKING, Any, Final
from uuid import uuid4

import clickhouse_connect

from tenantry.datasources.driver import unreachable_error
from tenantry.datasources.engines.clickhouse_queries import READ_AS, failure_of, limit_settings, to_result
from tenantry.datasources.engines.clickhouse_sql import to_statement
from tenantry.datasources.pool.query_limits import Limits
from tenantry.datasources.results import Result
from tenantry.datasources.statement import first_keyword
from tenantry.datasources.url import file_path, memory_bytes, parse_url
from tenantry.errors import InvalidSource, SourceUnavailable, TenantryError
from tenantry.groups import RegisteredSource
from tenantry.sql import BoundSQL

if TYPE_CHECKING:
    from clickhouse_connect.driver.client import Client
    from clickhouse_connect.driver.query import QueryResult

_OWN_FOLDERS: Final = ("metadata", "store")
_DESCRIBED: Final = frozenset({"select", "with", "from"})
_BUSY_FOLDER: Final = ": this process has another chDB folder open, or another process has this one"


class Handle:
    def __init__(self, client: Client) -> None:
        self.client = client
        self.mark = ""
        """An SQL comment at the start of the query, by which another client can find and stop the query."""
        self.stopping: Future[None] | None = None


class ChDBDriver:
    """A ``Driver`` and ``ReusingDriver`` for a chDB folder. The first query imports chDB (half a gigabyte)."""

    dialect = "clickhouse"
    paramstyle = "pyformat"

    def __init__(self, source: RegisteredSource, limits: Limits) -> None:
        url = parse_url(source.url)
        self.source_id: str = source.id
        self._path = file_path(url)
        self._limits = limits
        # A folder cannot be opened read-only. Writes are refused by the setting `readonly`, which no query can change,
        # and by the check of the SQL.
        self._settings = {**limit_settings(limits), "max_memory_usage": str(memory_bytes(url)), "readonly": "1"}
        self._lock = Lock()
        self._stoppers = ThreadPoolExecutor(limits.pool_size, thread_name_prefix=f"tenantry-stop-{source.id}")

    def open(self) -> Handle:
        if not self._path.is_dir():
            raise SourceUnavailable(f"the folder of data source {self.source_id} does not exist")
        if not all(
            (self._path / name).is_dir() for name in _OWN_FOLDERS
        ):  # otherwise the engine would create a database in the folder
            raise InvalidSource(f"the folder of data source {self.source_id} contains no chDB database")
        failure: TenantryError
        try:
            with self._lock:
                client = clickhouse_connect.get_client(interface="chdb", path=str(self._path), tz_mode="schema")
            try:
                for (
                    name,
                    value,
                ) in self._settings.items():  # `readonly` must be last, because no setting can be changed after it
                    client.set_client_setting(name, value)
            except BaseException:
                client.close()
                raise
            return Handle(client)
        except clickhouse_connect.driver.exceptions.Error as error:
            failure = unreachable_error(self.source_id, error, _BUSY_FOLDER)
        raise failure

    def fetch(self, connection: Handle, bound: BoundSQL) -> Result:
        sql, params = to_statement(self.source_id, bound)
        connection.mark = f"/*{uuid4().hex}*/"
        failure: TenantryError
        try:
            answer = connection.client.query(connection.mark + sql, parameters=params, query_formats=READ_AS)
            names, types = self._columns(connection, sql, params, answer)
        except clickhouse_connect.driver.exceptions.Error as error:
            failure = failure_of(self.source_id, self._limits, error, has_values=bool(params))
        else:
            rows: Any = answer.result_rows
            return to_result(self.source_id, names, types, map(tuple, rows), self._limits)
        raise failure

    def _columns(
        self, connection: Handle, sql: str, params: dict[str, Any], answer: QueryResult
    ) -> tuple[list[str], list[Any]]:
        if (
            answer.column_names or first_keyword(sql) not in _DESCRIBED
        ):  # chDB names no columns if there are no rows, but `describe` does
            return list(answer.column_names), list(answer.column_types)
        from clickhouse_connect.datatypes.registry import get_from_name

        described = connection.client.query(f"{connection.mark}describe ({sql}\n)", parameters=params)
        rows: Any = described.result_rows
        return [row[0] for row in rows], [get_from_name(row[1]) for row in rows]

    def failure(self, error: Exception) -> TenantryError:
        return failure_of(self.source_id, self._limits, error)

    def is_reusable(self, connection: Handle) -> bool:
        return True  # a query cannot change its handle

    def interrupt(self, connection: Handle) -> None:
        if connection.mark and (connection.stopping is None or connection.stopping.done()):
            connection.stopping = self._stoppers.submit(self._stop, connection.mark)

    def _stop(self, mark: str) -> None:
        import chdb

        # If this fails, the engine's timeout ends the query.
        with suppress(Exception), closing(chdb.connect(str(self._path))) as other:
            other.query(f"kill query where startsWith(query, '{mark}') async")

    def close(self, connection: Handle) -> None:
        """The process releases the folder when its last handle is closed."""
        connection.client.close()

    def shutdown(self) -> None:
        self._stoppers.shutdown(wait=False)
