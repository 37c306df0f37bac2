"""Two versions of Tenantry serve one store at the same time, as in a rolling upgrade: as processes, on both engines.

The later one is this checkout with one more step.
"""

from __future__ import annotations

import os
import signal
import sqlite3
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, closing, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest

from engines.postgres import Postgres
from engines.warm_python import run
from tenantry import Resolver, SigningKeys
from tenantry.backends.sql import SQLStore
from tenantry.database.migrations import HEAD, OLDEST, check, migrate
from tenantry.errors import InvalidToken, MigrationNeeded, StoreUnavailable
from tenantry.groups import Tag
from tenantry.provisioning import issue_api_token
from tenantry.tokens.keys import create_key_file
from tests.cli import serving as processes
from tests.cli.serving import Server, client
from tests.deploy.versions import NEXT, write_later

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def later(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the later version."""
    folder = tmp_path_factory.mktemp("later")
    write_later(folder)
    return folder


@pytest.fixture
def keys(tmp_path: Path) -> Path:
    """The key file that all of a test's processes use."""
    create_key_file(tmp_path / "tenantry.keys")
    return tmp_path / "tenantry.keys"


@pytest.fixture(params=["sqlite", "postgres"])
def database(request: pytest.FixtureRequest, tmp_path: Path, postgres: Postgres) -> str:
    """An empty one."""
    return f"sqlite:///{tmp_path}/store.db" if request.param == "sqlite" else postgres.create_database()


@dataclass
class Site:
    """A store with an environment, its API token, and a resolver of this version."""

    url: str
    store: SQLStore
    caller: str
    resolver: Resolver


@asynccontextmanager
async def opened(url: str, keys: Path) -> AsyncIterator[Site]:
    store = SQLStore(url)
    production = await store.environments.create("production", Tag.CUSTOMER)
    caller, _ = await issue_api_token(store.api_tokens, production)
    resolver = Resolver(store, keys=SigningKeys.from_file(keys), patience=60.0)
    yield Site(url, store, caller, resolver)
    await resolver.aclose()
    await store.aclose()


@contextmanager
def serving(url: str, keys: Path, code: Path | None = None) -> Iterator[Server]:
    """``tenantry serve`` of this version, or of the one in this folder."""
    folder = Path(tempfile.mkdtemp(dir=keys.parent))
    variables = {"TENANTRY_DATABASE": url, "TENANTRY_KEYS": str(keys)}
    with processes.serving(folder, variables=variables | ({"PYTHONPATH": str(code)} if code else {})) as server:
        yield server


def ask(server: Server, site: Site, method: str, **body: Any) -> str:
    """The group's token as the answer has it."""
    given: dict[str, Any] = {"params": body} if method == "DELETE" else {"json": body}
    with client(server, site.caller) as http:
        answer = http.request(method, "/api/user", **given)
    assert answer.status_code == 200, answer.text
    return str(answer.json()["user_group"].get("token"))


def status(server: Server) -> int:
    return int(httpx2.get(f"{server.url}/readyz", trust_env=False, timeout=60).status_code)


async def refused(resolver: Resolver, token: str) -> None:
    with pytest.raises(InvalidToken):
        await resolver.resolve(token)


async def exchange(site: Site, one: Server, other: Server) -> None:
    """Whatever one version writes the other one reads, and no cache keeps what was changed."""

    def call(server: Server, method: str, **body: Any) -> Any:
        return anyio.to_thread.run_sync(partial(ask, server, site, method, **body))

    for number, (writer, reader) in enumerate(((one, other), (other, one))):
        name = f"acme{number}"
        first = await call(writer, "GET", user_group_id=name)
        assert await call(reader, "GET", user_group_id=name) == first
        assert (await site.resolver.resolve(first)).provided_id == name
        await call(writer, "PUT", user_group_id=name, properties={"region": "eu"})
        assert (await site.resolver.resolve(first)).properties == {"region": "eu"}
        second = await call(reader, "POST", current_token=first)
        await refused(site.resolver, first)
        assert (await site.resolver.resolve(second)).properties == {"region": "eu"}
        await call(writer, "DELETE", user_group_id=name)
        await refused(site.resolver, second)


def listed_in(url: str, postgres: Postgres) -> str:
    """What the store says of compatible versions."""
    return execute(url, postgres, "select compatible from generation")


def execute(url: str, postgres: Postgres, statement: str) -> str:
    if url.startswith("postgresql"):
        return postgres.execute(statement, url=url).strip()
    with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as connection, connection:
        return " ".join(str(row[0]) for row in connection.execute(statement))


async def test_this_version_goes_on_beside_a_later_one(
    database: str, later: Path, keys: Path, postgres: Postgres
) -> None:
    """The later one migrates while this one serves. This one stays ready, reads and writes as before, is stopped and
    started again on the new tables; and what either writes is refused or known at once by the cache of this version.

    Red without the list of compatible versions: this version is not ready from the step on, and does not start again.
    """
    with serving(database, keys) as this:
        assert status(this) == 200
        async with opened(database, keys) as site:
            with serving(database, keys, later) as next_:
                assert execute(database, postgres, "select version_num from alembic_version") == NEXT
                assert status(this) == status(next_) == 200
                await exchange(site, this, next_)
                await anyio.to_thread.run_sync(this.ended, signal.SIGTERM)
                with serving(database, keys) as restarted:
                    assert status(restarted) == 200
                    await exchange(site, restarted, next_)
                await site.store.ready()
                await anyio.to_thread.run_sync(check, database)


async def test_a_later_version_may_say_that_this_one_has_to_end(
    database: str, later: Path, keys: Path, postgres: Postgres
) -> None:
    """Then it is not ready, does not start, and says so with both revisions. The tables are left as they are.

    Red when any later revision is taken for one that this version may use.
    """
    await anyio.to_thread.run_sync(migrate, database)
    assert listed_in(database, postgres).split()[-1] == HEAD
    assert listed_in(database, postgres).split()[0] == OLDEST
    command = [sys.executable, "-m", "tenantry", "migrate", "--database", database]
    run(command, check=True, capture_output=True, env={**os.environ, "PYTHONPATH": str(later)})
    assert listed_in(database, postgres).split()[-2:] == [HEAD, NEXT]
    store = SQLStore(database)
    await store.ready()
    for listed in (f"'{NEXT}'", "null", f"'{HEAD} 9002'"):  # of 9001 alone; of nothing; of other tables than these
        execute(database, postgres, f"update generation set compatible = {listed}")
        with pytest.raises(MigrationNeeded, match=f"at revision {NEXT}, this version needs {HEAD}"):
            await store.ready()
        with pytest.raises(MigrationNeeded, match=f"at revision {NEXT}, this version needs {HEAD}"):
            await anyio.to_thread.run_sync(check, database)
        with pytest.raises(StoreUnavailable, match="was migrated by another version"):
            await anyio.to_thread.run_sync(migrate, database)
    assert execute(database, postgres, "select version_num from alembic_version") == NEXT
    await store.aclose()
