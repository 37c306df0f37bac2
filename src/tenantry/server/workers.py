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

from tenantry.errors import InvalidSettings
from tenantry.server.app import make_app
from tenantry.server.connections import ConnectionLimits, most_connections
from tenantry.server.telemetry import exported_spans, make_reporter
from tenantry.server.uvicorn import DRAIN_SECONDS, Drain, run, url_of

if TYPE_CHECKING:
    from tenantry.provisioning.http import FastRouter
    from tenantry.server.settings import Settings

_SPAWN: Final = get_context("spawn")  # a fork would copy threads and database drivers in use
_RESTART_SECONDS: Final = 1.0
"""Seconds before a crashed worker is replaced."""
_KILL_SECONDS: Final = 2.0
"""A worker that still runs this many seconds after its drain is killed."""


def connection_limits(settings: Settings) -> ConnectionLimits:
    return ConnectionLimits(
        header_seconds=settings.header_seconds,
        min_rate=settings.min_rate,
        max_connections=most_connections() if settings.max_connections is None else settings.max_connections,
        max_per_address=settings.max_connections_per_address,
        proxies=settings.proxies,
    )


def serve_process(
    settings: Settings, listener: socket.socket, app: FastRouter, drain: Drain, announce: Callable[[str], None]
) -> None:
    with exported_spans(make_reporter(settings.log_format)):
        run(
            app,
            listener,
            announce=announce,
            drain=drain,
            log_format=settings.log_format,
            limits=connection_limits(settings),
        )


class Worker:
    """A server process. The pipe ``ready`` becomes readable when the process can serve, or when it ends."""

    def __init__(self, settings: Settings, listener: socket.socket) -> None:
        self.ready: Connection
        self.ready, child_end = _SPAWN.Pipe(duplex=False)
        self.process: SpawnProcess = _SPAWN.Process(
            target=_run_worker, args=(settings, listener, child_end), daemon=False
        )
        self.process.start()
        child_end.close()

    def wait_ready(self) -> bool:
        try:
            self.ready.recv_bytes()
        except (EOFError, OSError):
            return False
        return True

    def send_signal(self, signal_number: int) -> None:
        if self.process.is_alive() and self.process.pid is not None:
            os.kill(self.process.pid, signal_number)


def _run_worker(settings: Settings, listener: socket.socket, ready: Connection) -> None:
    if sys.platform != "win32":
        os.setpgid(0, 0)  # Ctrl-C must reach only the supervisor, which passes it on: a second one would skip the drain
    drain = Drain(settings.drain_seconds)
    app = make_app(settings, drain)
    serve_process(settings, listener, app, drain, lambda _: ready.send_bytes(b"1"))


class Supervisor:
    """Keeps ``settings.workers`` processes serving until SIGINT or SIGTERM. SIGHUP replaces the processes one by
    one."""

    def __init__(self, settings: Settings, listener: socket.socket) -> None:
        self._settings = settings
        self._listener = listener
        self._report = make_reporter(settings.log_format)
        self._workers: list[Worker] = []
        self._signals: list[int] = []

    def run(self, *, announce: Callable[[str], None]) -> None:
        """Run the workers. Raises InvalidSettings if one of the first workers fails to start."""
        for each in (signal.SIGINT, signal.SIGTERM, *([signal.SIGHUP] if sys.platform != "win32" else [])):
            signal.signal(each, lambda number, _: self._signals.append(number))
        with tempfile.TemporaryDirectory(prefix="tenantry-metrics-") as folder, self._listener:
            if self._settings.metrics:
                os.environ["PROMETHEUS_MULTIPROC_DIR"] = folder  # the workers' metrics are summed here
            try:
                self._workers = [Worker(self._settings, self._listener) for _ in range(self._settings.workers)]
                ready = [worker.wait_ready() for worker in self._workers]
                if not all(ready) and not self._signals:
                    raise InvalidSettings("a worker ended before it was ready: see its message above")
                if not self._signals:
                    announce(url_of(self._listener))
                self._supervise()
            finally:
                self._stop()

    def _supervise(self) -> None:
        while not self._signals or self._signals[0] not in (signal.SIGINT, signal.SIGTERM):
            if self._signals:
                self._signals.pop(0)
                self._replace_all()
            connection.wait([worker.process.sentinel for worker in self._workers], timeout=0.2)
            for index, worker in enumerate(self._workers):
                ended = worker.process
                if not ended.is_alive() and not self._signals:
                    self._report(f"Worker {ended.pid} ended ({ended.exitcode}); starting another.")
                    time.sleep(_RESTART_SECONDS)
                    self._workers[index] = Worker(self._settings, self._listener)

    def _replace_all(self) -> None:
        for index, old in enumerate(self._workers):
            new = Worker(self._settings, self._listener)
            if not new.wait_ready():
                self._report("A new worker ended before it was ready; the old workers keep serving.")
                return
            old.send_signal(signal.SIGTERM)
            old.process.join(self._stop_seconds())
            old.process.kill()
            self._workers[index] = new

    def _stop(self) -> None:
        ends = time.monotonic() + self._stop_seconds()
        self._listener.close()  # the workers have their own copies
        self._signals = [each for each in self._signals if each != signal.SIGHUP] or [signal.SIGTERM]
        while any(worker.process.is_alive() for worker in self._workers) and time.monotonic() < ends:
            while self._signals:  # pass on a second signal too: it skips the drain
                number = self._signals.pop(0)
                for worker in self._workers:
                    worker.send_signal(number)
            connection.wait([worker.process.sentinel for worker in self._workers if worker.process.is_alive()], 0.2)
        for worker in self._workers:
            worker.process.kill()
            worker.process.join()

    def _stop_seconds(self) -> float:
        return self._settings.drain_seconds + DRAIN_SECONDS + _KILL_SECONDS
