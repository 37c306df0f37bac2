"""S20: slow clients. Two hundred in each of four ways against ``tenantry serve``, and against a bare uvicorn."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

import psutil

from benchmarks.acceptance.check import Check, Effort, Measured
from benchmarks.acceptance.fleet.child import Child, free_port
from benchmarks.acceptance.fleet.host import Server
from benchmarks.acceptance.fleet.line import Line, request, status
from benchmarks.acceptance.fleet.site import Site

if TYPE_CHECKING:
    from engines.slow_clients import SlowClients

_CLIENTS: Final = 200
_LIMIT: Final = 10.0
"""Seconds that a head may take, by default; also how long the others are given."""

_TOLERANCE: Final = 3.0
"""Seconds in which a machine that does much else gets around to closing them."""

Crowd = Callable[[tuple[str, int]], "SlowClients"]


def held(effort: Effort) -> Measured:
    """Connections that are still held after the limit, and whether an honest caller was answered all the while."""
    with Site() as site:
        host = site.host()
        operator = site.operator(host)
        server = host.serve(site.database)
        headers = {"authorization": f"Token {operator.secret}", "connection": "close"}
        asked = request("POST", "/api/user", headers, {"user_group_id": "acme"})
        left, slowest = {}, 0.0
        for name, crowd in _crowds().items():
            effort.say(name)
            left[name], waited = _attack(crowd, server, asked)
            slowest = max(slowest, waited)
        effort.say("control: a bare uvicorn")
        control = _control(_crowds()["slow heads"])
    figure = (
        f"{sum(left.values())} of {len(left) * _CLIENTS} held after {_LIMIT:.0f} s; an honest caller answered within "
        f"{slowest:.1f} s (control: {control} of {_CLIENTS} held)"
    )
    return Measured(figure, not any(left.values()) and control == _CLIENTS, {"left": left, "slowest": slowest})


def _crowds() -> Mapping[str, Crowd]:
    from engines.slow_clients import SlowBody, SlowHeaders, SlowReaders, Upgrades

    return {
        "slow heads": lambda address: SlowHeaders(address, _CLIENTS),
        "slow bodies": lambda address: SlowBody(address, _CLIENTS, "/api/user"),
        "slow readers": lambda address: SlowReaders(address, _CLIENTS, "/openapi.json", times=10),
        "websockets": lambda address: Upgrades(address, _CLIENTS),
    }


def _attack(crowd: Crowd, server: Server, asked: bytes) -> tuple[int, float]:
    """How many are left after the limit, and the longest that an honest caller, who comes anew each time, waited."""
    slowest = 0.0
    with crowd(("127.0.0.1", server.port)) as clients:
        ends = time.monotonic() + _LIMIT + _TOLERANCE
        while time.monotonic() < ends:
            clients.step()
            with Line(server.port) as line:
                line.send(asked)
                answer = line.receive()
            if answer.status != 200:
                raise RuntimeError(f"an honest caller got {answer.status}")
            slowest = max(slowest, answer.seconds)
            time.sleep(0.1)
        return _held(server.child), slowest


def _held(server: Child | None) -> int:
    """The connections that the process has open. A client cannot tell: what was sent to it may wait in its kernel."""
    if server is None:
        return 0
    return sum(bool(each.raddr) for each in psutil.Process(server.pid).net_connections("tcp"))


def _control(crowd: Crowd) -> int:
    """How many a bare uvicorn still holds."""
    with tempfile.TemporaryDirectory(prefix="tenantry-slow-") as name:
        port = free_port()
        words = [
            "uvicorn",
            "benchmarks.acceptance.attacks.template_app:app",
            "--port",
            str(port),
            "--log-level",
            "error",
        ]
        server = Child(words, log=Path(name) / "log")
        try:
            server.wait_until(lambda: status(port) > 0)
            with crowd(("127.0.0.1", port)) as clients:
                clients.last(_LIMIT + _TOLERANCE)
                return _held(server)
        finally:
            server.stop()


CHECKS = (Check("S20", "Slow clients held longer than allowed; honest ones answered", "0; yes", held, (150, 150)),)
