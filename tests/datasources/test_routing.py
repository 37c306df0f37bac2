"""A query runs on the one source that the group's mapping names, or not at all."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from inspect import signature
from pathlib import Path

import pytest

from tenantry.datasources import DataSources
from tenantry.errors import InvalidSettings, SourceUnavailable, UnmappedSchema, UnregisteredSource
from tenantry.groups import Environment, RegisteredSource, SourceDraft, Tag, extend, thaw
from tenantry.testing import MemoryStore
from tests.datasources.conftest import PRODUCTION, STAGING, Directory, duckdb_file, group, sqlite_file
from tests.datasources.settings import data_sources

OWNERS = "select distinct owner from orders"


async def test_each_group_reads_its_own_source(directory: Directory, open_sources, tmp_path: Path) -> None:
    """The same SQL and schema give each group the rows of its own source, on two engines, by either id."""
    directory.add(1, sqlite_file(tmp_path / "a.db", "acme"))
    directory.add(2, duckdb_file(tmp_path / "b.duckdb", "globex"))
    sources = open_sources()
    for reference in ("ds_1", "own_1"):
        assert await sources.fetch(group("acme", main=reference), "main", OWNERS, {}) == [{"owner": "acme"}]
    for reference in ("ds_2", "own_2"):
        assert await sources.fetch(group("globex", main=reference), "main", OWNERS, {}) == [{"owner": "globex"}]
    assert await sources.dialect(group(main="ds_1"), "main") == "sqlite"
    assert await sources.dialect(group(main="ds_2"), "main") == "duckdb"


async def test_a_store_is_a_directory(tmp_path: Path) -> None:
    """Any Store serves as the directory; two environments may give their sources the same name."""
    store = MemoryStore()
    async with DataSources(store) as sources:
        for name, tag in (("production", Tag.CUSTOMER), ("staging", Tag.TESTING)):
            environment = await store.environments.create(name, tag)
            url = sqlite_file(tmp_path / f"{name}.db", name)
            await store.sources.create(environment, f"ds_{name}", SourceDraft("warehouse", url))
            asking = group(environment=environment, main="warehouse", foreign="ds_production")
            assert await sources.fetch(asking, "main", OWNERS, {}) == [{"owner": name}]
        with pytest.raises(UnregisteredSource):
            await sources.fetch(asking, "foreign", OWNERS, {})
    await store.aclose()


async def test_concurrent_groups_never_meet(directory: Directory, open_sources, tmp_path: Path) -> None:
    """200 queries at once over 4 sources: every row is of the source that the asking group is mapped to.

    Red when the pools were keyed by the schema instead of the source.
    """
    for number in range(4):
        make = sqlite_file if number % 2 else duckdb_file
        directory.add(number, make(tmp_path / f"{number}.db", f"owner{number}"))
    sources = open_sources(pool_size=2, connect_timeout=30)

    async def ask(number: int, turn: int) -> None:
        asking = group(f"g{number}", main=f"ds_{number}")
        sql = f"select owner, {{{{ region }}}} as region from orders limit 1 -- {turn}"
        rows = await sources.fetch(asking, "main", sql)
        assert rows == [{"owner": f"owner{number}", "region": f"g{number}"}]

    await asyncio.gather(*(ask(turn % 4, turn) for turn in range(200)))


@pytest.mark.parametrize(
    "asking",
    [group(), group(other="ds_1"), group(main=None), group(main=""), group(main=7)],
    ids=["no mapping", "other schema", "null", "empty", "number"],
)
async def test_no_mapping_is_an_error(asking, directory: Directory, open_sources, tmp_path: Path) -> None:
    """Without an entry for the schema there is no query, though the environment has exactly one source.

    Red when a missing entry fell back to the only source.
    """
    directory.add(1, sqlite_file(tmp_path / "a.db", "acme"))
    with pytest.raises(UnmappedSchema, match="'main'"):
        await open_sources().fetch(asking, "main", OWNERS, {})
    assert directory.asked == 0


async def test_a_mapping_to_nothing_is_an_error(directory: Directory, open_sources) -> None:
    """A mapping that names an id which the environment does not have is UnregisteredSource."""
    with pytest.raises(UnregisteredSource):
        await open_sources().fetch(group(main="ds_9"), "main", OWNERS, {})


async def test_a_removed_source_is_not_used_again(directory: Directory, open_sources, tmp_path: Path) -> None:
    """A directory without a lease is asked for every query: an open pool does not outlive its registration."""
    directory.add(1, sqlite_file(tmp_path / "a.db", "acme"))
    sources = open_sources()
    await sources.fetch(group(main="ds_1"), "main", OWNERS, {})
    directory.registered.clear()
    with pytest.raises(UnregisteredSource):
        await sources.fetch(group(main="ds_1"), "main", OWNERS, {})


class Poisoned:
    """A directory that answers every question with one source."""

    def __init__(self, source: RegisteredSource) -> None:
        self._source = source
        self.sources = self

    async def get(self, environment: Environment, reference: str) -> RegisteredSource | None:
        return self._source


@pytest.mark.parametrize(
    "foreign",
    [PRODUCTION, replace(STAGING, tag=Tag.CUSTOMER), replace(STAGING, id=3), replace(STAGING, name="other")],
    ids=["another environment", "its tag", "its id", "its name"],
)
async def test_environments_stay_apart_with_a_poisoned_directory(foreign: Environment, tmp_path: Path) -> None:
    """A Testing group never reaches a source of another environment, even if the directory returns one.

    Red when ``SourceLookup`` does not compare the environments (``is_same``).
    """
    source = RegisteredSource("ds_1", "own_1", foreign, sqlite_file(tmp_path / "a.db", "customer"))
    async with DataSources(Poisoned(source)) as sources:
        with pytest.raises(UnregisteredSource):
            await sources.fetch(group(environment=STAGING, main="ds_1"), "main", OWNERS, {})


async def test_another_source_than_asked_is_refused(tmp_path: Path) -> None:
    """A directory that answers with a source of another id is not believed."""
    source = RegisteredSource("ds_2", "own_2", PRODUCTION, sqlite_file(tmp_path / "a.db", "globex"))
    async with DataSources(Poisoned(source)) as sources:
        with pytest.raises(UnregisteredSource):
            await sources.fetch(group(main="ds_1"), "main", OWNERS, {})


async def test_variables_of_another_group_are_refused(directory: Directory, open_sources, tmp_path: Path) -> None:
    """One group's values never choose rows of another group's source."""
    directory.add(1, sqlite_file(tmp_path / "a.db", "acme"))
    with pytest.raises(ValueError, match="another user group"):
        await open_sources().fetch(group("acme", main="ds_1"), "main", OWNERS, group("globex").variables)


async def test_variables_of_the_same_group_read_again_are_taken(
    directory: Directory, open_sources, tmp_path: Path
) -> None:
    """Its own, extended, or a copy as JSON. Red when the owner is compared by identity alone."""
    directory.add(1, sqlite_file(tmp_path / "a.db", "acme"))
    asking, sources = group("acme", main="ds_1"), open_sources()
    again = group("acme", main="ds_1").variables
    for variables in (asking.variables, extend(asking.variables, "params", {"a": "1"}), again, thaw(again)):
        assert await sources.fetch(asking, "main", OWNERS, variables) == [{"owner": "acme"}]


@pytest.mark.parametrize("owner", [None, "acme", {}, {"id": "acme"}, {"id": "acme", "environment": "staging"}])
async def test_variables_without_their_owner_are_refused(
    owner: object, directory: Directory, open_sources, tmp_path: Path
) -> None:
    """A ``user_group`` that does not name this group and its environment is another one's."""
    directory.add(1, sqlite_file(tmp_path / "a.db", "acme"))
    with pytest.raises(ValueError, match="another user group"):
        await open_sources().fetch(group("acme", main="ds_1"), "main", OWNERS, {"user_group": owner})


