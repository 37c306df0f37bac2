"""``tenantry demo`` as a process of its own."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2

LAST_LINE = "Ctrl-C stops it."


@contextmanager
def demo(folder: Path, *words: str, **environment: str) -> Iterator[tuple[subprocess.Popen[str], list[str]]]:
    """The running demo, and the lines that it printed up to its last one. SIGTERM ends it if nothing else has."""
    command = [sys.executable, "-m", "tenantry", "demo", "--folder", str(folder / "demo"), *words]
    process = subprocess.Popen(
        command, cwd=folder, env={**os.environ, **environment}, stderr=subprocess.PIPE, text=True
    )
    assert process.stderr is not None
    try:
        lines = []
        for line in process.stderr:
            lines.append(line.rstrip())
            if lines[-1] == LAST_LINE:
                break
        assert lines[-1] == LAST_LINE, "\n".join(lines)
        yield process, lines
    finally:
        process.terminate()
        process.communicate(timeout=120)


def _dashboard(lines: list[str]) -> str:
    return next(found[0] for line in lines if (found := re.search(r"http://\S+USER_GROUP_TOKEN=\S+", line)))


def test_behind_tls_the_cookie_is_for_tls_only(tmp_path: Path) -> None:
    """A proxy on this machine says how the client came. Red when the demo is run without ``proxied``."""
    with demo(tmp_path, "--port", "0") as (_, lines):
        cookies = [
            httpx2.get(_dashboard(lines), headers=headers, timeout=60).headers["set-cookie"]
            for headers in ({}, {"X-Forwarded-Proto": "http"}, {"X-Forwarded-Proto": "https"})
        ]
    assert ["Secure" in cookie for cookie in cookies] == [False, False, True]


def test_its_first_start_takes_the_port_of_the_environment_and_ends_in_silence(tmp_path: Path) -> None:
    """Red without the variable (8000 is taken or used), and without ``gc.unfreeze``: DuckDB's binding, loaded by the
    first start, then prints some fifty lines of what was not freed."""
    with demo(tmp_path, TENANTRY_PORT="0") as (process, lines):
        assert lines[0].startswith("Preparing the demo")
        assert ":8000/" not in _dashboard(lines)
        process.send_signal(signal.SIGINT)
        _, rest = process.communicate(timeout=120)
        assert rest == ""
        assert process.returncode == 0
