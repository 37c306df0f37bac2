"""Properties become bound parameters when a page is rendered: ``python examples/sql_at_render.py``.

It needs ``pip install 'tenantry[guard]'``.
"""

from __future__ import annotations

import asyncio
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path

from tenantry import DataSources, Tag
from tenantry.backends.memory import MemoryStore
from tenantry.groups import GroupDraft, SourceDraft
from tenantry.sql import SQLTemplate
from tenantry.sql.guarding import read_tables
from tenantry.testing import make_token

ORDERS = SQLTemplate("""
    select id, amount from orders
    where status in {{ statuses }}
    [[ and amount >= {{ params.at_least }} ]]
    order by id
""")
TABLES = {"tables": {"orders": {"region": "{{ user_group.properties.region }}"}}}
"""An order is a customer's if it is of the customer's region. No query can forget that."""


def make_warehouse(path: Path) -> None:
    """A small SQLite database: what your data source would be."""
    with closing(sqlite3.connect(path)) as warehouse, warehouse:
        warehouse.execute("create table orders (id integer, region text, status text, amount real)")
        warehouse.executemany(
            "insert into orders values (?, ?, ?, ?)",
            [(1, "eu", "open", 10.0), (2, "eu", "paid", 20.0), (3, "us", "open", 30.0)],
        )


async def show(folder: Path) -> None:
    """Registers the warehouse, makes two groups that map to it, and runs the same template for both."""
    make_warehouse(folder / "warehouse.db")
    store = MemoryStore()
    production = await store.environments.create("production", Tag.CUSTOMER)
    url = f"sqlite:///{folder / 'warehouse.db'}"
    await store.sources.create(production, "ds_1", SourceDraft("warehouse", url, tables=TABLES))
    guarded = ORDERS.guarded(read_tables(TABLES))
    sources = DataSources(store)
    for name, region in (("acme", "eu"), ("globex", "us"), ("mallory", "' or '1'='1")):
        draft = GroupDraft(name, name, {"region": region, "statuses": ["open", "paid"]}, {"main": "warehouse"})
        group = (await store.groups.get_or_create(production, draft, make_token())).group
        bound = guarded.bind(group.variables, paramstyle="qmark", dialect="sqlite")
        rows = await sources.fetch(group, "main", ORDERS, group.variables)
        print(name, " ".join(bound.sql.split()), bound.params, rows, sep="\n    ")
    await sources.aclose()


def main() -> None:
    """Shows the text, the parameters and the rows of each group: the text is the same for all of them."""
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(show(Path(folder)))


if __name__ == "__main__":
    main()
