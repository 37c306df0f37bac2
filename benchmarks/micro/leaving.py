"""How long a query goes on at its source after its viewer has left, and after SIGTERM, under real servers.

``make bench TABLES=leaving``. PostgreSQL and MariaDB are asked themselves what they run. What SQLite and DuckDB run is
a thread of the server's process: it is asked, and not after SIGTERM, when it takes no more requests.
"""

from __future__ import annotations

import http.client
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from typing import Final, NamedTuple

import duckdb
import psycopg
import pymysql
from sqlalchemy.engine import make_url

from benchmarks.harness import engines
from benchmarks.harness.table import Aim, Table
from engines.ports import free_port

LEAVINGS: Final = 25
STOPS: Final = 5
LONGEST: Final = 250.0
PATIENCE: Final = 120.0
APP: Final = "benchmarks.micro.leaving_app:app"
SERVERS: Final = {
    "uvicorn": ["uvicorn", APP, "--log-level", "critical", "--port"],
    "hypercorn": ["hypercorn", APP, "--workers", "0", "--graceful-timeout", "600", "--bind"],
    "granian": ["granian", APP, "--interface", "asgi", "--log-level", "critical", "--port"],
}

Running = Callable[[], bool]


class _Source(NamedTuple):
    """``running``: asks the source whether it runs the query; None where only the server can say."""

    name: str
    url: str
    sql: str
    running: Running | None


class _Served(NamedTuple):
    process: subprocess.Popen[bytes]
    port: int
    running: Running


def table() -> Table:
    """Runs it. Raises EngineMissing without PostgreSQL or MariaDB."""
    heads = ["server", "source", "viewer left, ms", "longest, ms", "SIGTERM, ms", "process ended, ms"]
    result = Table(
        f"Time until a query ends at its source, after its viewer left ({LEAVINGS} times) and after SIGTERM", heads
    )
    with ExitStack() as stack:
        postgresql, *others = _sources(stack)
        for server, source in [*((name, postgresql) for name in SERVERS), *(("uvicorn", each) for each in others)]:
            with _serve(server, source) as served:
                left = [_leave(served) for _ in range(LEAVINGS)]
            stopped = [_terminate(server, source) for _ in range(STOPS)]
            gone = [each for each, _ in stopped if each is not None]
            result.add(
                server,
                source.name,
                f"{statistics.median(left):.0f}",
                f"{max(left):.0f}",
                f"{statistics.median(gone):.0f}" if gone else "",
                f"{statistics.median(ended for _, ended in stopped):.0f}",
            )
            result.aims.append(Aim(f"{server}, {source.name}: after its viewer left, ms", max(left), LONGEST))
    return result


# --- the sources ------------------------------------------------------------------------------------------------------


def _sources(stack: ExitStack) -> Iterator[_Source]:
    url = stack.enter_context(engines.postgres())
    postgresql = stack.enter_context(psycopg.connect(url, autocommit=True))
    shown = "select 1 from pg_stat_activity where query like 'select pg_sleep(600)%' and state = 'active'"
    yield _Source(
        "PostgreSQL", url, "select pg_sleep(600)::text as v", lambda: bool(postgresql.execute(shown).fetchone())
    )
    url = stack.enter_context(engines.mariadb())
    at = make_url(url)
    mariadb = stack.enter_context(
        pymysql.connect(host=at.host, port=at.port or 3306, user=at.username, password=at.password or "")
    )

    def is_listed() -> bool:
        with mariadb.cursor() as cursor:
            return bool(cursor.execute("select 1 from information_schema.processlist where info like 'select sleep(%'"))

    yield _Source("MariaDB", url, "select sleep(600) as v", is_listed)
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
    (folder / "sqlite").touch()
    duckdb.connect(str(folder / "duckdb")).close()
    endless = "with recursive n (i) as (select 1 union all select i + 1 from n) select count(*) as v from n"
    yield _Source("SQLite", f"sqlite:///{folder}/sqlite", endless, None)
    pairs = "select count(*) as v from range(10000000) a, range(10000000) b where a.range * b.range = -1"
    yield _Source("DuckDB", f"duckdb:///{folder}/duckdb", pairs, None)


# --- a server ---------------------------------------------------------------------------------------------------------


@contextmanager
def _serve(server: str, source: _Source) -> Iterator[_Served]:
    port = free_port()
    *command, option = SERVERS[server]
    address = f"127.0.0.1:{port}" if server == "hypercorn" else str(port)
    process = subprocess.Popen(
        [sys.executable, "-m", *command, option, address],
        env={**os.environ, "URL": source.url, "SQL": source.sql},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )

    def is_running() -> bool:
        with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)) as connection:
            connection.request("GET", "/running")
            return connection.getresponse().read() == b"True"

    try:
        _wait(lambda: _answers(is_running))
        yield _Served(process, port, source.running or is_running)
    finally:
        process.kill()
        process.wait()


def _answers(ask: Running) -> bool:
    with suppress(OSError):
        ask()
        return True
    return False


def _leave(served: _Served) -> float:
    """Milliseconds until the query has ended."""
    with _viewer(served):
        pass
    return _wait(lambda: not served.running())


def _terminate(server: str, source: _Source) -> tuple[float | None, float]:
    """Milliseconds until the query has ended, and until the process has."""
    with _serve(server, source) as served, _viewer(served):
        began = time.perf_counter()
        served.process.terminate()
        gone = None if source.running is None else _wait(lambda: not served.running())
        served.process.wait(PATIENCE)
        return gone, (time.perf_counter() - began) * 1e3


@contextmanager
def _viewer(served: _Served) -> Iterator[None]:
    """One whose query runs. Leaves at the end."""
    with socket.create_connection(("127.0.0.1", served.port)) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        _wait(served.running)
        yield


def _wait(condition: Running) -> float:
    """Milliseconds until it holds."""
    began = time.perf_counter()
    while not condition():
        if time.perf_counter() - began > PATIENCE:
            raise TimeoutError
        time.sleep(0.001)
    return (time.perf_counter() - began) * 1e3
