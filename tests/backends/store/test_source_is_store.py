"""A data source that would read the store itself is refused: when it is registered, and again when it is opened."""

from __future__ import annotations

import logging
import os
import secrets
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from engines.postgres import Postgres
from tenantry.backends.sql import SQLStore
from tenantry.datasources import DataSources
from tenantry.errors import InvalidSource
from tenantry.groups import Environment, RegisteredSource, SourceDraft, Tag
from tests.datasources.conftest import Directory, duckdb_file, group, sqlite_file


async def _register(store: SQLStore, url: str) -> RegisteredSource:
    found = await store.environments.get("production")
    environment: Environment = found or await store.environments.create("production", Tag.CUSTOMER)
    name = secrets.token_hex(4)
    return await store.sources.create(environment, f"ds_{name}", SourceDraft(name, url))


async def _read(url: str) -> list[dict[str, object]]:
    """What a source that was registered before there was a check gives, or one that was put there by other means."""
    directory = Directory()
    directory.add(1, url)
    async with DataSources(directory) as sources:
        return await sources.fetch(group(main="ds_1"), "main", "select 1 as one")


def _same(path: Path) -> str:
    return f"{path}"


def _symlink(path: Path) -> str:
    path.with_name("link.db").symlink_to(path)
    return f"{path.with_name('link.db')}"


def _hard_link(path: Path) -> str:
    os.link(path, path.with_name("hard.db"))
    return f"{path.with_name('hard.db')}"


def _roundabout(path: Path) -> str:
    return f"{path.parent}/../{path.parent.name}/./{path.name}"


def _relative(path: Path) -> str:
    return os.path.relpath(path)


def _copy(path: Path) -> str:
    with closing(sqlite3.connect(path)) as source, closing(sqlite3.connect(path.with_name("backup.db"))) as target:
        source.backup(target)
    return f"{path.with_name('backup.db')}"


def _moved(path: Path) -> str:
    shutil.copytree(path.parent, path.parent.with_name("elsewhere"))
    return f"{path.parent.with_name('elsewhere') / path.name}"


@pytest.mark.parametrize("spell", [_same, _symlink, _hard_link, _roundabout, _relative, _copy, _moved])
async def test_the_file_of_a_store_is_no_source(sqlite_url: str, spell: Callable[[Path], str]) -> None:
    """Red, when it is registered and when it is opened, when the check there is left out; with a comparison of paths
    the links are let pass, with one of device and inode the copies."""
    path = Path(sqlite_url.removeprefix("sqlite:///"))
    store = SQLStore(sqlite_url)
    url = f"sqlite:///{spell(path)}"
    with pytest.raises(InvalidSource, match="is a store of Tenantry") as caught:
        await _register(store, url)
    assert caught.value.field == "/url"
    with pytest.raises(InvalidSource, match="is a store of Tenantry"):
        await _read(url)
    await store.aclose()


@pytest.mark.parametrize("url", ["sqlite:///file:{}", "sqlite:///file:{}?mode=ro&uri=true", "duckdb:///{}"])
async def test_nor_under_another_kind_of_address(sqlite_url: str, url: str) -> None:
    """A ``file:`` address, and DuckDB, which can read SQLite's files. Red when only plain paths are looked at."""
    store, url = SQLStore(sqlite_url), url.format(sqlite_url.removeprefix("sqlite:///"))
    with pytest.raises(InvalidSource):
        await _register(store, url)
    with pytest.raises(InvalidSource):
        await _read(url)
    await store.aclose()


async def test_other_files_are_sources(url: str, tmp_path: Path) -> None:
    """One that has tables of the same names, one that is not there yet, and one of DuckDB."""
    other = tmp_path / "other.db"
    plain = sqlite_file(other, "acme")
    with closing(sqlite3.connect(other)) as connection, connection:
        connection.execute("create table user_groups (id integer, name text)")
        connection.execute("create table generation (year integer)")
    store = SQLStore(url)
    for good in (plain, duckdb_file(tmp_path / "a.duckdb", "acme")):
        await _register(store, good)
        assert await _read(good) == [{"one": 1}]
    await _register(store, f"sqlite:///{tmp_path}/missing.db")
    await store.aclose()


