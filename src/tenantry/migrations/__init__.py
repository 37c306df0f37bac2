"""Makes and alters the tables of a store's database, step by step, with alembic.

``migrate(url)`` brings a database to this version. Two processes may do it at once: one works, the other waits and then
finds nothing to do. A step that fails leaves nothing behind: each engine runs all of them in one transaction.
"""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

from sqlalchemy import Connection, create_engine, event, text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import NullPool, StaticPool

from tenantry.database.address import RUN_MIGRATE, PostgresServer, SQLiteFile, load_psycopg, read_address
from tenantry.errors import InvalidSettings, MigrationNeeded, StoreUnavailable

if TYPE_CHECKING:
    from alembic.config import Config

T = TypeVar("T")

__all__ = ["HEAD", "check", "migrate"]

HEAD: Final = "0007"
"""The revision that this version of Tenantry works with."""

_one_thread = threading.Lock()  # alembic stores what it works on in a module, one for all threads

_LOCK_SECONDS = 60
_ADVISORY_LOCK = 0x74656E616E747279  # "tenantry" in ASCII, read as a number


def migrate(url: str) -> None:
    """Brings the database at ``url`` to this version; makes an SQLite file that is not there. Does nothing twice.

    Raises InvalidSettings (URL, folder, a package that is missing) and StoreUnavailable.
    """
    address = read_address(url)
    try:
        from alembic.config import Config
    except ImportError as error:
        raise InvalidSettings("migrations need alembic: pip install 'tenantry[server]'") from error
    configuration = Config()
    configuration.set_main_option("script_location", str(Path(__file__).parent).replace("%", "%%"))
    if isinstance(address, SQLiteFile):
        address.create()
    with _one_thread:
        _run(address, lambda connection: _upgrade(configuration, connection, address.label), begin="begin immediate")


def check(url: str) -> None:
    """Raises MigrationNeeded unless the database at ``url`` is at this version; never makes a file."""
    from alembic.migration import MigrationContext

    address = read_address(url)
    found = _run(address, lambda it: MigrationContext.configure(it).get_current_revision(), begin="begin")
    if found != HEAD:
        raise MigrationNeeded(
            f"the {address.label} is at revision {found or 'none'}, this version needs {HEAD}: {RUN_MIGRATE}"
        )


def _upgrade(configuration: Config, connection: Connection, label: str) -> None:
    from alembic import command
    from alembic.util import CommandError

    configuration.attributes["connection"] = connection
    try:
        command.upgrade(configuration, "head")
    except CommandError as error:
        raise StoreUnavailable(
            f"the {label} was migrated by another version of Tenantry, which this one does not know: {error}"
        ) from error


def _run(address: SQLiteFile | PostgresServer, work: Callable[[Connection], T], *, begin: str) -> T:
    try:
        if isinstance(address, SQLiteFile):
            return _on_sqlite(address, work, begin)
        with ThreadPoolExecutor(1, "tenantry-migrate") as thread:  # so that it works under a running event loop as well
            return thread.submit(asyncio.run, _on_postgres(address, work)).result()
    except (DBAPIError, sqlite3.Error, OSError) as error:
        cause = error.orig if isinstance(error, DBAPIError) else error
        reason = str(cause) or "it does not answer"  # a TimeoutError has no text of its own
        raise StoreUnavailable(f"the {address.label} cannot be migrated: {reason}") from error


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
            await connection.execute(text(f"set local lock_timeout = '{_LOCK_SECONDS}s'"))
            await connection.execute(text("select pg_advisory_xact_lock(:number)"), {"number": _ADVISORY_LOCK})
            return await connection.run_sync(work)
    except driver.Error as error:
        raise StoreUnavailable(f"the {server.label} cannot be migrated: {error}") from error
    finally:
        await engine.dispose()
