"""``tenantry serve`` under slow clients, with 64 file descriptors in all: the three modes of slowhttptest, and requests
for a websocket.

Each test is red without the connection factory in ``tenantry.server.uvicorn`` (checked by taking it out): the honest
caller then waits until his time is up, and the log says nothing.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager
from importlib import import_module
from pathlib import Path

import httpx2
import pytest

from engines.http_protocols import NAMES, variables
from engines.slow_clients import SlowHeaders, Slowhttptest, Upgrades
from tests.cli.conftest import Terminal, folder, prepared, ready, terminal  # noqa: F401 - fixtures
from tests.cli.serving import Server, client, serving

pytestmark = pytest.mark.slow

FILES = 64
CLIENTS = 120
SECONDS = 3


@pytest.fixture(params=NAMES)
def served(ready: Terminal, folder: Path, request: pytest.FixtureRequest) -> Iterator[tuple[Server, httpx2.Client]]:  # noqa: F811
    """A server with few file descriptors, and an honest caller of it who comes again and again."""
    secret = ready("api-token", "create").out.strip()
    with _serving(folder, variables(request.param)) as server, client(server, secret) as caller:
        yield server, caller


def _serving(folder: Path, variables: dict[str, str]) -> AbstractContextManager[Server]:  # noqa: F811
    return serving(folder, "--min-rate", "5000", variables=variables, open_files=FILES)


def _honest(caller: httpx2.Client, path: str = "/api/user") -> None:
    """One question, on a connection of its own."""
    body = {"user_group_id": "acme"}
    answer = caller.request("POST", path, json=body, headers={"Connection": "close"})
    assert answer.status_code == 200, answer.text


def test_half_open_connections(served: tuple[Server, httpx2.Client]) -> None:
    """A hundred and twenty, by hand: the caller is answered each time, the log says which limit was met."""
    server, caller = served
    with SlowHeaders(_address(server), CLIENTS) as clients:
        for _ in range(20):
            clients.step()
            _honest(caller)
    log = server.ended(signal.SIGINT)
    assert "--max-connections allows" in log
    assert "out of system resource" not in log
    assert "Traceback" not in log


@pytest.mark.parametrize("library", ["websockets", "wsproto"])
@pytest.mark.parametrize("protocol", NAMES)
def test_upgrades(ready: Terminal, folder: Path, protocol: str, library: str) -> None:  # noqa: F811
    """More than there may be, of each shape, where a library of websockets is installed: the caller is answered each
    time, and the log gives no advice about libraries.

    Red with ``ws="auto"``: 503 for the caller, by either library. Red without ``_not_about_upgrades``: two lines of log
    for each.
    """
    import_module(library)  # without it the test would prove nothing
    secret = ready("api-token", "create").out.strip()
    if library == "wsproto":  # uvicorn takes it where there is no other
        (folder / "websockets.py").write_text("raise ImportError")
    with _serving(folder, variables(protocol)) as server, client(server, secret) as caller:
        for head in Upgrades.HEADS:
            with Upgrades(_address(server), CLIENTS, head):
                for _ in range(5):
                    _honest(caller)
        log = server.ended(signal.SIGINT)
    assert "--max-connections allows" in log
    assert "WebSocket library" not in log
    assert "upgrade" not in log
    assert "Traceback" not in log


@pytest.mark.parametrize(
    ("mode", "path", "options"),
    [
        ("headers", "/api/user", ("-i", "1")),
        ("body", "/api/user", ("-i", "1", "-s", "8192", "-t", "POST")),
        ("read", "/openapi.json", ("-w", "10", "-y", "20", "-n", "1", "-z", "5", "-k", "10")),
    ],
)
def test_slowhttptest(served: tuple[Server, httpx2.Client], mode: str, path: str, options: tuple[str, ...]) -> None:
    """The program itself says that the service stayed available; the caller was answered all the while."""
    server, caller = served
    attacker, printed = Slowhttptest(), []
    arguments = ("-c", str(CLIENTS), "-r", str(CLIENTS), *options)
    attack = threading.Thread(
        target=lambda: printed.append(attacker.run(mode, server.url + path, *arguments, seconds=SECONDS))
    )
    attack.start()
    answered = 0
    while attack.is_alive():
        _honest(caller)
        answered += 1
        attack.join(0.25)
    assert answered > 0
    assert "service available:   YES" in printed[0], printed
    assert "service available:   NO" not in printed[0]
    assert "Traceback" not in server.ended(signal.SIGINT)


def _address(server: Server) -> tuple[str, int]:
    host, port = server.url.removeprefix("http://").rsplit(":", 1)
    return host, int(port)
