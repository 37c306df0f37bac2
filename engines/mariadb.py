"""A real MariaDB for the whole test run, from the distribution's package, unpacked without root.

The server is a child of this process with its own data folder and port on 127.0.0.1; only that child is ever stopped.
It knows no password: ``root`` may connect from this machine, and ``create_user`` makes users with fewer rights.
"""

from __future__ import annotations

import os
import secrets
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pymysql
import pytest

from engines.certificates import self_signed
from engines.debian_packages import environment, require
from engines.memory_folder import temporary_folder
from engines.ports import free_port
from engines.shared import run_folder, shared

PACKAGE = "mariadb-server-core"
START_SECONDS = 180
_SYSTEM_TABLES = ("mysql_system_tables.sql", "mysql_performance_tables.sql", "mysql_system_tables_data.sql")
_FIRST_USERS = (  # what mariadb-install-db sets, which needs a tool of another package: root without a password
    "create database mysql;\nuse mysql;\n"
    "set @auth_root_socket=NULL;\nset @skip_auth_anonymous=1;\nset @auth_root_nopasswd=NULL;\n"
)


class MariaDB:
    """A server on 127.0.0.1 at ``port``. Each ``create_database()`` gives the name of a fresh, empty database on it.

    ``certificate``: the file of the server's, if it has TLS; it is for the name ``localhost``, and signed by itself.
    """

    def __init__(self, port: int, certificate: Path | None = None) -> None:
        self.port = port
        self.certificate = certificate
        self._names: list[str] = []

    def connect(self, database: str | None = None, **options: Any) -> Any:
        """A PyMySQL connection as root, in autocommit mode; ``options`` are those of ``pymysql.connect``."""
        given = {"user": "root", "charset": "utf8mb4", "autocommit": True, "ssl_disabled": True, **options}
        return pymysql.connect(host="127.0.0.1", port=self.port, database=database, **given)

    def execute(self, sql: str, parameters: Sequence[Any] = (), *, database: str | None = None) -> tuple[Any, ...]:
        """Runs one statement as root and gives its rows."""
        with closing(self.connect(database)) as connection, connection.cursor() as cursor:
            cursor.execute(sql, parameters or None)
            return tuple(cursor.fetchall())

    def create_database(self) -> str:
        """A new, empty database; its name."""
        name = f"tenantry_{secrets.token_hex(6)}"
        self.execute(f"create database `{name}` character set utf8mb4")
        self._names.append(name)
        return name

    def create_user(self, database: str, *rights: str) -> str:
        """The URL of ``database`` for a new user with these rights on it (``select``)."""
        name, password = f"u_{secrets.token_hex(6)}", secrets.token_hex(8)
        self.execute(f"create user `{name}`@`127.0.0.1` identified by %s", (password,))
        if rights:
            self.execute(f"grant {', '.join(rights)} on `{database}`.* to `{name}`@`127.0.0.1`")
        return f"mysql://{name}:{password}@127.0.0.1:{self.port}/{database}"

    def drop_databases(self) -> None:
        """Those that were created."""
        while self._names:
            self.execute(f"drop database if exists `{self._names.pop()}`")


