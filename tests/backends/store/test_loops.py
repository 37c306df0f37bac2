"""One store in several event loops, one after the other and without a farewell: as a test client uses it."""

from __future__ import annotations

import asyncio
import gc
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from engines.postgres import Postgres
from tenantry.backends.sql import SQLStore
from tenantry.groups import Environment, GroupDraft, Tag
from tenantry.testing import make_token


def test_a_store_outlives_its_loops(url: str) -> None:
    """Reads and writes work in three loops in turn; each loop closes its own connections as it ends.

    Red when the connections are not parked in the loop: they are bound to the first one, and leak.
    """
    store = SQLStore(url)
    token = make_token()

    async def work(name: str) -> str:
        environment = await store.environments.create(name, Tag.CUSTOMER)
        await store.groups.get_or_create(environment, GroupDraft("acme", name), token if name == "a" else make_token())
        found = await store.find(token)
        assert found is not None
        return found.name

    assert [asyncio.run(work(name)) for name in "abc"] == ["a", "a", "a"]
    gc.collect()  # what was not closed would warn now, and a warning is an error here
    asyncio.run(store.aclose())


def test_a_loop_that_ended_leaves_no_connection(postgres_url: str, postgres: Postgres) -> None:
    """After a loop has ended without ``aclose`` the server has no connection of it."""
    store = SQLStore(postgres_url)
    asyncio.run(store.environments.list())
    asyncio.run(store.environments.list())
    count = "select count(*) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()"
    for _ in range(2_000):  # the server notices a closed socket in its own time
        if int(postgres.execute(count, url=postgres_url)) == 0:
            return
    raise AssertionError("connections are left")


def test_a_store_serves_a_test_client(url: str) -> None:
    """Starlette's TestClient, used without ``with``, runs each request in a loop of its own."""
    store = SQLStore(url)

    async def names(request: Request) -> JSONResponse:
        await store.environments.create(request.path_params["name"], Tag.TESTING)
        return JSONResponse([environment.name for environment in await store.environments.list()])

    client = TestClient(Starlette(routes=[Route("/{name}", names)]))
    assert client.get("/a").json() == ["a"]
    assert client.get("/b").json() == ["a", "b"]
    asyncio.run(store.aclose())
    gc.collect()


async def test_a_closed_store_opens_again(url: str) -> None:
    """``aclose`` may be called at any time, twice as well; the next call opens new connections."""
    store = SQLStore(url)
    await store.aclose()
    made = await store.environments.create("production", Tag.CUSTOMER)
    await store.aclose()
    await store.aclose()
    assert await store.environments.get("production") == made
    await store.aclose()


def test_one_loop_may_close_what_another_uses(sqlite_url: str) -> None:
    """While one thread closes the store again and again, the writes and reads of two others all succeed.

    Red when the writer's thread and its connection are changed in two steps: a new thread then used the connection
    that the old one was closing.
    """
    store = SQLStore(sqlite_url)
    done = threading.Event()

    async def close_often() -> None:
        while not done.is_set():
            await asyncio.sleep(0.001)
            await store.aclose()

    async def work(name: str) -> int:
        environment = await store.environments.create(name, Tag.CUSTOMER)
        for number in range(100):
            issued = await store.groups.get_or_create(environment, GroupDraft(str(number), "x"), make_token())
            assert await store.find(issued.token) == issued.group
        return len(await store.groups.list(environment))

    with ThreadPoolExecutor(3) as threads:
        closing = threads.submit(asyncio.run, close_often())
        working = [threads.submit(asyncio.run, work(name)) for name in "ab"]
        try:
            assert [each.result(300) for each in working] == [100, 100]
        finally:
            done.set()
            closing.result(300)
    asyncio.run(store.aclose())


async def test_closing_leaves_no_connection_that_is_in_use(postgres_url: str) -> None:
    """Reads and writes under way when the store is closed succeed, and their connections are closed after them.

    Red when they go back to a pool that was closed already: the driver warns of each.
    """
    store = SQLStore(postgres_url)
    await store.environments.list()
    under_way = [asyncio.create_task(store.environments.list()) for _ in range(4)]
    under_way += [asyncio.create_task(_create(store, str(number))) for number in range(4)]
    await asyncio.sleep(0.002)
    await store.aclose()
    await asyncio.gather(*under_way)
    gc.collect()


async def _create(store: SQLStore, name: str) -> list[Environment]:
    return [await store.environments.create(name, Tag.CUSTOMER)]


def test_ended_loops_are_forgotten(postgres_url: str) -> None:
    """A program that runs a loop for each job does not grow. Red when closed loops stay in the table of loops."""
    store = SQLStore(postgres_url)
    for _ in range(5):
        asyncio.run(store.ready())
    assert len(store._runner._engine._connections._values) == 1  # type: ignore[attr-defined]  # of PostgresEngine


async def test_a_closed_file_leaves_nothing_behind(sqlite_url: str, tmp_path: Path) -> None:
    """After ``aclose`` the write-ahead log is merged: the database is one file, which can be copied."""
    store = SQLStore(sqlite_url)
    await store.environments.create("production", Tag.CUSTOMER)
    await store.aclose()
    assert [path.name for path in tmp_path.iterdir()] == ["store.db"]
