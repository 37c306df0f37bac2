"""``tenantry serve --workers N``."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import httpx2
import psutil
import pytest

from tests.cli.conftest import Terminal
from tests.cli.serving import Server, client, serving
from tests.metrics.conftest import samples


def _workers(server: Server) -> set[int]:
    """The processes that serve; multiprocessing has one more, which keeps track of resources."""
    found = set()
    for each in psutil.Process(server.process.pid).children():
        with contextlib.suppress(psutil.NoSuchProcess):  # or a zombie, which is one
            if "resource_tracker" not in " ".join(each.cmdline()):
                found.add(each.pid)
    return found


def _wait(until: Callable[[], bool]) -> None:
    for _ in range(2_400):
        if until():
            return
        time.sleep(0.05)
    raise AssertionError("it did not come about")


def test_workers_share_a_port_and_add_up_their_metrics(ready: Terminal, folder: Path) -> None:
    """Each connection goes to either, and ``/metrics`` of one counts both. Red when a worker reports its own only."""
    secret = ready("api-token", "create").out.strip()
    with serving(folder, "--workers", "2", "--metrics") as server:
        assert len(_workers(server)) == 2
        for _ in range(20):
            with client(server, secret) as caller:  # a connection each
                assert caller.request("GET", "/api/user", json={"user_group_id": "acme"}).status_code == 200
        text = httpx2.get(f"{server.url}/metrics", timeout=120).text
        labels = (("code", "ok"), ("operation", "get_or_create"), ("status", "200"))
        assert samples(text)["tenantry_api_requests_total", labels] == 20
        log = server.ended(signal.SIGTERM)
    assert secret not in log
    assert "Traceback" not in log


def test_a_dead_worker_is_replaced(ready: Terminal, folder: Path) -> None:
    """The other goes on meanwhile. Red when nobody looks after them."""
    with serving(folder, "--workers", "2") as server:
        first = _workers(server)
        os.kill(min(first), signal.SIGKILL)
        _wait(lambda: len(_workers(server)) == 2 and _workers(server) != first)
        assert httpx2.get(f"{server.url}/healthz", timeout=120).status_code == 200
        assert "another takes its place" in server.ended(signal.SIGTERM)


def test_sighup_replaces_them_and_reads_the_keys_again(ready: Terminal, folder: Path) -> None:
    """One by one, with somebody listening all the time. Red when the signal is not passed on."""
    secret = ready("api-token", "create").out.strip()
    with serving(folder, "--workers", "2", "--drain-seconds", "0") as server:
        first = _workers(server)
        ready("keys", "rotate")
        server.process.send_signal(signal.SIGHUP)
        _wait(lambda: len(_workers(server)) == 2 and not _workers(server) & first)
        with client(server, secret) as caller:
            made = caller.request("GET", "/api/user", json={"user_group_id": "acme"}).json()
        assert made["user_group"]["token"].startswith("ugtc_k2_")
        server.ended(signal.SIGTERM)


def test_workers_end_when_their_supervisor_is_killed(ready: Terminal, folder: Path) -> None:
    """Nobody could end them any more, and they hold the port. Red when they do not look after it."""
    with serving(folder, "--workers", "2", "--drain-seconds", "0") as server:
        workers = _workers(server)
        server.process.kill()
        server.process.wait()
        try:
            _wait(lambda: not any(psutil.pid_exists(each) for each in workers))
        finally:
            for each in filter(psutil.pid_exists, workers):
                os.kill(each, signal.SIGKILL)


@pytest.mark.parametrize("wrong", ["0", "257"])
def test_a_number_of_workers_that_is_none(ready: Terminal, wrong: str) -> None:
    """Refused, with the name of the option."""
    assert "--workers" in ready("serve", "--workers", wrong, fails=1).err
