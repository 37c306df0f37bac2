"""The app that sqlmap attacks: ``/bound`` runs a template on a group's data source, ``/spliced`` has a known hole.

``uvicorn --factory benchmarks.acceptance.attacks.sql_app:create``, with the folder for its files in ATTACKED_FOLDER.
Every value that a caller sends reaches SQL: as a viewer's parameter, and as a property of the group.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
from pathlib import Path
from typing import Any, Final

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from tenantry import DataSources, TenantryError, error_handler
from tenantry.backends.memory.store import MemoryStore
from tenantry.groups import Record, SourceDraft, Tag, UserGroup, extend
from tenantry.sql import SQLTemplate

ROWS: Final = [(1, "eu", "open", 10.0), (2, "eu", "paid", 20.0), (3, "us", "open", 30.0)]

BOUND: Final = SQLTemplate("""
    select id, region, amount from orders
    where region = {{ region }}
      and status in {{ params.statuses }}
      [[ and status like '%{{ params.text }}%' ]]
      [[ and id >= cast({{ params.since }} as integer) ]]
    order by id
""")
"""Each kind of position: a comparison, a list, the inside of a string, an optional clause."""


class _Attacked:
    def __init__(self, folder: Path) -> None:
        self._warehouse = folder / "warehouse.db"
        with contextlib.closing(sqlite3.connect(self._warehouse)) as database, database:
            database.execute("create table orders (id integer, region text, status text, amount real)")
            database.executemany("insert into orders values (?, ?, ?, ?)", ROWS)
        self._store = MemoryStore()
        self._sources = DataSources(self._store)
        self._group: UserGroup | None = None

    async def bound(self, request: Request) -> Response:
        asked = request.query_params
        group = await self._with_region(asked.get("region", "eu"))
        params = {
            "statuses": asked.getlist("status") or ["open"],
            "text": asked.get("text"),
            "since": asked.get("since"),
        }
        variables = extend(group.variables, "params", Record(params))
        return JSONResponse(await self._sources.fetch(group, "main", BOUND, variables))

    async def spliced(self, request: Request) -> Response:
        text = f"select id, region, amount from orders where region = '{request.query_params.get('region', 'eu')}'"

        def run() -> list[Any]:
            with contextlib.closing(sqlite3.connect(self._warehouse)) as database:
                return database.execute(text).fetchall()

        return JSONResponse(await run_in_threadpool(run))

    async def _with_region(self, region: str) -> UserGroup:
        environment = await self._store.environments.get("production")
        if environment is None:
            environment = await self._store.environments.create("production", Tag.CUSTOMER)
            await self._store.sources.create(
                environment, "ds_warehouse", SourceDraft("warehouse", f"sqlite:///{self._warehouse}")
            )
        return UserGroup(
            1, "acme", "Acme", environment, Record({"region": region}), Record({"main": "warehouse"}), b"8 bytes.", 1, 1
        )


def create() -> Starlette:
    """The app, with a new warehouse in its folder."""
    attacked = _Attacked(Path(os.environ["ATTACKED_FOLDER"]))
    routes = [Route("/bound", attacked.bound), Route("/spliced", attacked.spliced)]
    return Starlette(routes=routes, exception_handlers={TenantryError: error_handler})
