"""Child: one process of ours, stopped, killed and frozen by its own process id only."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from engines.ports import free_port as free_port  # for every server that a row starts
from engines.warm_python import Popen

ROOT: Final = Path(__file__).parents[3]
START_SECONDS: Final = 60.0
"""A bound for a machine that does much else; a start takes a second or two."""


class Child:
    """``python -m`` with these words, from the root of the checkout; what it prints goes to ``log``."""

    def __init__(self, words: Sequence[str], *, log: Path, env: Mapping[str, str] | None = None) -> None:
        self.log = log
        with log.open("ab") as output:
            self.process = Popen(
                [sys.executable, "-m", *words],
                cwd=ROOT,
                env={**os.environ, "PYTHONUNBUFFERED": "1", **(env or {})},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,  # Ctrl-C is for the one who started us, and we stop our children
            )
        self._frozen = False

    @property
    def pid(self) -> int:
        """Its process id."""
        return self.process.pid

    @property
    def alive(self) -> bool:
        """Whether it has not ended."""
        return self.process.poll() is None

    def wait_until(self, ready: Callable[[], bool]) -> None:
        """Returns when ``ready``. Raises RuntimeError, with what the child printed, if it ends or never is."""
        deadline = time.monotonic() + START_SECONDS
        while not ready():
            if not self.alive or time.monotonic() > deadline:
                raise RuntimeError(f"a process did not start: {self.printed()[-3_000:]}")
            time.sleep(0.02)

    def printed(self) -> str:
        """What it has printed."""
        return self.log.read_text(errors="replace")

    def freeze(self) -> None:
        """SIGSTOP."""
        self._frozen = True
        self.process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """SIGCONT."""
        if self._frozen:
            self._frozen = False
            self.process.send_signal(signal.SIGCONT)

    def kill(self) -> None:
        """kill -9, and waits for its end."""
        with suppress(ProcessLookupError):
            self.process.kill()
        self.process.wait()

    def request_stop(self) -> None:
        """SIGTERM."""
        self.thaw()
        if self.alive:
            with suppress(ProcessLookupError):
                self.process.terminate()

    def stop(self, seconds: float = 20.0) -> int:
        """SIGTERM, and waits for its end; kill -9 if it does not. Gives its exit code (negative: the signal)."""
        self.request_stop()
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.kill()
            return self.process.returncode
