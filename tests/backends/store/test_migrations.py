"""Migrations give exactly the tables that the code names, once, also when two processes run them."""

from __future__ import annotations

import asyncio
import sqlite3
import subprocess
import sys
import traceback
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

import pytest
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from psycopg.conninfo import conninfo_to_dict
from sqlalchemy import Connection, create_engine

import tenantry.database.migrations
from engines.postgres import Postgres
from engines.warm_python import Popen
from tenantry.backends.sql import SQLStore
from tenantry.database.address import PostgresServer, read_address
from tenantry.database.migrations import HEAD, check, migrate
from tenantry.database.tables import metadata
from tenantry.errors import InvalidSettings, MigrationNeeded, StoreUnavailable
from tenantry.groups import Tag

pytestmark = pytest.mark.slow


def _differences(connection: Connection) -> list[object]:
    context = MigrationContext.configure(connection, opts={"compare_type": True, "compare_server_default": True})
    return list(compare_metadata(context, metadata))


def test_a_store_of_the_first_release_gets_the_tables_of_the_code(tmp_path: Path, sqlite_url: str) -> None:
    """By the steps, and the triggers and indexes of a new store. Red when database/tables gets something without a
    step."""
    old = tmp_path / "old.db"
    with closing(sqlite3.connect(old)) as connection:
        connection.executescript(Path(__file__).with_name("revision_0015.sql").read_text("utf-8"))
    migrate(f"sqlite:///{old}")
    engine = create_engine(f"sqlite:///{old}")
    with engine.connect() as connection:
        assert _differences(connection) == []
    engine.dispose()
    assert _contents(old) == _contents(Path(sqlite_url.removeprefix("sqlite:///")))


def _contents(file: Path) -> list[tuple[str, str, str]]:
    """The names of tables and indexes, and the whole triggers."""
    with closing(sqlite3.connect(file)) as connection:
        found = connection.execute("select type, name, sql from sqlite_master order by 1, 2").fetchall()
    return [(kind, name, " ".join(sql.split()) if kind == "trigger" else "") for kind, name, sql in found]


def test_head_is_the_last_step() -> None:
    """HEAD names the newest step, and the steps form one line."""
    configuration = Config()
    configuration.set_main_option("script_location", str(Path(tenantry.database.migrations.__file__).parent))
    assert ScriptDirectory.from_config(configuration).get_heads() == [HEAD]


async def test_migrating_twice_keeps_everything(url: str) -> None:
    """A second run changes nothing, also below a running event loop; the store is ready."""
    store = SQLStore(url)
    production = await store.environments.create("production", Tag.CUSTOMER)
    migrate(url)
    check(url)
    await store.ready()
    assert await store.environments.get("production") == production
    await store.aclose()


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_two_processes_may_migrate_at_once(kind: str, tmp_path: Path, postgres: Postgres) -> None:
    """Three processes that migrate one empty database at the same time all succeed. Red without the lock."""
    url = f"sqlite:///{tmp_path}/new.db" if kind == "sqlite" else postgres.create_database()
    code = "import sys; from tenantry.database.migrations import migrate; sys.stdin.readline(); migrate(sys.argv[1])"
    workers = [
        Popen([sys.executable, "-c", code, url], stdin=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(3)
    ]
    for worker in workers:
        assert worker.stdin is not None
        worker.stdin.write(b"go\n")
        worker.stdin.flush()
    results = [(worker.communicate()[1], worker.returncode) for worker in workers]
    assert [code for _, code in results] == [0, 0, 0], results
    check(url)


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
async def test_an_empty_database_asks_for_migration(kind: str, tmp_path: Path, postgres: Postgres) -> None:
    """Every kind of call on a database without tables names the command that repairs it."""
    (tmp_path / "empty.db").touch()
    url = f"sqlite:///{tmp_path}/empty.db" if kind == "sqlite" else postgres.create_database()
    store = SQLStore(url)
    for call in (
        store.ready(),
        store.environments.list(),
        store.api_tokens.get(b"x" * 32),
        store.environments.create("production", Tag.CUSTOMER),
    ):
        with pytest.raises(MigrationNeeded, match="tenantry migrate"):
            await call
    with pytest.raises(MigrationNeeded, match="tenantry migrate"):
        check(url)
    await store.aclose()


async def test_an_older_database_is_not_ready(sqlite_url: str) -> None:
    """A database at another revision is refused by ready() and check(), which name both revisions."""
    engine = create_engine(sqlite_url)
    with engine.begin() as connection:
        connection.exec_driver_sql("update alembic_version set version_num = '0000'")
    engine.dispose()
    store = SQLStore(sqlite_url)
    with pytest.raises(MigrationNeeded, match=f"0000.*{HEAD}"):
        await store.ready()
    await store.aclose()
    with pytest.raises(MigrationNeeded, match="0000"):
        check(sqlite_url)


async def test_a_missing_file_is_never_made_by_looking(tmp_path: Path) -> None:
    """Reads, writes and checks of a file that is not there ask for migration and leave the folder empty."""
    store = SQLStore(f"sqlite:///{tmp_path}/none.db")
    for call in (store.ready(), store.environments.list(), store.environments.create("production", Tag.CUSTOMER)):
        with pytest.raises(MigrationNeeded, match=r"none\.db.*tenantry migrate"):
            await call
    with pytest.raises(MigrationNeeded):
        await asyncio.to_thread(check, f"sqlite:///{tmp_path}/none.db")
    await store.aclose()
    assert list(tmp_path.iterdir()) == []


async def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    """Neither the store nor migrate makes a folder; both name the missing one."""
    url = f"sqlite:///{tmp_path}/no/store.db"
    store = SQLStore(url)
    with pytest.raises(StoreUnavailable, match=r"folder .*/no "):
        await store.environments.list()
    await store.aclose()
    with pytest.raises(InvalidSettings, match=r"folder .*/no "):
        migrate(url)
    assert list(tmp_path.iterdir()) == []


def test_a_new_file_is_for_its_owner_alone(sqlite_url: str) -> None:
    """Data source URLs with passwords are in it, so nobody else may read it."""
    assert Path(sqlite_url.removeprefix("sqlite:///")).stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    "url", ["", "store.db", "mysql://u:s3cret@h/d", "sqlite://", "sqlite:///:memory:", "sqlite:///a.db?mode=ro"]
)
def test_a_url_of_another_kind_is_refused(url: str) -> None:
    """The message says what is wanted and does not repeat the URL, which may hold a password."""
    with pytest.raises(InvalidSettings, match=r"sqlite:///file\.db") as caught:
        SQLStore(url)
    assert "s3cret" not in str(caught.value)


