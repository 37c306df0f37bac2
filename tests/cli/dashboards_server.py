"""``tenantry dashboards serve``, and ``tenantry edit``, as a process."""

from __future__ import annotations

import re
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from engines.warm_python import Popen

SOON = 180.0
"""Seconds within which something happens on a busy machine."""


@contextmanager
def serving(folder: Path, *options: str, command: tuple[str, ...] = ("dashboards", "serve")) -> Iterator[str]:
    """``tenantry dashboards serve dashboards``, and its address. What it prints is in ``serve.log``."""
    log = folder / "serve.log"
    arguments = [sys.executable, "-m", "tenantry", *command, "dashboards", "--port", "0", *options]
    with log.open("w") as stderr:
        process = Popen(arguments, cwd=folder, stderr=stderr, text=True)
    try:
        ends = time.monotonic() + SOON
        while not (found := re.search(r"http://[^/]+", log.read_text())):
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < ends
            time.sleep(0.05)
        yield found[0]
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(SOON)


def said(folder: Path, *texts: str) -> None:
    """Wait until ``serve.log`` has all texts."""
    log, ends = folder / "serve.log", time.monotonic() + SOON
    while not all(text in log.read_text() for text in texts):
        assert time.monotonic() < ends, log.read_text()
        time.sleep(0.05)
