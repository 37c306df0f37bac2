"""The recipes of docs/http-api.md for sending a POST again, against a service that fails in every way that passes."""

from __future__ import annotations

import json
import re
import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.slow

DOCS = (Path(__file__).parents[2] / "docs" / "http-api.md").read_text("utf-8")
DONE = {"success": 1, "user_group": {"token": "new"}}


class Failing(ThreadingHTTPServer):
    """Answers with each of ``script`` in turn: a status and headers, or None to break the connection."""

    def __init__(self, *script: tuple[int, dict[str, str]] | None) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.script = list(script)
        self.seen: list[tuple[str | None, bytes]] = []


class _Handler(BaseHTTPRequestHandler):
    server: Failing

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.seen.append((self.headers["Idempotency-Key"], body))
        step = self.server.script.pop(0)
        if step is None:
            self.connection.shutdown(socket.SHUT_RDWR)
            return
        status, headers = step
        answer = json.dumps(DONE if status == 200 else {"success": 0}).encode()
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(answer))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *given: object) -> None:
        """Says nothing."""


@pytest.fixture(params=["urllib3", "tenacity"])
def recipe(request: pytest.FixtureRequest) -> Any:
    """The function ``rotate(url, api_token, current_token)`` of the block that imports this library."""
    blocks = re.findall(r"```python\n(.*?)```", DOCS, re.DOTALL)
    (text,) = [each for each in blocks if f"import {request.param}\n" in each]
    names: dict[str, Any] = {}
    exec(compile(text.partition("\nrotated = ")[0], "http-api.md", "exec"), names)
    return names["rotate"]


@pytest.fixture
def failing() -> Iterator[Any]:
    made: list[Failing] = []

    def start(*script: Any) -> Failing:
        server = Failing(*script)
        made.append(server)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        return server

    yield start
    for server in made:
        server.shutdown()
        server.server_close()


def test_what_passes_is_sent_again(recipe: Any, failing: Any) -> None:
    """A broken connection, a store that is down and a first request that still runs: the same key and body each time.

    Red when 409 is not among the statuses of the recipe, and when the key is drawn for each attempt.
    """
    busy = {"Retry-After": "0"}
    server = failing(None, (503, busy), (409, busy), (200, {}))
    answer = recipe(f"http://127.0.0.1:{server.server_port}", "secret", "old")
    assert json.loads(answer) == DONE
    assert server.script == []
    assert len(set(server.seen)) == 1
    assert server.seen[0][0]


def test_a_date_is_a_time_to_try_again(recipe: Any, failing: Any) -> None:
    """A proxy may write Retry-After as a date (RFC 9110 section 10.2.3). Red when it is read as a number alone."""
    server = failing((503, {"Retry-After": "Sun, 06 Nov 1994 08:49:37 GMT"}), (200, {}))
    assert json.loads(recipe(f"http://127.0.0.1:{server.server_port}", "secret", "old")) == DONE


def test_what_never_passes_is_given_back(recipe: Any, failing: Any) -> None:
    """After six attempts the last answer is the answer. Red where the library raises an error of its own instead."""
    server = failing(*[(503, {"Retry-After": "0"})] * 9)
    assert json.loads(recipe(f"http://127.0.0.1:{server.server_port}", "secret", "old")) == {"success": 0}
    assert len(server.seen) == 6
    assert len(set(server.seen)) == 1


def test_what_does_not_pass_is_not(recipe: Any, failing: Any) -> None:
    """409 without Retry-After: another rotation won."""
    server = failing((409, {}))
    assert json.loads(recipe(f"http://127.0.0.1:{server.server_port}", "secret", "old")) == {"success": 0}
    assert len(server.seen) == 1
