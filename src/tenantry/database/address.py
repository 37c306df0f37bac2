"""Reads the URL of a store's database (``TENANTRY_DATABASE``) and connects to it."""

from __future__ import annotations

import os
import sqlite3
import stat
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError

from tenantry.errors import InvalidSettings, MigrationNeeded, StoreUnavailable

RUN_MIGRATE = "run `tenantry migrate` (or `tenantry serve`, which does it)"

_LEAST_SPACE = 65_536
"""Free bytes that SQLite needs: 32 KiB for its shared-memory file, and some pages of 4 KiB for a transaction."""


@dataclass(frozen=True, slots=True)
class SQLiteFile:
    path: Path

    @property
    def label(self) -> str:
        return f"SQLite file {self.path}"

    def connect(self, *, timeout: float) -> sqlite3.Connection:
        """Connect in autocommit mode. The connection may be used in any thread. ``timeout``: maximum seconds to wait
        for a lock. Raises MigrationNeeded if the file is missing, and StoreUnavailable if SQLite cannot open it."""
        try:
            self._check()
            connection = sqlite3.connect(
                f"file:{quote(str(self.path))}?mode=rw",
                uri=True,
                timeout=timeout,
                isolation_level=None,
                check_same_thread=False,
            )
        except (sqlite3.OperationalError, OSError) as error:
            reason = self.problem() or f"cannot be opened: {getattr(error, 'strerror', None) or error}"
            raise StoreUnavailable(f"the {self.label} {reason}") from error
        return connection

    def problem(self) -> str | None:
        """Explain a problem that SQLite's errors do not name: a read-only or full file system, or a missing permission
        of this user. Return None if there is no such problem."""
        if sys.platform == "win32":
            return None
        folder = self.path.parent
        try:
            system = os.statvfs(folder)
            used = [folder, *(each for each in folder.glob(f"{self.path.name}*") if each.name in self._names())]
            for each in used:
                right = os.R_OK | os.W_OK | (os.X_OK if each == folder else 0)
                if not os.access(each, right, effective_ids=True) and not system.f_flag & os.ST_RDONLY:
                    status = each.stat()
                    return (
                        f"cannot be opened: permission denied for this user (uid {os.geteuid()}): {each} belongs to "
                        f"uid {status.st_uid} and has mode {stat.S_IMODE(status.st_mode):04o}"
                    )
        except OSError:
            return None
        if system.f_flag & os.ST_RDONLY:
            return "is on a read-only file system: mount it writable"
        return "has no space left on its disk" if system.f_bavail * system.f_frsize < _LEAST_SPACE else None

    def _names(self) -> set[str]:
        return {self.path.name + suffix for suffix in ("", "-wal", "-shm")}

    def identity(self) -> tuple[int, int] | None:
        try:
            status = os.stat(self.path)  # noqa: PTH116 - runs at every read, and takes half as long as Path.stat
        except OSError:
            return None
        return status.st_dev, status.st_ino

    def create(self) -> None:
        if not self.path.parent.is_dir():
            raise InvalidSettings(f"the folder {self.path.parent} of the database does not exist: create it first")
        try:
            os.close(os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600))
        except OSError as error:
            raise StoreUnavailable(f"the {self.label} cannot be created: {error.strerror}") from error

    def _check(self) -> None:
        try:
            mode = self.path.stat().st_mode  # from Python 3.14 on ``is_file`` hides a PermissionError
        except (FileNotFoundError, NotADirectoryError):
            if not self.path.parent.is_dir():
                raise StoreUnavailable(f"the folder {self.path.parent} of the database does not exist") from None
            raise MigrationNeeded(f"there is no {self.label}: {RUN_MIGRATE}") from None
        if not stat.S_ISREG(mode):
            raise StoreUnavailable(f"{self.path} is not a file")


class FileIdentity:
    """Detects that the database file was replaced while it was open."""

    # Writes to the old file would be lost.

    def __init__(self, file: SQLiteFile) -> None:
        self._file = file
        self._opened: tuple[int, int] | None = None

    def remember(self) -> None:
        """Remember which file was opened. Raises StoreUnavailable if an earlier connection opened another one."""
        if self._opened is None:
            self._opened = self._file.identity()
        else:
            self.check()

    def check(self) -> None:
        """Raise StoreUnavailable if the file was replaced."""
        # SQLite could apply the old file's write-ahead log to the new file.
        opened = self._opened  # another thread may call ``forget`` meanwhile
        if opened is not None and self._file.identity() != opened:
            raise StoreUnavailable(
                f"the {self._file.label} was moved, deleted or replaced while it was open: "
                "stop all programs that use it and start them again"
            )

    def forget(self) -> None:
        self._opened = None


@dataclass(frozen=True, slots=True)
class PostgresServer:
    dsn: str = field(repr=False)
    """The address for libpq. It may contain a password, so no message may show it."""
    label: str
    """The server's name in messages."""

    async def connect(self, *, seconds: float, transactions: bool = False) -> Any:
        """Connect as ``postgres.connect`` does. Raises InvalidSettings if the URL has an invalid option."""
        driver = load_psycopg()
        from tenantry.database.postgres import connect

        try:
            return await connect(self.dsn, seconds=seconds, transactions=transactions)
        except (driver.ProgrammingError, driver.OperationalError) as error:
            if isinstance(error, driver.OperationalError) and not str(error).startswith(_BAD_OPTION):
                raise
            raise InvalidSettings(f"the database URL has an option that cannot be used: {str(error).strip()}") from None


_BAD_OPTION = "connection is bad: invalid "
"""The start of psycopg's error if libpq rejects the value of an option."""


def load_psycopg() -> Any:
    try:
        import psycopg as driver
    except ImportError as error:
        raise InvalidSettings("a postgresql:// database needs the driver: pip install 'tenantry[postgres]'") from error
    return driver


def read_address(url: str) -> SQLiteFile | PostgresServer:
    """Parse a URL: ``sqlite:///relative.db``, ``sqlite:////absolute.db`` or ``postgresql://user@host/database``. Raises
    InvalidSettings with a message that does not quote the URL."""
    try:
        parsed = make_url(url)
    except (ArgumentError, ValueError):  # ValueError: the port is not a number, for example if the password contains @
        raise InvalidSettings(_WANTED.format("is not a URL, or its password needs %-escapes")) from None
    kind = parsed.drivername
    if kind == "sqlite":
        if not parsed.database or parsed.database == ":memory:" or "\0" in parsed.database:
            raise InvalidSettings(_WANTED.format("names no file"))
        if parsed.query:
            raise InvalidSettings(_WANTED.format("has options after '?', which are not allowed for an SQLite file"))
        return SQLiteFile(Path(parsed.database).absolute())
    if kind in ("postgresql", "postgres", "postgresql+psycopg", "postgresql+asyncpg"):
        dsn = libpq_url(parsed)
        name = parsed.database or "of the user's name"
        host = parsed.query.get("host") or parsed.host or "the local socket"
        return PostgresServer(dsn, f"PostgreSQL database {name} at {host}")
    raise InvalidSettings(_WANTED.format(f"is of the kind {kind!r}"))


def libpq_url(url: URL) -> str:
    """Return the URL, with its password, for libpq."""
    # SQLAlchemy writes a space as a plus sign, which libpq does not read as a space.
    address, mark, options = url.set(drivername="postgresql").render_as_string(hide_password=False).rpartition("?")
    return f"{address}{mark}{options.replace('+', '%20')}" if url.query else f"{address}{mark}{options}"


_WANTED = "the database URL {}: use sqlite:///file.db, sqlite:////absolute/file.db or postgresql://user@host/database"
