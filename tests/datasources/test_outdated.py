"""What runs ends when its group or data source is taken away or changed, whether anybody reads it or not.

The defence is QueryWatch. Broken once, with what went red: no check at all (each change, a hundred seconds of rows);
the group not read again (mapping, property, name, rotation, end date, deletion); the registration not read again
(deleted, moved); records compared with ``==`` (a property that becomes ``true``); the end not told to what waits for
the engine (a query, a first piece); an unread piece kept (what the engine has ended).
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tenantry.backends.sql import SQLStore
from tenantry.datasources import source_lookup
from tenantry.errors import InvalidToken, QueryOutdated, StoreUnavailable, UserGroupExpired, UserGroupSuspended
from tenantry.ports import Store
from tenantry.testing import MemoryStore
from tests.datasources.settings import data_sources
from tests.datasources.tenancy import LIMITS, NO_ROW, ROWS_WITHOUT_END, SOON, Tenancy, ended, make_tenancy


@pytest.fixture(params=["memory", pytest.param("sqlite", marks=pytest.mark.slow), "postgres"])
def url(request: pytest.FixtureRequest) -> str:
    """Of a store; none for one in memory."""
    return "" if request.param == "memory" else str(request.getfixturevalue(f"{request.param}_url"))


@pytest.fixture
async def store(url: str) -> AsyncIterator[Store]:
    if not url:
        yield MemoryStore()
        return
    made = SQLStore(url)
    yield made
    await made.aclose()


@pytest.fixture
async def tenancy(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Tenancy:
    monkeypatch.setattr(source_lookup, "STALENESS", 0.5 if isinstance(store, MemoryStore) else 5.0)
    return await make_tenancy(store, tmp_path)


Change = Callable[[Tenancy], Awaitable[Any]]
CHANGES: dict[str, Change] = {
    "the mapping is cleared": lambda it: it.change(mapping=None),
    "the mapping names another source": lambda it: it.change(mapping={"main": "own_2"}),
    "the source is deleted": lambda it: it.store.sources.delete(it.environment, "own_1"),
    "the source is moved": Tenancy.move,
    "the source has other guarded tables": lambda it: it.guard({"tables": {"orders": "shared"}}),
    "a property changes": lambda it: it.change(properties={"region": "us", "beta": 1}),
    "a property becomes equal in Python": lambda it: it.change(properties={"region": "eu", "beta": True}),
    "the properties are cleared": lambda it: it.change(properties=None),
    "the name changes": lambda it: it.change(name="Acme Ltd"),
    "the token is rotated": lambda it: it.rotate(0),
    "the group is deleted": lambda it: it.store.groups.delete(it.environment, "acme"),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
async def test_a_stream_ends_with_what_it_was_bound_with(tenancy: Tenancy, change: Change) -> None:
    """Though its reader reads nothing; its next read raises the error, and gives no row."""
    async with data_sources(tenancy.store, **LIMITS) as sources:
        stream = await sources.stream(tenancy.group, "main", ROWS_WITHOUT_END)
        await anext(stream)
        await change(tenancy)
        await ended(sources)
        for _ in range(2):
            with pytest.raises(QueryOutdated):
                await anext(stream)
        assert not len(sources.query_watch), "nothing is checked any more"


async def test_a_stream_ends_with_its_environment(tenancy: Tenancy, url: str, tmp_path: Path, request: Any) -> None:
    """Its name is a variable, and nothing of another environment is read. There is no command that renames or deletes
    one, so it is renamed in the database."""
    if not url:
        pytest.skip("a store in memory has no database")
    async with data_sources(tenancy.store, **LIMITS) as sources:
        stream = await sources.stream(tenancy.group, "main", ROWS_WITHOUT_END)
        rename = "update environments set name = 'staging'"
        if url.startswith("sqlite"):
            with closing(sqlite3.connect(tmp_path / "store.db")) as connection, connection:
                connection.execute(rename)
        else:
            request.getfixturevalue("postgres").execute(rename, url=url)
        await ended(sources)
        with pytest.raises(QueryOutdated):
            await anext(stream)


ENDS: dict[str, tuple[Change, type[InvalidToken]]] = {
    "the group has ended": (
        lambda it: it.change(expires_at=datetime.now(UTC) + timedelta(seconds=1)),
        UserGroupExpired,
    ),
    "the group is suspended": (lambda it: it.change(suspended=True), UserGroupSuspended),
}


@pytest.mark.parametrize(("change", "error"), ENDS.values(), ids=ENDS)
async def test_a_stream_ends_with_the_access_of_its_group(
    tenancy: Tenancy, change: Change, error: type[InvalidToken]
) -> None:
    """With the error of the group's next request: to run it again would not help. Red when this is QueryOutdated."""
    async with data_sources(tenancy.store, **LIMITS) as sources:
        stream = await sources.stream(tenancy.group, "main", ROWS_WITHOUT_END)
        await anext(stream)
        await change(tenancy)
        await ended(sources, error.code)
        with pytest.raises(error):
            await anext(stream)
        assert not len(sources.query_watch), "nothing is checked any more"


async def test_a_query_ends_with_its_group_though_the_store_is_down(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was read last says when it ends. Red when StoreUnavailable or QueryOutdated is raised."""
    monkeypatch.setattr(source_lookup, "STALENESS", 0.5)
    own = await make_tenancy(MemoryStore(), tmp_path)
    monkeypatch.setattr(own.store.groups, "get", _unavailable)
    asking = replace(own.group, expires_at=datetime.now(UTC))
    async with data_sources(own.store, **LIMITS) as sources, asyncio.timeout(SOON):
        with pytest.raises(UserGroupExpired):
            await sources.query(asking, "main", NO_ROW)


async def _unavailable(**_: object) -> None:
    raise StoreUnavailable("down")


GOES_ON: dict[str, Change] = {
    "nothing changes": lambda it: asyncio.sleep(0),
    "the end date is moved": lambda it: it.change(expires_at=datetime.now(UTC) + timedelta(days=1)),
    "the old token has its grace": lambda it: it.rotate(3600),
    "the environment has a grace": lambda it: it.store.environments.set_grace(it.environment, 60),
    "another source is deleted": lambda it: it.store.sources.delete(it.environment, "own_2"),
}


@pytest.mark.parametrize("change", GOES_ON.values(), ids=GOES_ON)
async def test_a_stream_goes_on(tenancy: Tenancy, change: Change, monkeypatch: pytest.MonkeyPatch) -> None:
    """Through many checks. Red when revisions are compared alone, or registrations with their environment."""
    monkeypatch.setattr(source_lookup, "STALENESS", 0.5)
    if not isinstance(tenancy.store, MemoryStore):
        monkeypatch.setattr(source_lookup, "STALENESS", 10.0)
    async with data_sources(tenancy.store, **LIMITS) as sources:
        stream = await sources.stream(tenancy.group, "main", ROWS_WITHOUT_END)
        await change(tenancy)
        (watched,) = sources.query_watch._watched
        certain, checks = watched.certain_until, 0
        async with asyncio.timeout(SOON):
            while checks < 2:
                await asyncio.sleep(0.2)
                await anext(stream)
                if watched.certain_until != certain:
                    certain, checks = watched.certain_until, checks + 1
        await stream.aclose()
        assert not len(sources.query_watch)
