"""Two customers with two files each of their own, and a directory that can also be made to lie."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator, Callable
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import duckdb
import pytest

from tenantry.datasources import DataSources
from tenantry.groups import Environment, RegisteredSource, Tag, UserGroup
from tenantry.ports import SourceDirectory
from tests.datasources.settings import data_sources

PRODUCTION = Environment(1, "production", Tag.CUSTOMER)
STAGING = Environment(2, "staging", Tag.TESTING)


class Directory:
    """A SourceDirectory in a list, which is its own ``sources`` as those of a store are."""

    def __init__(self) -> None:
        self.registered: list[RegisteredSource] = []
        self.asked = 0

    def add(self, number: int, url: str, *, environment: Environment = PRODUCTION, **fields: Any) -> RegisteredSource:
        source = RegisteredSource(f"ds_{number}", f"own_{number}", environment, url, **fields)
        self.registered.append(source)
        return source

    @property
    def sources(self) -> SourceDirectory:
        return self

    async def get(self, environment: Environment, reference: str) -> RegisteredSource | None:
        self.asked += 1
        for source in self.registered:
            if source.environment.id == environment.id and reference in {source.id, source.provided_id}:
                return source
        return None


def group(name: str = "acme", *, environment: Environment = PRODUCTION, **mapping: Any) -> UserGroup:
    """A group whose schemas are mapped as the keyword arguments say; without any, it has no mapping at all."""
    return UserGroup(
        team_id=1,
        provided_id=name,
        name=name,
        environment=environment,
        properties={"region": name},
        mapping=mapping or None,
        handle=b"12345678",
        token_version=1,
        revision=1,
    )


def sqlite_file(path: Path, owner: str, rows: int = 3) -> str:
    connection = sqlite3.connect(path)
    connection.execute("create table orders (id integer, owner text, region text)")
    connection.executemany("insert into orders values (?, ?, 'eu')", [(number, owner) for number in range(rows)])
    connection.commit()
    connection.close()
    return f"sqlite:///{path}"


def duckdb_file(path: Path, owner: str, rows: int = 3) -> str:
    path.write_bytes(_duckdb_file(owner, rows))
    return f"duckdb:///{path}"


@cache  # DuckDB takes 20 ms of the processor to make one
def _duckdb_file(owner: str, rows: int) -> bytes:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "made.duckdb"
        with duckdb.connect(str(path)) as connection:
            connection.execute("create table orders (id integer, owner text, region text)")
            connection.executemany("insert into orders values (?, ?, 'eu')", [[each, owner] for each in range(rows)])
            connection.execute("create sequence numbers")
        return path.read_bytes()


@pytest.fixture
def directory() -> Directory:
    return Directory()


@pytest.fixture
async def open_sources(directory: Directory) -> AsyncIterator[Callable[..., DataSources]]:
    """Makes DataSources over ``directory`` and closes them after the test. Where a test says nothing of it, a busy
    machine has a minute to connect: the default for users is five seconds."""
    made: list[DataSources] = []

    def make(**limits: Any) -> DataSources:
        made.append(data_sources(directory, **{"connect_timeout": 60.0, **limits}))
        return made[-1]

    yield make
    for sources in made:
        await sources.aclose()


@pytest.fixture(params=("sqlite", "duckdb", "postgresql", "mariadb"))
def each_engine(request: pytest.FixtureRequest, tmp_path: Path, directory: Directory) -> str:
    """A source ``ds_1`` on each of four engines."""
    name: str = request.param
    if name == "sqlite":
        url = sqlite_file(tmp_path / "a.db", "acme")
    elif name == "duckdb":
        url = duckdb_file(tmp_path / "a.duckdb", "acme")
    elif name == "postgresql":
        url = request.getfixturevalue("postgres").create_database()
    else:
        url = f"mariadb://root@127.0.0.1:{request.getfixturevalue('mariadb').port}/mysql"
    directory.add(1, url)
    return name