class _MariaDBServer:
    def __init__(self, root: Path) -> None:
        self._root = root
        self._folder = Path(tempfile.mkdtemp(prefix="tenantry-mariadb-", dir=temporary_folder()))
        self._data = self._folder / "data"
        self._data.mkdir()
        self._temporary = self._folder / "tmp"  # its own: a server that starts removes what others left in a shared one
        self._temporary.mkdir()
        self.port: int = free_port()
        self.certificate: Path | None = None
        self._process: subprocess.Popen[bytes] | None = None

    def _command(self, *options: str) -> list[str]:
        share = self._root / "usr/share/mysql"
        command = [str(self._root / "usr/sbin/mariadbd"), "--no-defaults", f"--basedir={self._root / 'usr'}"]
        command += [
            f"--datadir={self._data}",
            f"--tmpdir={self._temporary}",
            f"--lc-messages-dir={share / 'english'}",
            *options,
        ]
        return [*command, "--user=root"] if os.getuid() == 0 else command

    def start(self, *, tls: bool = False) -> None:
        self._bootstrap()
        if tls:
            self.certificate = self_signed(self._folder, "localhost")
        options = {
            "port": str(self.port),
            "bind-address": "127.0.0.1",
            "socket": str(self._folder / "socket"),
            "pid-file": str(self._folder / "pid"),
            "plugin-dir": str(self._folder),  # no plugin is loaded
            "innodb-flush-log-at-trx-commit": "0",  # tests end long before the machine does
            "innodb-buffer-pool-size": "64M",
            "innodb-log-file-size": "16M",
            "performance-schema": "ON",  # a digest of each statement, for tests of what the server reads in one
            "performance-schema-consumer-events-statements-current": "ON",
            "performance-schema-consumer-events-statements-history": "ON",
            "performance-schema-events-statements-history-size": "32",
            "performance-schema-max-digest-length": "65536",
            # Tables of digests that no test reads, and rows for threads that there are not: a gigabyte in all.
            "performance-schema-events-statements-history-long-size": "1",
            "performance-schema-digests-size": "1",
            "performance-schema-max-thread-instances": "64",
            "max-digest-length": "65536",
        }
        if self.certificate is not None:
            options |= {"ssl-cert": str(self.certificate), "ssl-key": str(self.certificate)}
        with (self._folder / "log").open("wb") as log:
            self._process = subprocess.Popen(
                self._command("--skip-name-resolve", *(f"--{name}={value}" for name, value in options.items())),
                env=environment(self._root),
                stdout=log,
                stderr=log,
                start_new_session=True,  # Ctrl-C in the terminal is for pytest; the fixture stops the server
            )
        self._wait()

    def _bootstrap(self) -> None:
        share = self._root / "usr/share/mysql"
        given = _FIRST_USERS + "\n".join((share / name).read_text("utf-8") for name in _SYSTEM_TABLES)
        done = subprocess.run(
            self._command("--bootstrap", "--enforce-storage-engine=", "--max_allowed_packet=8M", "--log-warnings=0"),
            input=given.encode(),
            env=environment(self._root),
            capture_output=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr.decode(errors="replace")

    def _wait(self) -> None:
        deadline = time.monotonic() + START_SECONDS
        while True:
            try:
                MariaDB(self.port).connect().close()
                return
            except pymysql.MySQLError:
                log = (self._folder / "log").read_text(errors="replace")
                assert self._process is not None
                assert self._process.poll() is None, log
                assert time.monotonic() < deadline, log
                time.sleep(0.05)

    def stop(self) -> None:
        if self._process is not None:
            self._process.kill()  # nothing of it is kept
            self._process.wait()
        shutil.rmtree(self._folder, ignore_errors=True)


@contextmanager
def running(*, tls: bool = False) -> Iterator[MariaDB]:
    """A running MariaDB, for programs that are not tests too. Raises as ``debian_packages.require``."""
    server = _MariaDBServer(require(PACKAGE))
    try:
        server.start(tls=tls)
        yield MariaDB(server.port, server.certificate)
    finally:
        server.stop()


@contextmanager
def _running_address(*, tls: bool) -> Iterator[str]:
    with running(tls=tls) as server:
        yield f"{server.port} {server.certificate or ''}"


@contextmanager
def _shared(factory: pytest.TempPathFactory, name: str, *, tls: bool) -> Iterator[MariaDB]:
    with shared(run_folder(factory), name, partial(_running_address, tls=tls)) as address:
        port, _, certificate = address.partition(" ")
        yield MariaDB(int(port), Path(certificate) if certificate else None)


@pytest.fixture(scope="session")
def mariadb(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MariaDB]:
    """The MariaDB of this test run; ``mariadb.create_database()`` gives the name of a fresh, empty database."""
    with _shared(tmp_path_factory, "mariadb", tls=False) as server:
        yield server


@pytest.fixture(scope="session")
def mariadb_with_tls(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MariaDB]:
    """Another one, with TLS; the other has none."""
    with _shared(tmp_path_factory, "mariadb-tls", tls=True) as server:
        yield server