async def test_a_moved_source_is_opened_anew(directory: Directory, open_sources, tmp_path: Path) -> None:
    """When the URL of a source changes, the next query runs on the new one."""
    directory.add(1, sqlite_file(tmp_path / "a.db", "old"))
    sources = open_sources()
    assert await sources.fetch(group(main="ds_1"), "main", OWNERS, {}) == [{"owner": "old"}]
    directory.registered.clear()
    directory.add(1, sqlite_file(tmp_path / "b.db", "new"))
    assert await sources.fetch(group(main="ds_1"), "main", OWNERS, {}) == [{"owner": "new"}]


async def test_open_sources_are_bounded(directory: Directory, open_sources, tmp_path: Path) -> None:
    """Of more sources than ``max_sources`` the least recently used idle one is closed; none is closed while in use."""
    for number in range(4):
        directory.add(number, sqlite_file(tmp_path / f"{number}.db", f"owner{number}"))
    sources = open_sources(max_sources=2, timeout=120)
    for number in (0, 1, 2, 3, 0):
        rows = await sources.fetch(group(main=f"ds_{number}"), "main", OWNERS, {})
        assert rows == [{"owner": f"owner{number}"}]
        assert len(sources._open_sources._open) <= 2
    endless = "with recursive n(i) as (select 1 union all select i + 1 from n) select max(i) from n"
    slow = [asyncio.create_task(sources.fetch(group(main=f"ds_{number}"), "main", endless, {})) for number in (0, 1)]
    async with asyncio.timeout(120):
        while sum(pool.users for pool in sources._open_sources._open.values()) < 2:
            await asyncio.sleep(0.01)
    with pytest.raises(SourceUnavailable, match="all 2 data sources that max_sources allows are in use"):
        await sources.fetch(group(main="ds_2"), "main", OWNERS, {})
    for each in slow:
        each.cancel()
    await asyncio.gather(*slow, return_exceptions=True)


@pytest.mark.parametrize("name", ["timeout", "row_limit", "pool_size", "connect_timeout", "max_sources"])
@pytest.mark.parametrize("value", [0, -1, True, "5", float("nan")])
def test_a_bound_that_is_none_is_refused(name: str, value: object, directory: Directory) -> None:
    """Every limit is a number above 0: none of them can be switched off by mistake."""
    with pytest.raises(InvalidSettings, match=name):
        data_sources(directory, **{name: value})


def test_a_closed_event_loop_is_survived(directory: Directory, tmp_path: Path) -> None:
    """A test client runs each request in a loop of its own: the sources open anew in the next loop."""
    directory.add(1, sqlite_file(tmp_path / "a.db", "acme"))
    directory.add(2, duckdb_file(tmp_path / "b.duckdb", "acme"))
    sources = DataSources(directory)
    for reference in ("ds_1", "ds_2", "ds_1", "ds_2"):
        rows = asyncio.run(sources.fetch(group(main=reference), "main", OWNERS, {}))
        assert rows == [{"owner": "acme"}]
    asyncio.run(sources.aclose())


@pytest.mark.parametrize("name", ["timeout", "pool_size", "weight", "slow_seconds", "usage"])
def test_settings_are_in_their_dataclasses(name: str, directory: Directory) -> None:
    """Six arguments: the directory, limits, a cache, engines, monitoring and keys. Red when a setting becomes one."""
    assert len(signature(DataSources).parameters) <= 6
    with pytest.raises(TypeError, match=name):
        DataSources(directory, **{name: None})
