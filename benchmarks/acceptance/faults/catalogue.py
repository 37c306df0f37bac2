"""The faults by name, and the two scenes that they are made on: a fleet on PostgreSQL and Valkey, and one on SQLite."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from benchmarks.acceptance.faults.postgres import PostgresServer
from benchmarks.acceptance.faults.proxy import FaultProxy, Mode
from benchmarks.acceptance.faults.trial import Fault, Scene
from benchmarks.acceptance.faults.valkey import ValkeyServer
from benchmarks.acceptance.fleet.child import Child
from benchmarks.acceptance.fleet.host import Dashboards, Server
from benchmarks.acceptance.fleet.site import Site

WORKERS = 2

ON_POSTGRES = (
    "PostgreSQL restarted at once",
    "PostgreSQL down",
    "PostgreSQL frozen",
    "PostgreSQL commit never confirmed",
    "PostgreSQL commit cut off before its answer",
    "PostgreSQL cut off: drop",
    "PostgreSQL cut off: reset",
    "PostgreSQL cut off: black hole",
    "PostgreSQL cut off: half open",
    "PostgreSQL slow",
    "PostgreSQL in slices",
    "Valkey killed",
    "Valkey frozen",
    "Valkey flushed",
    "Valkey restored from an old dump",
    "Valkey slow",
    "Valkey cut off: drop",
    "Valkey cut off: reset",
    "Valkey cut off: black hole",
    "Valkey cut off: half open",
    "Valkey in slices",
)
ON_SQLITE = (
    "SQLite locked by another writer",
    "SQLite full",
    "SQLite read-only",
    "SQLite corrupt",
    "the server killed",
    "the server told to stop",
    "the slot file deleted",
    "crash between the odd word and the commit",
    "crash between the commit and the even word",
    "a worker frozen longer than X",
)


def _nothing() -> None:
    """For a fault that is over as soon as it was made."""


@contextmanager
def on_postgres(staleness: float) -> Iterator[tuple[Scene, list[Fault]]]:
    """Two workers and a server, whose ways to PostgreSQL and to Valkey (second-level cache and bus) are proxies."""
    with ExitStack() as stack:
        postgres = stack.enter_context(PostgresServer())
        valkey = stack.enter_context(ValkeyServer())
        store = stack.enter_context(FaultProxy("127.0.0.1", postgres.port))
        cache = stack.enter_context(FaultProxy("127.0.0.1", valkey.port))
        direct = postgres.create_database()
        site = stack.enter_context(Site(store.url(direct), direct=direct))
        host = site.host()
        redis = cache.url(valkey.url)
        operator = site.operator(host)
        host.start(Dashboards(site.database, WORKERS, staleness=staleness, redis=redis, buses=(redis,)))
        host.serve(site.database, redis=redis)
        yield Scene(operator, host, staleness), [*_of_postgres(postgres, store), *_of_valkey(valkey, cache)]


def _of_postgres(postgres: PostgresServer, store: FaultProxy) -> list[Fault]:
    def restart() -> None:
        postgres.stop_at_once()
        postgres.start()

    faults = [
        Fault("PostgreSQL restarted at once", restart, _nothing, over=True),
        Fault("PostgreSQL down", postgres.stop_at_once, postgres.start, dead=True),
        Fault("PostgreSQL frozen", postgres.freeze, postgres.thaw, dead=True),
        Fault("PostgreSQL commit never confirmed", lambda: store.trip(b"COMMIT", Mode.HALF_OPEN), _passing(store)),
        Fault(
            "PostgreSQL commit cut off before its answer",
            lambda: store.trip(b"COMMIT", Mode.RESET),
            _passing(store),
        ),
    ]
    faults += [
        Fault(f"PostgreSQL cut off: {mode}", _setting(store, mode), _passing(store), dead=True)
        for mode in (Mode.DROP, Mode.RESET, Mode.BLACK_HOLE, Mode.HALF_OPEN)
    ]
    faults += [
        Fault("PostgreSQL slow", lambda: store.set(Mode.LATENCY, seconds=0.03, jitter=0.03), _passing(store)),
        Fault("PostgreSQL in slices", _setting(store, Mode.SLICE), _passing(store)),
    ]
    return faults


def _of_valkey(valkey: ValkeyServer, cache: FaultProxy) -> list[Fault]:
    """The store is well throughout, so all of these may cost time and nothing else."""

    def revive() -> None:
        valkey.kill()
        valkey.start()

    def go_back() -> None:
        time.sleep(0.3)  # rotations come and go meanwhile: the dump is older than what is live
        revive()

    faults = [
        Fault("Valkey killed", valkey.kill, valkey.start),
        Fault("Valkey frozen", valkey.freeze, valkey.thaw),
        Fault("Valkey flushed", valkey.flush, _nothing, over=True),
        Fault("Valkey restored from an old dump", *_later(valkey.dump, go_back, revive)),
        Fault("Valkey slow", lambda: cache.set(Mode.LATENCY, seconds=0.08, jitter=0.05), _passing(cache)),
    ]
    faults += [
        Fault(f"Valkey cut off: {mode}", _setting(cache, mode), _passing(cache))
        for mode in (Mode.DROP, Mode.RESET, Mode.BLACK_HOLE, Mode.HALF_OPEN)
    ]
    return [*faults, Fault("Valkey in slices", _setting(cache, Mode.SLICE), _passing(cache))]


def _later(
    now: Callable[[], None], then: Callable[[], None], last: Callable[[], None]
) -> tuple[Callable[[], None], Callable[[], None]]:
    """How a fault begins and ends: it does ``now``, and ``then`` in a thread; when that is done, ``last``."""
    threads: list[threading.Thread] = []

    def begin() -> None:
        now()
        threads.append(threading.Thread(target=then, daemon=True))
        threads[-1].start()

    def end() -> None:
        threads.pop().join()
        last()

    return begin, end


def _setting(proxy: FaultProxy, mode: Mode) -> Callable[[], None]:
    return lambda: proxy.set(mode)


def _passing(proxy: FaultProxy) -> Callable[[], None]:
    return lambda: proxy.set(Mode.PASS)


@contextmanager
def on_sqlite(staleness: float) -> Iterator[tuple[Scene, list[Fault]]]:
    """Two workers and a server with failpoints on one file."""
    with Site() as site:
        host = site.host()
        operator = site.operator(host)
        host.start(Dashboards(site.database, WORKERS, staleness=staleness))
        host.serve(site.database, failing=True)
        scene = Scene(operator, host, staleness)
        file = Path(site.database.removeprefix("sqlite:///"))
        yield scene, [*_of_the_file(scene, file), *_of_processes(scene)]


def _of_the_file(scene: Scene, file: Path) -> list[Fault]:
    locker = _Locker(file)
    damage = _Damage(scene, file)
    return [
        Fault("SQLite locked by another writer", locker.lock, locker.unlock),
        _failpoint(scene, "SQLite full", "full", filling=True),
        _failpoint(scene, "SQLite read-only", "read-only"),
        Fault("SQLite corrupt", damage.do, damage.undo, away=True),
    ]


def _of_processes(scene: Scene) -> list[Fault]:
    server = _server(scene)
    child: Child = scene.host.child_of(scene.workers[0])
    slots = scene.host.run

    def stop() -> None:
        server.stop()

    def delete_slots() -> None:
        for path in slots.glob("*.slots"):
            path.unlink()

    return [
        Fault("the server killed", server.kill, server.start, away=True),
        Fault("the server told to stop", stop, server.start, away=True),
        Fault("the slot file deleted", delete_slots, _nothing, over=True),
        _crash(scene, "crash between the odd word and the commit", "die before commit"),
        _crash(scene, "crash between the commit and the even word", "die after commit"),
        Fault("a worker frozen longer than X", *_freezing(scene, child), over=True),
    ]


def _server(scene: Scene) -> Server:
    if scene.host.server is None:
        raise RuntimeError("this host serves no /api/user")
    return scene.host.server


def _failpoint(scene: Scene, name: str, what: str, *, filling: bool = False) -> Fault:
    path = scene.host.failpoint
    return Fault(name, _writing(path, what), lambda: path.unlink(missing_ok=True), filling=filling)


def _writing(path: Path, what: str) -> Callable[[], None]:
    def write() -> None:
        path.write_text(what)

    return write


def _crash(scene: Scene, name: str, what: str) -> Fault:
    """The server dies in its next write, and is started again at the end."""
    path = scene.host.failpoint

    def restart() -> None:
        path.unlink(missing_ok=True)
        _server(scene).kill()
        _server(scene).start()

    return Fault(name, _writing(path, what), restart, away=True)


def _freezing(scene: Scene, child: Child) -> tuple[Callable[[], None], Callable[[], None]]:
    """Frozen with an answer in its memory; meanwhile the token is rotated; thawed, its first answer must be 401."""

    def freeze_and_thaw() -> None:
        token = scene.operator.create()
        worker = scene.workers[0]
        for _ in range(2):
            if worker.show(token).status != 200:
                raise RuntimeError("a live token was refused before the fault")
        child.freeze()
        scene.operator.rotate(token)
        time.sleep(scene.staleness * 1.2)
        child.thaw()
        if worker.show(token).status == 200:
            raise AssertionError("a worker that slept accepted an old token")

    return freeze_and_thaw, _nothing


class _Locker:
    """Another program that holds the write lock."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._connection: sqlite3.Connection | None = None

    def lock(self) -> None:
        self._connection = sqlite3.connect(self._file, isolation_level=None, timeout=10)
        self._connection.execute("begin immediate")

    def unlock(self) -> None:
        if self._connection is not None:
            self._connection.close()


class _Damage:
    """Overwrites the file while the server is down; the server must not start on it.

    By another process: one that has the database open would lose SQLite's locks with the file that it closes.
    """

    _DO = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=10)
connection.execute("pragma wal_checkpoint(truncate)").fetchall()
connection.close()
with open(sys.argv[1], "rb") as file, open(sys.argv[2], "wb") as copy:
    copy.write(file.read())
    size = file.tell()
with open(sys.argv[1], "r+b") as file:
    file.write(b"\\xa5" * size)
"""
    _UNDO = """
import sys
with open(sys.argv[2], "rb") as copy, open(sys.argv[1], "r+b") as file:
    file.write(copy.read())
"""

    def __init__(self, scene: Scene, file: Path) -> None:
        self._scene = scene
        self._files = (str(file), str(file.with_name("kept")))

    def do(self) -> None:
        server = _server(self._scene)
        server.kill()
        self._run(self._DO)
        with suppress(RuntimeError):
            server.start()
            raise AssertionError("the server has started on a corrupt file")

    def undo(self) -> None:
        self._run(self._UNDO)
        _server(self._scene).start()

    def _run(self, code: str) -> None:
        subprocess.run([sys.executable, "-c", code, *self._files], check=True)
