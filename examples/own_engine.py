"""Your own engine for data sources, here CSV files: ``python examples/own_engine.py``.

It needs ``pip install 'tenantry[guard]'``.
"""

from __future__ import annotations

import asyncio
import csv
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path

from tenantry import DataSources, Tag
from tenantry.backends.memory import MemoryStore
from tenantry.datasources import Enforcement, Limits, take_result
from tenantry.errors import QueryFailed, TenantryError
from tenantry.groups import GroupDraft, RegisteredSource, SourceDraft
from tenantry.results import Result
from tenantry.sql import BoundSQL
from tenantry.testing import make_token

TABLES = {"tables": {"data": {"region": "{{ user_group.properties.region }}"}}}
"""A row is a customer's if it is of the customer's region."""


class CSVDriver:
    """Queries one CSV file as the table ``data``. It imports no base class: its methods make it a Driver."""

    dialect = "sqlite"
    paramstyle = "qmark"
    enforcement = Enforcement()  # read-only, and stopped; one that says less is reported in the log

    def __init__(self, source: RegisteredSource, limits: Limits) -> None:
        self.source_id = source.id
        self._path = Path(source.url.removeprefix("csv://"))
        self._limits = limits

    def open(self) -> sqlite3.Connection:
        """The file's rows in memory; from then on SQLite writes nothing and opens no file."""
        with self._path.open(newline="", encoding="utf-8") as file:
            names, *rows = csv.reader(file)
        connection = sqlite3.connect(":memory:", check_same_thread=False)
        columns = ", ".join(f'"{name.replace(chr(34), chr(34) * 2)}"' for name in names)
        connection.execute(f"create table data ({columns})")
        marks = ", ".join("?" * len(names))
        connection.executemany(f"insert into data values ({marks})", rows)  # noqa: S608  # question marks only
        connection.commit()
        connection.execute("pragma query_only = on")
        connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
        connection.set_authorizer(_only_reads)
        return connection

    def fetch(self, connection: sqlite3.Connection, bound: BoundSQL) -> Result:
        """One query, within the limits."""
        with closing(connection.execute(bound.sql, bound.params or ())) as cursor:
            columns = [column[0] for column in cursor.description or ()]
            return take_result(self.source_id, columns, cursor, self._limits)

    def failure(self, error: Exception) -> TenantryError:
        """Never the engine's own text: it may quote a tenant's value."""
        return QueryFailed(f"data source {self.source_id} refused the query: {type(error).__name__}")

    def interrupt(self, connection: sqlite3.Connection) -> None:
        """Stops a query that takes longer than the timeout."""
        connection.interrupt()

    def close(self, connection: sqlite3.Connection) -> None:
        """Frees the rows."""
        connection.close()

    def shutdown(self) -> None:
        """Nothing is shared between connections."""


def _only_reads(action: int, *_: str | None) -> int:
    allowed = {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION}
    return sqlite3.SQLITE_OK if action in allowed else sqlite3.SQLITE_DENY


async def show(folder: Path) -> None:
    """Registers a CSV file as a data source and queries it for one group."""
    (folder / "orders.csv").write_text("region,amount\neu,10\nus,20\n", "utf-8")
    store = MemoryStore()
    production = await store.environments.create("production", Tag.CUSTOMER)
    url = f"csv://{folder / 'orders.csv'}"
    await store.sources.create(production, "ds_1", SourceDraft("orders", url, tables=TABLES))
    draft = GroupDraft("acme", "Acme Ltd", {"region": "eu"}, {"main": "orders"})
    group = (await store.groups.get_or_create(production, draft, make_token())).group
    async with DataSources(store, engines={"csv": CSVDriver}) as sources:
        print(await sources.fetch(group, "main", "select region, amount from data"))
        for refused in ("delete from data", "select missing from data"):  # by the guard, and by the driver
            try:
                await sources.fetch(group, "main", refused)
            except TenantryError as error:
                print(error)


def main() -> None:
    """Prints the group's rows, and the errors of two other queries."""
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(show(Path(folder)))


if __name__ == "__main__":
    main()
