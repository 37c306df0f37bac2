"""Creates or alters a store's tables with alembic, in one transaction. Concurrent migrations wait for each other.

The column ``generation.compatible`` lists the revisions that can use the tables, so that an older release can still run
after a migration (docs/decisions/0076-two-versions.md).
"""

from __future__ import annotations

import asyncio
import sqlite3
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path
from typing import Final, TypeVar

from sqlalchemy import Connection, create_engine, event, inspect, text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import NullPool, StaticPool

from tenantry.database.address import RUN_MIGRATE, PostgresServer, SQLiteFile, load_psycopg, read_address
from tenantry.database.own_tables import TABLES
from tenantry.database.tables.new_store import create_tables
from tenantry.errors import InvalidSettings, MigrationNeeded, StoreUnavailable

T = TypeVar("T")

__all__ = ["HEAD", "check", "is_compatible", "migrate"]

HEAD: Final = "0015"
"""The revision of the tables that this version of Tenantry needs."""

OLDEST: Final = "0015"
"""Releases whose HEAD is this revision or a later one can use the tables of this version. If a new migration breaks
older releases, set OLDEST to the revision of that migration: see CONTRIBUTING.md, "Change the store's tables"."""

_one_thread = threading.Lock()  # one migration at a time: alembic keeps its context in a module

_LOCK_SECONDS = 60
_TRIED_SECONDS = 0.3  # below PostgreSQL's deadlock_timeout, by default 1 s
_PAUSE_SECONDS = 1.0
_LOCK_TIMEOUT = f"set local lock_timeout = '{_LOCK_SECONDS}s'"
_OTHERS_HAVE_LOCKS = ("55P03", "40P01")  # lock_not_available, deadlock_detected
_VISIBLE = "select relname from pg_class where relkind in ('r', 'p') and pg_table_is_visible(oid)"
_ADVISORY_LOCK = 0x74656E616E747279  # "tenantry" in ASCII, read as a number


def migrate(url: str) -> None:
    """Create the store's tables, or upgrade them to the revision HEAD. A missing SQLite file is created. Raises
    StoreUnavailable if the database cannot be used, and InvalidSettings if the URL is invalid, the file's folder
    does not exist or a package is missing."""
    address = read_address(url)
    if find_spec("alembic") is None:  # without importing it, which takes a tenth of a start
        raise InvalidSettings("migrations need alembic: pip install 'tenantry[server]'")
    if isinstance(address, SQLiteFile):
        address.create()
    with _one_thread:
        _run(address, lambda connection: _upgrade(connection, address.label), begin="begin immediate")


def check(url: str) -> None:
    """Raise MigrationNeeded if this version of Tenantry cannot use the tables, or the SQLite file is missing. Raises
    StoreUnavailable if the database cannot be used, and InvalidSettings for an invalid URL or a missing driver."""
    address = read_address(url)
    found = _run(address, _usable, begin="begin")
    if found is not None:
        raise MigrationNeeded(f"the {address.label} is at revision {found}, this version needs {HEAD}: {RUN_MIGRATE}")


def is_compatible(found: str | None, listed: str | None) -> bool:
    """Whether this version of Tenantry can use tables of the revision ``found``. ``listed``: the ``HEAD`` of each
    compatible version, oldest first, separated by spaces. If ``listed`` does not end with ``found``, it is outdated and
    ignored."""
    revisions = (listed or "").split()
    return found == HEAD or (HEAD in revisions and revisions[-1] == found)


def _usable(connection: Connection) -> str | None:
    found = _read_revision(connection)
    if found == HEAD or (found and _has_list(connection) and is_compatible(found, _read_list(connection))):
        return None
    return found or "none"


def _read_revision(connection: Connection) -> str | None:
    if not inspect(connection).has_table("alembic_version"):
        return None
    return ", ".join(connection.execute(text("select version_num from alembic_version")).scalars()) or None