def _role(postgres: Postgres, url: str, *grants: str) -> str:
    """The URL for a new role with these rights, and its name."""
    name = f"r{secrets.token_hex(4)}"
    postgres.execute(f"create role {name} login", url=url)
    for grant in grants:
        postgres.execute(grant.format(name), url=url)
    return name


def _as(url: str, role: str) -> str:
    return url.replace("postgres@", f"{role}@", 1)


@pytest.mark.parametrize(
    ("grants", "remedy"),
    [
        (("grant select on user_groups to {}",), "revoke all on public.user_groups from {}, public"),
        (("grant select (name) on user_groups to {}",), "revoke all on public.user_groups from {}, public"),
        (
            ("grant select on all tables in schema public to {}",),
            "usage_by_hour, public.usage_by_viewer, public.usage_writers, public.user_groups from {}",
        ),
        (("grant pg_read_all_data to {}",), "a separate role"),
        (("alter role {} superuser",), "a separate role"),
        (("grant postgres to {}",), "a separate role"),
    ],
)
async def test_a_role_that_can_read_our_tables_is_refused(
    postgres_url: str, postgres: Postgres, grants: tuple[str, ...], remedy: str
) -> None:
    """Red, when it is registered and when it is opened, when the check there is left out."""
    role = _role(postgres, postgres_url, *grants)
    store = SQLStore(postgres_url)
    for refused in (_register(store, _as(postgres_url, role)), _read(_as(postgres_url, role))):
        with pytest.raises(InvalidSource) as caught:
            await refused
        assert remedy.format(role) in caught.value.message
        assert role in caught.value.message
    await store.aclose()


async def test_what_the_message_proposes_helps(postgres_url: str, postgres: Postgres) -> None:
    """App data and store in one database: after the statement of the message the same role is a source, and reads the
    app's table and not ours."""
    postgres.execute("create table orders (id int); insert into orders values (7)", url=postgres_url)
    role = _role(postgres, postgres_url, "grant select on all tables in schema public to {}")
    store, url = SQLStore(postgres_url), _as(postgres_url, role)
    with pytest.raises(InvalidSource) as caught:
        await _register(store, url)
    _, _, statement = caught.value.message.partition("As the owner of these tables, run: ")
    postgres.execute(statement.partition(". The store")[0], url=postgres_url)
    await _register(store, url)
    assert await _read(url) == [{"one": 1}]
    await store.aclose()


@pytest.mark.parametrize("inherits", ["inherit", "noinherit"])
async def test_what_another_role_reads_counts_for_its_members(
    postgres_url: str, postgres: Postgres, inherits: str
) -> None:
    """A query becomes such a role by ``select set_config('role', …)``, whether it inherits or not; and the statement
    in the message names the role that has the right. Red when only what is inherited is asked, and when the statement
    takes the right from the source's own role, which never had it."""
    team = _role(postgres, postgres_url, "grant select on all tables in schema public to {}")
    role = _role(postgres, postgres_url, f"alter role {{}} {inherits}", f"grant {team} to {{}}")
    store, url = SQLStore(postgres_url), _as(postgres_url, role)
    with pytest.raises(InvalidSource) as caught:
        await _register(store, url)
    _, _, statement = caught.value.message.partition("As the owner of these tables, run: ")
    assert team in statement
    postgres.execute(statement.partition(". The store")[0], url=postgres_url)
    await _register(store, url)
    await store.aclose()


async def test_a_server_out_of_reach_is_registered_with_a_warning(
    sqlite_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    """It may be reachable from where it is read only, where it is asked again. No part of the URL is in the log. Red
    when a change that is then refused says that the source is registered."""
    store = SQLStore(sqlite_url)
    with caplog.at_level(logging.WARNING):
        source = await _register(store, "postgresql://somebody:k3y-c4n4ry@127.0.0.1:1/app")
    assert f"data source {source.provided_id!r} can read Tenantry's own tables" in caplog.text
    assert "It checks again before it runs a query" in caplog.text
    # Red when the cause is the name of an exception.
    assert ": nothing listens on that port). It checks again" in caplog.text
    assert "registered" not in caplog.text
    assert "k3y-c4n4ry" not in caplog.text
    assert "somebody" not in caplog.text
    await store.aclose()
