"""Several processes behind one listening socket, and the one that watches them."""

from __future__ import annotations

import os
import signal
import socket
import sys
import tempfile
import time
from collections.abc import Callable
from multiprocessing import connection, get_context
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from typing import TYPE_CHECKING, Final

from tenantry.cli.log import teller
from tenantry.cli.server import DRAIN_SECONDS, Drain, run, url_of
from tenantry.cli.tracing import exported_spans
from tenantry.errors import InvalidSettings

if TYPE_CHECKING:
    from tenantry.settings import Settings

_SPAWN: Final = get_context("spawn")  # a fork would share what threads and drivers hold
_PAUSE_SECONDS: Final = 1.0
"""Between two starts of a worker that ends by itself."""
_LAST_WORD_SECONDS: Final = 2.0
"""How much longer than its own time a worker is let live."""


class Worker:
    """One process that serves. ``ready`` has something to read when it listens, or its end when it is gone."""

    def __init__(self, chosen: Settings, listener: socket.socket) -> None:
        self.ready, far = _SPAWN.Pipe(duplex=False)
        self.process: SpawnProcess = _SPAWN.Process(target=_work, args=(chosen, listener, far), daemon=False)
        self.process.start()
        far.close()

    def is_up(self) -> bool:
        """Waits until it serves; False if it ended before."""
        try:
            self.ready.recv_bytes()
        except (EOFError, OSError):
            return False
        return True

    def end(self, signal_number: int) -> None:
        if self.process.is_alive() and self.process.pid is not None:
            os.kill(self.process.pid, signal_number)


def _work(chosen: Settings, listener: socket.socket, ready: Connection) -> None:
    """What a worker does."""
    from tenantry.cli.serve import application, connection_limits

    if sys.platform != "win32":
        os.setpgid(0, 0)  # Ctrl-C is for the supervisor, which passes it on: a worker that heard it twice would hurry
    drain = Drain(chosen.drain_seconds)
    app = application(chosen, drain)
    with exported_spans(teller(chosen.log_format)):
        run(
            app,
            listener,
            announce=lambda _: ready.send_bytes(b"1"),
            drain=drain,
            log_format=chosen.log_format,
            limits=connection_limits(chosen),
        )


class Supervisor:
    """Keeps ``chosen.workers`` processes serving until SIGINT or SIGTERM, which it passes on to them. SIGHUP replaces
    them one by one by new ones, which read the key file again."""

    def __init__(self, chosen: Settings, listener: socket.socket) -> None:
        self._chosen = chosen
        self._listener = listener
        self._tell = teller(chosen.log_format)
        self._workers: list[Worker] = []
        self._signals: list[int] = []
        self._begun = 0.0

    def run(self, *, announce: Callable[[str], None]) -> None:
        """Raises InvalidSettings if the first workers do not come up."""
        for each in (signal.SIGINT, signal.SIGTERM, *([signal.SIGHUP] if sys.platform != "win32" else [])):
            signal.signal(each, lambda number, _: self._signals.append(number))
        with tempfile.TemporaryDirectory(prefix="tenantry-metrics-") as folder, self._listener:
            if self._chosen.metrics:
                os.environ["PROMETHEUS_MULTIPROC_DIR"] = folder  # the workers add their numbers up there
            try:
                self._workers = [Worker(self._chosen, self._listener) for _ in range(self._chosen.workers)]
                up = [worker.is_up() for worker in self._workers]
                if not all(up) and not self._signals:
                    raise InvalidSettings("a worker ended before it served: its words are above")
                if not self._signals:
                    announce(url_of(self._listener))
                self._watch()
            finally:
                self._end()

    def _watch(self) -> None:
        while not self._signals or self._signals[0] not in (signal.SIGINT, signal.SIGTERM):
            if self._signals:
                self._signals.pop(0)
                self._replace_all()
            connection.wait([worker.process.sentinel for worker in self._workers], timeout=0.2)
            for place, worker in enumerate(self._workers):
                if not worker.process.is_alive() and not self._signals:
                    ended = worker.process
                    self._tell(f"Worker {ended.pid} ended ({ended.exitcode}); another takes its place.")
                    time.sleep(_PAUSE_SECONDS)
                    self._workers[place] = Worker(self._chosen, self._listener)

    def _replace_all(self) -> None:
        """The new one serves before the old one is asked to stop; if it does not come up, the old one stays."""
        for place, old in enumerate(self._workers):
            new = Worker(self._chosen, self._listener)
            if not new.is_up():
                self._tell("A new worker ended before it served; the old ones go on.")
                return
            old.end(signal.SIGTERM)
            old.process.join(self._patience())
            old.process.kill()
            self._workers[place] = new

    def _end(self) -> None:
        ends = time.monotonic() + self._patience()
        self._listener.close()  # the workers hold it: with the last of them it is gone
        self._signals = [each for each in self._signals if each != signal.SIGHUP] or [signal.SIGTERM]
        while any(worker.process.is_alive() for worker in self._workers) and time.monotonic() < ends:
            while self._signals:  # a second one is passed on too: it means "hurry"
                number = self._signals.pop(0)
                for worker in self._workers:
                    worker.end(number)
            connection.wait([worker.process.sentinel for worker in self._workers if worker.process.is_alive()], 0.2)
        for worker in self._workers:
            worker.process.kill()
            worker.process.join()

    def _patience(self) -> float:
        return self._chosen.drain_seconds + DRAIN_SECONDS + _LAST_WORD_SECONDS
