"""SIGTERM: ``/readyz`` says so, requests go on for a while, and none that was accepted is dropped."""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path

import httpx2
import pytest

from tests.cli.conftest import Terminal
from tests.cli.serving import Server, serving

pytestmark = pytest.mark.slow

CALLERS = 8
LATER = 0.7


class Load:
    """Callers that ask again and again, half of them each time on a new connection."""

    def __init__(self, server: Server, secret: str) -> None:
        self._url = server.url
        self._headers = {"Authorization": f"Token {secret}"}
        self.answers: list[int] = []
        self.dropped: list[str] = []
        self.stopped = False

    async def ask(self, *, keep_alive: bool) -> None:
        """Until some time after ``/readyz`` said that the server drains: who spreads the load asks it now and then."""
        connections = httpx2.Limits(max_keepalive_connections=1 if keep_alive else 0)
        async with httpx2.AsyncClient(base_url=self._url, limits=connections, timeout=120) as client:
            while not self.stopped:
                try:
                    body = {"user_group_id": "acme"}
                    answer = await client.request("GET", "/api/user", json=body, headers=self._headers)
                except httpx2.TransportError as error:
                    self.dropped.append(repr(error))
                else:
                    self.answers.append(answer.status_code)

    async def watch(self) -> list[tuple[int, str | None]]:
        """What ``/readyz`` said, one after another."""
        answers = []
        async with httpx2.AsyncClient(base_url=self._url, timeout=120) as client:
            while True:
                try:
                    answer = await client.get("/readyz")
                except httpx2.TransportError:
                    self.stopped = True
                    return answers
                document = answer.json()
                if answer.status_code == 503 and not self.stopped:
                    asyncio.get_running_loop().call_later(LATER, setattr, self, "stopped", True)
                answers.append((answer.status_code, document.get("error", {}).get("code")))
                await asyncio.sleep(0.02)


@pytest.mark.parametrize("workers", [1, 2])
async def test_nothing_accepted_is_dropped(ready: Terminal, folder: Path, workers: int) -> None:
    """Eight callers during a SIGTERM: everything that was asked before readiness went off, and a while after, is
    answered 200.

    Red when the server stops listening at once, as uvicorn does: connections break, and ``/readyz`` never says so.
    The drain is longer than a busy machine holds up a caller; the second SIGTERM, when all have been answered, ends it.
    """
    secret = (await asyncio.to_thread(ready, "api-token", "create")).out.strip()
    with serving(folder, "--drain-seconds", "300", "--workers", str(workers)) as server:
        load = Load(server, secret)
        callers = [asyncio.create_task(load.ask(keep_alive=number % 2 == 0)) for number in range(CALLERS)]
        watching = asyncio.create_task(load.watch())
        while len(load.answers) < 200:
            await asyncio.sleep(0.01)
        server.process.send_signal(signal.SIGTERM)
        await asyncio.gather(*callers)
        server.process.send_signal(signal.SIGTERM)
        answers = await watching
        await asyncio.to_thread(server.ended)
    assert load.dropped == []
    assert set(load.answers) == {200}
    assert (200, None) in answers
    assert (503, "draining") in answers
    assert answers[-1] == (503, "draining")


def test_sigint_does_not_wait(ready: Terminal, folder: Path) -> None:
    """Somebody at a terminal: the drain is for supervisors. Red when SIGINT waits for the drain (five minutes)."""
    with serving(folder, "--drain-seconds", "300") as server:
        assert "Traceback" not in server.ended(signal.SIGINT)


def test_a_second_sigterm_does_not_wait(ready: Terminal, folder: Path) -> None:
    """Red when the drain is not broken off."""
    with serving(folder, "--drain-seconds", "300") as server:
        with httpx2.Client(base_url=server.url, timeout=120) as client:
            assert client.get("/readyz").status_code == 200  # it has said where it is before it looks after signals
            server.process.send_signal(signal.SIGTERM)
            while client.get("/readyz").status_code == 200:
                os.sched_yield()
        assert "Traceback" not in server.ended(signal.SIGTERM)