@pytest.mark.parametrize(
    "url", ["postgresql://u:p@s3:cret@h/d", "postgresql://u:x@h:s3cret/d", "postgresql://u:x@[::s3cret/d"]
)
def test_a_port_that_is_none_is_not_shown(url: str) -> None:
    """A password with an unescaped ``@`` is read as a port: the error names the mend and shows nothing, nor its cause.

    Red when only ArgumentError is caught: int() printed what it had been given.
    """
    with pytest.raises(InvalidSettings, match="%-escapes") as caught:
        SQLStore(url)
    text = "".join(traceback.format_exception(caught.value))
    assert "cret" not in text.replace(url, "")


async def test_an_unknown_option_of_the_url_is_named(postgres_url: str) -> None:
    """An option that the driver refuses is a wrong setting, for reads, writes and migrations alike.

    Red when the driver's own error comes through: for a write it became "does not answer: try again".
    """
    store = SQLStore(f"{postgres_url}?sslmode=bogus")
    for call in (store.environments.list(), store.environments.create("production", Tag.CUSTOMER)):
        with pytest.raises(InvalidSettings, match="sslmode"):
            await call
    with pytest.raises(InvalidSettings, match="sslmode"):
        migrate(f"{postgres_url}?sslmode=bogus")
    await store.aclose()


async def test_a_space_in_an_option_of_the_url(postgres_url: str) -> None:
    """It reaches the server, as does a plus. Red when SQLAlchemy's ``+`` for a space is passed on: libpq takes it for a
    plus, and no connection was made."""
    name = "name with spaces + plus"
    store = SQLStore(f"{postgres_url}?application_name={quote(name)}&options=-c%20work_mem%3D5MB")
    await store.environments.list()
    sent = read_address(f"{postgres_url}?application_name={quote(name)}")
    assert isinstance(sent, PostgresServer)
    assert conninfo_to_dict(sent.dsn)["application_name"] == name
    await store.aclose()


@pytest.mark.parametrize("revision", ["9999", "0014"])
def test_a_database_of_another_version_is_left_alone(sqlite_url: str, revision: str) -> None:
    """Migrating a database of a newer Tenantry, or of one from before the first release, is refused with the reason.

    Red when alembic's own CommandError comes through."""
    engine = create_engine(sqlite_url)
    with engine.begin() as connection:
        connection.exec_driver_sql(f"update alembic_version set version_num = '{revision}'")
    engine.dispose()
    with pytest.raises(StoreUnavailable, match=rf"another version of Tenantry.*{revision}.*0014 or lower"):
        migrate(sqlite_url)


@pytest.mark.parametrize("module", ["psycopg", "alembic"])
def test_a_missing_package_is_named_with_its_extra(module: str) -> None:
    """Without the driver, or without alembic, the error names what to install. Red when SQLAlchemy imports it first."""
    code = f"""
import sys
sys.modules["{module}"] = None
from tenantry.backends.sql import SQLStore
from tenantry.errors import InvalidSettings
from tenantry.database.migrations import migrate
for verb in (migrate, SQLStore):
    try:
        verb("postgresql://u@h/d")
    except InvalidSettings as error:
        print(error.message)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    extra, lines = {"psycopg": ("postgres", 2), "alembic": ("server", 1)}[module]
    assert [f"tenantry[{extra}]" in line for line in done.stdout.splitlines()] == [True] * lines


def test_a_password_is_not_shown() -> None:
    """Neither repr nor label of a store holds the password of its URL."""
    store = SQLStore("postgresql://me:s3cret@db.example/tenantry")
    assert "s3cret" not in repr(store) + store.label + repr(vars(store))
    assert "db.example" in repr(store)
