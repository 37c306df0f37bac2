"""One store in several event loops, one after the other and without a farewell: as a test client uses it."""

from __future__ import annotations

import asyncio
import gc
from pathlib import Path

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from tenantry.backends.sql import SQLStore
from tenantry.groups import GroupDraft, Tag
from tenantry.testing import make_token
from tests.engines.postgres import Postgres


def test_a_store_outlives_its_loops(url: str) -> None:
    """Reads and writes work in three loops in turn; each loop closes its own connections as it ends.

    Red when the connections are not parked in the loop: asyncpg's are bound to the first one, and leak.
    """
    store = SQLStore(url)
    token = make_token()

    async def work(name: str) -> str:
        environment = await store.create_environment(name, Tag.CUSTOMER)
        await store.get_or_create(environment, GroupDraft("acme", name), token if name == "a" else make_token())
        found = await store.find(token)
        assert found is not None
        return found.name

    assert [asyncio.run(work(name)) for name in "abc"] == ["a", "a", "a"]
    gc.collect()  # what was not closed would warn now, and a warning is an error here
    asyncio.run(store.aclose())


def test_a_loop_that_ended_leaves_no_connection(postgres_url: str, postgres: Postgres) -> None:
    """After a loop has ended without ``aclose`` the server has no connection of it."""
    store = SQLStore(postgres_url)
    asyncio.run(store.environments())
    asyncio.run(store.environments())
    count = "select count(*) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()"
    for _ in range(200):  # the server notices a closed socket in its own time
        if int(postgres.execute(count, url=postgres_url)) == 0:
            return
    raise AssertionError("connections are left")


def test_a_store_serves_a_test_client(url: str) -> None:
    """Starlette's TestClient, used without ``with``, runs each request in a loop of its own."""
    store = SQLStore(url)

    async def names(request: Request) -> JSONResponse:
        await store.create_environment(request.path_params["name"], Tag.TESTING)
        return JSONResponse([environment.name for environment in await store.environments()])

    client = TestClient(Starlette(routes=[Route("/{name}", names)]))
    assert client.get("/a").json() == ["a"]
    assert client.get("/b").json() == ["a", "b"]
    asyncio.run(store.aclose())
    gc.collect()


async def test_a_closed_store_opens_again(url: str) -> None:
    """``aclose`` may be called at any time, twice as well; the next call opens new connections."""
    store = SQLStore(url)
    await store.aclose()
    made = await store.create_environment("production", Tag.CUSTOMER)
    await store.aclose()
    await store.aclose()
    assert await store.environment("production") == made
    await store.aclose()


async def test_a_closed_file_leaves_nothing_behind(sqlite_url: str, tmp_path: Path) -> None:
    """After ``aclose`` the write-ahead log is merged: the database is one file, which can be copied."""
    store = SQLStore(sqlite_url)
    await store.create_environment("production", Tag.CUSTOMER)
    await store.aclose()
    assert [path.name for path in tmp_path.iterdir()] == ["store.db"]
