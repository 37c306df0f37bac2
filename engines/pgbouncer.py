"""A real PgBouncer before the tests' PostgreSQL, unpacked without root from the distribution's package.

Each is a child of this process, on its own port, with the default settings but for the pool mode; only that child is
stopped. Version 1.18 keeps no prepared statements; a later one is told not to, as many installations do not.
"""

from __future__ import annotations

import os
import re
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import pytest

from engines.debian_packages import environment, require, unpack
from engines.ports import free_port
from engines.postgres import Postgres

START_SECONDS = 180
PACKAGES = ("pgbouncer", "libc-ares2", "libevent-2.1-7")
_KEEPS_STATEMENTS = (1, 21)


class PgBouncer:
    """``url(database)`` is the same database through the pooler. ``mode``: ``session``, ``transaction`` or
    ``statement``. ``written``: returns its file of settings for a port and a folder, to which it may write others."""

    def __init__(self, root: Path, mode: str, written: Callable[[int, Path], str]) -> None:
        self.mode = mode
        self._program = str(root / "usr/sbin/pgbouncer")
        self._environment = environment(root)
        self._folder = tempfile.TemporaryDirectory(prefix="tenantry-pgbouncer-")
        self.port: int = free_port()
        folder = Path(self._folder.name)
        self._settings = folder / "pgbouncer.ini"
        text = written(self.port, folder)
        keeps = "max_prepared_statements = 0\n" if self._version() >= _KEEPS_STATEMENTS else ""
        self._settings.write_text(f"{text}\n{keeps}")
        self._log = folder / "log"

    def url(self, database: str) -> str:
        """The URL of a database of the server behind it, through this pooler."""
        parts = urlsplit(database)
        user = f"{parts.username}@" if parts.username else ""
        return urlunsplit(parts._replace(netloc=f"{user}127.0.0.1:{self.port}"))

    def log(self) -> str:
        """What it has written so far."""
        return self._log.read_text(errors="replace")

    def start(self) -> None:
        """Starts it and waits until it answers."""
        folder = Path(self._folder.name)
        for path in (folder, *folder.iterdir()):
            path.chmod(0o755)  # of another user, when this one is root
        user = ["-u", "nobody"] if os.geteuid() == 0 else []
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                [self._program, *user, str(self._settings)],
                env=self._environment,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        deadline = time.monotonic() + START_SECONDS
        while not self._listens():
            assert self._process.poll() is None, self.log()
            assert time.monotonic() < deadline, self.log()
            time.sleep(0.02)

    def stop(self) -> None:
        """Stops it."""
        process = getattr(self, "_process", None)
        if process is not None:
            process.terminate()  # at once: with SIGTERM it does not wait for its clients
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self._folder.cleanup()

    def _listens(self) -> bool:
        try:
            socket.create_connection(("127.0.0.1", self.port), 1).close()
        except OSError:
            return False
        return True

    def _version(self) -> tuple[int, ...]:
        done = subprocess.run(
            [self._program, "--version"], env=self._environment, capture_output=True, text=True, check=True
        )
        found = re.search(r"PgBouncer (\d+)\.(\d+)", done.stdout)
        assert found is not None, done.stdout
        return int(found[1]), int(found[2])


@contextmanager
def pooled(server: str, mode: str, *settings: str) -> Iterator[PgBouncer]:
    """A PgBouncer before the server at this URL, for programs that are not tests too, with further lines of settings.
    It lets everyone in, and logs in to the server as the URL's user. Raises PackagesMissing."""
    parts = urlsplit(server)
    user = f" user={parts.username}" if parts.username else ""
    password = f" password={parts.password}" if parts.password else ""

    def written(port: int, _folder: Path) -> str:
        lines = (
            "[databases]",
            f"* = host={parts.hostname} port={parts.port or 5432}{user}{password}",
            "[pgbouncer]",
            "listen_addr = 127.0.0.1",
            f"listen_port = {port}",
            "unix_socket_dir =",
            "auth_type = any",  # whoever reaches the port: it is a test's own
            f"pool_mode = {mode}",
            *settings,
        )
        return "\n".join(lines)

    with pooled_as(written, mode) as pooler:
        yield pooler


@contextmanager
def pooled_as(written: Callable[[int, Path], str], mode: str) -> Iterator[PgBouncer]:
    """A PgBouncer with this file of settings (see ``PgBouncer``). Raises PackagesMissing."""
    pooler = PgBouncer(unpack(*PACKAGES), mode, written)
    try:
        pooler.start()
        yield pooler
    finally:
        pooler.stop()


@pytest.fixture(scope="session")
def transaction_pooler(postgres: Postgres) -> Iterator[PgBouncer]:
    """A server process for each transaction."""
    require(*PACKAGES)
    with pooled(postgres.url, "transaction") as pooler:
        yield pooler


@pytest.fixture(scope="session")
def session_pooler(postgres: Postgres) -> Iterator[PgBouncer]:
    """A server process for as long as its client stays."""
    require(*PACKAGES)
    with pooled(postgres.url, "session") as pooler:
        yield pooler