def _upgrade(connection: Connection, label: str) -> None:
    if _usable(connection) is None:
        return
    from alembic import command
    from alembic.config import Config
    from alembic.script import ScriptDirectory
    from alembic.util import CommandError

    configuration = Config()
    configuration.set_main_option("script_location", str(Path(__file__).parent).replace("%", "%%"))
    configuration.attributes["connection"] = connection
    scripts = ScriptDirectory.from_config(configuration)
    try:
        found = _read_revision(connection)
        if found is None:
            create_tables(connection)
            command.stamp(configuration, "head")
        else:
            scripts.get_revision(found)  # raises for a revision of another version, before anything is locked
            if connection.dialect.name == "postgresql":
                _lock_tables(connection)
            command.upgrade(configuration, "head")
    except CommandError as error:
        raise StoreUnavailable(
            f"the {label} was migrated by another version of Tenantry, to a revision that this version does not "
            f"know: {error}. Use that version or a later one. If the revision is 0014 or lower, the store is from "
            "before the first release and cannot be migrated: create a new one"
        ) from error
    steps = scripts.iterate_revisions(HEAD, OLDEST, inclusive=True)
    listed = " ".join(reversed([step.revision for step in steps]))
    connection.execute(text("update generation set compatible = :listed"), {"listed": listed})


def _lock_tables(connection: Connection, seconds: float = _LOCK_SECONDS) -> None:
    # A migration that locked one table at a time could deadlock with running processes. If it waited for a lock, for
    # example during a dump, running processes would queue behind it. So between two attempts, no lock is held.
    there = set(connection.execute(text(_VISIBLE)).scalars())
    tables = [table for table in TABLES if table in there]
    end = time.monotonic() + seconds
    while not _try_to_lock(connection, tables, end):
        time.sleep(_PAUSE_SECONDS)
    connection.execute(text(_LOCK_TIMEOUT))


def _try_to_lock(connection: Connection, tables: list[str], end: float) -> bool:
    tried_until = time.monotonic() + _TRIED_SECONDS
    try:
        with connection.begin_nested():  # an error rolls back to here and releases the locks
            for table in tables:  # lock_timeout applies to each lock, so set it to the time left for all of them
                left = max(1, round((tried_until - time.monotonic()) * 1000))
                connection.execute(text(f"set local lock_timeout = {left}"))
                connection.execute(text(f"lock table {table} in access exclusive mode"))
    except DBAPIError as error:
        if getattr(error.orig, "sqlstate", None) not in _OTHERS_HAVE_LOCKS or time.monotonic() > end:
            raise
        return False
    return True


def _has_list(connection: Connection) -> bool:
    tables = inspect(connection)
    return tables.has_table("generation") and any(it["name"] == "compatible" for it in tables.get_columns("generation"))


def _read_list(connection: Connection) -> str | None:
    return connection.execute(text("select compatible from generation")).scalar()


def _run(address: SQLiteFile | PostgresServer, work: Callable[[Connection], T], *, begin: str) -> T:
    try:
        if isinstance(address, SQLiteFile):
            return _on_sqlite(address, work, begin)
        with ThreadPoolExecutor(1, "tenantry-migrate") as thread:  # works under a running event loop too
            return thread.submit(asyncio.run, _on_postgres(address, work)).result()
    except (DBAPIError, sqlite3.Error, OSError) as error:
        cause = error.orig if isinstance(error, DBAPIError) else error
        reason = str(cause) or "it does not answer"  # a TimeoutError has no text
        raise StoreUnavailable(f"the {address.label} cannot be checked or migrated: {reason}") from error


def _on_sqlite(file: SQLiteFile, work: Callable[[Connection], T], begin: str) -> T:
    raw = file.connect(timeout=_LOCK_SECONDS)
    try:
        raw.execute("pragma journal_mode = wal").close()
        raw.execute("pragma synchronous = full")
        engine = create_engine("sqlite://", creator=lambda: raw, poolclass=StaticPool)
        event.listen(engine, "begin", lambda connection: connection.exec_driver_sql(begin))
        try:
            with engine.begin() as connection:
                return work(connection)
        finally:
            engine.dispose()
    finally:
        raw.close()


async def _on_postgres(server: PostgresServer, work: Callable[[Connection], T]) -> T:
    driver = load_psycopg()
    from tenantry.database.postgres import SET_IN_TRANSACTION, write_engine

    engine = write_engine(lambda: server.connect(seconds=_LOCK_SECONDS, transactions=True), poolclass=NullPool)
    try:
        async with engine.begin() as connection:
            await connection.execute(text(SET_IN_TRANSACTION))
            await connection.execute(text(_LOCK_TIMEOUT))
            await connection.execute(text("select pg_advisory_xact_lock(:number)"), {"number": _ADVISORY_LOCK})
            return await connection.run_sync(work)
    except driver.Error as error:
        raise StoreUnavailable(f"the {server.label} cannot be checked or migrated: {error}") from error
    finally:
        await engine.dispose()
