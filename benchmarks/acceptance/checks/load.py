"""S16: ``/api/user`` under load, compared with a no-op app, since a rate alone only shows the speed of the machine."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from benchmarks.acceptance.check import Check, Effort, Measured
from benchmarks.acceptance.fleet.child import ROOT
from benchmarks.acceptance.fleet.line import request
from benchmarks.acceptance.fleet.site import Site
from benchmarks.harness.servers import FAST, Server, fast, pin

_TARGET: Final = 5_000
"""Answers a second, of one worker."""

_LATEST: Final = 0.010
"""Seconds, of the 99th in a hundred."""

_REFERENCE: Final = 27e-6
"""Processor seconds that the bare app takes for an answer on the machine that both targets were set on. The rescaled
targets move with it on a slower machine; the stated ones stay, and only they are met or missed."""

_BARE: Final = """
async def bare(scope, receive, send):
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
    await send({"type": "http.response.body", "body": b"ok"})
"""
_BARE_SECONDS: Final = 4


def load(effort: Effort) -> Measured:
    """One worker of ``tenantry serve``, sixteen connections kept open; with httptools and uvloop if they are there."""
    seconds = effort.pick(20, 60)
    bare = [_bare()]
    with Site() as site:
        host = site.host()
        operator = site.operator(host)
        operator.create("acme")
        server = host.serve(site.database, path=FAST if fast() else None)
        if server.child is not None:
            pin(0, server.child.pid)  # a core for each, as the bare app has it
        headers = {"Authorization": f"Token {operator.secret}"}
        asked = request("GET", "/api/user", headers, {"user_group_id": "acme"})
        command = [sys.executable, "-m", "benchmarks.harness.load", str(server.port), "16", str(seconds)]
        done = subprocess.run(command, input=asked, cwd=ROOT, stdout=subprocess.PIPE, check=False)
    if done.returncode:
        return Measured("an answer was not 200: see above", ok=False)
    bare.append(_bare())
    found: dict[str, Any] = json.loads(done.stdout)
    measured = compare(found["answers"] / found["seconds"], found["p99"], bare)
    return replace(measured, numbers={**found, **measured.numbers, "seconds": seconds, "httptools": fast()})


def compare(rate: float, p99: float, bare: list[float]) -> Measured:
    """Whether the stated targets are met, and whether they would be if they moved with the machine's speed.

    ``rate`` in answers a second, ``p99`` in seconds; ``bare``: processor seconds of an answer of a bare app, before and
    after."""
    slower = max(1.0, sum(bare) / len(bare) / _REFERENCE)
    target, latest = _TARGET / slower, _LATEST * slower
    met = "met" if rate >= target and p99 <= latest else "missed"
    return Measured(
        f"{rate:,.0f}/s, p99 {p99 * 1e3:.1f} ms, 0 errors",
        rate >= _TARGET and p99 <= _LATEST,
        {"rate": rate, "bare": bare, "slower": slower},
        f"{target:,.0f}/s, p99 {latest * 1e3:.0f} ms (a bare app takes {slower:.1f} times the reference): {met}",
    )


def _bare() -> float:
    """Processor seconds of an answer of an app that does nothing."""
    with tempfile.TemporaryDirectory(prefix="tenantry-bare-") as name:
        folder = Path(name)
        (folder / "nothing.py").write_text(_BARE)
        server = Server(folder, "import nothing", "nothing.bare", quick=fast())
        try:
            return server.load(request("GET", "/", {}), _BARE_SECONDS).processor
        finally:
            server.stop()


CHECKS = (
    Check(
        "S16",
        "GET of an existing group, one worker, 16 connections",
        "≥ 5,000/s, p99 ≤ 10 ms, 0 errors",
        load,
        (90, 150),
    ),
)
