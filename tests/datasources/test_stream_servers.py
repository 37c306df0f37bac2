"""Streams to viewers, under the three servers that people use; and the memory of one who streams."""

from __future__ import annotations

import http.client
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from engines.ports import free_port
from engines.warm_python import Popen
from tests.datasources.conftest import sqlite_file
from tests.datasources.streamed_rows import ENDLESS, ROWS

ROOT = Path(__file__).parents[2]
APP = "tests.datasources.stream_app:app"
SERVERS = {
    "uvicorn": ["uvicorn", APP, "--port", "{port}"],
    "hypercorn": ["hypercorn", APP, "--bind", "127.0.0.1:{port}"],
    "granian": ["granian", APP, "--interface", "asgi", "--host", "127.0.0.1", "--port", "{port}"],
}
STARTED = 60.0
"""Seconds in which a server starts on a busy machine."""


@pytest.fixture(params=SERVERS, scope="module")
def port(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    folder = tmp_path_factory.mktemp("stream")
    sqlite_file(folder / "a.db", "acme")
    port = free_port()
    command = [sys.executable, "-m", *(part.format(port=port) for part in SERVERS[request.param])]
    with (folder / "log").open("wb") as log:
        environment = {**os.environ, "STREAM_FILE": str(folder / "a.db")}
        process = Popen(command, cwd=ROOT, stdout=log, stderr=log, env=environment)
    try:
        end = time.monotonic() + STARTED
        while True:
            try:
                socket.create_connection(("127.0.0.1", port)).close()
                break
            except OSError:
                assert time.monotonic() < end, (folder / "log").read_text()
                time.sleep(0.05)
        yield port
    finally:
        process.terminate()
        process.wait(30)


@contextmanager
def _get(port: int, path: str) -> Iterator[http.client.HTTPResponse]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=STARTED)
    connection.request("GET", path)
    with closing(connection), connection.getresponse() as response:
        yield response


def test_a_whole_body(port: int) -> None:
    """With the headers of a file to save."""
    with _get(port, "/stream?rows=20000") as response:
        assert response.headers["Content-Type"] == "text/csv; charset=utf-8"
        assert response.headers["Content-Disposition"] == "attachment; filename*=UTF-8''a%20%22b%22%20%C3%A9.csv"
        lines = response.read().split(b"\r\n")
    assert (lines[0], lines[-2], lines[-1]) == (b"i,name", b"20000,name 20000", b"")


def test_a_limit_is_a_broken_body(port: int) -> None:
    """The client's own library sees it. Red when the stream ended after the last row that was allowed."""
    with _get(port, "/stream?rows=20000&limited") as response:
        assert response.status == 200
        with pytest.raises((http.client.IncompleteRead, ConnectionError)):
            response.read()


def test_a_viewer_who_leaves(port: int) -> None:
    """In the middle of rows without end: the one connection serves another viewer."""
    with _get(port, f"/stream?rows={ENDLESS}") as response:
        assert response.read(100)
    with _get(port, "/other") as response:
        assert response.read() == b'[{"one":1}]'


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["sqlite", "postgresql"])
def test_a_stream_takes_little_memory(engine: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """200,000 rows, which as a result take 40 MiB and more. Red when the driver had all rows before the first piece."""
    url = sqlite_file(tmp_path / "a.db", "acme") if engine == "sqlite" else ""
    url = url or request.getfixturevalue("postgres").create_database()
    command = [sys.executable, "-m", "tests.datasources.streamed_rows", url, ROWS[engine].format(200_000)]
    grown, rows = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    assert int(rows) == 200_000
    assert int(grown) < 20
