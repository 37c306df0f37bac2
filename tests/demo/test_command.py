"""``tenantry demo`` as a process of its own."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2
import pytest

from engines.ports import free_port

pytestmark = pytest.mark.slow

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


def _product(lines: list[str]) -> str:
    return next(found[0] for line in lines if (found := re.fullmatch(r" +(http://\S+)", line))).strip()


def test_the_product_is_at_the_next_port_or_at_a_free_one(tmp_path: Path) -> None:
    """It is another origin than Tenantry's. Red when a taken port ends the demo."""
    port = free_port()
    with socket.create_server(("127.0.0.1", port + 1)), demo(tmp_path, "--port", str(port)) as (_, lines):
        product = _product(lines)
        assert int(product.rpartition(":")[2]) != port + 1
        assert httpx2.get(product, timeout=60).status_code == 200
        tenantry = next(line for line in lines if "Tenantry's API" in line).split()[2].removesuffix("/api/user")
        assert int(tenantry.rpartition(":")[2]) == port
        moved = httpx2.get(tenantry, timeout=60)
        assert (moved.status_code, moved.headers["location"]) == (307, product)


def test_its_first_start_takes_the_port_of_the_environment_and_ends_in_silence(tmp_path: Path) -> None:
    """Red without the variable (8000 is taken or used), and without ``gc.unfreeze``: DuckDB's binding, loaded by the
    first start, then prints some fifty lines of what was not freed."""
    with demo(tmp_path, TENANTRY_PORT="0") as (process, lines):
        assert lines[0].startswith("Preparing the demo")
        assert ":8001" not in _product(lines)
        process.send_signal(signal.SIGINT)
        _, rest = process.communicate(timeout=120)
        assert rest == ""
        assert process.returncode == 0
