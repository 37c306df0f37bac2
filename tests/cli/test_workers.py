"""``tenantry serve --workers N``."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx2
import psutil
import pytest

from engines.warm_interpreter import FORKER
from tests.cli.conftest import Terminal
from tests.cli.serving import Server, client, serving
from tests.server.metrics.conftest import samples

pytestmark = pytest.mark.slow


def _workers(server: Server) -> set[int]:
    """The processes that serve; multiprocessing has one more, which keeps track of resources, and
    engines/warm_python.py one that forks them."""
    found = set()
    for each in psutil.Process(server.process.pid).children():
        with contextlib.suppress(psutil.NoSuchProcess):  # or a zombie, which is one
            if "resource_tracker" not in " ".join(each.cmdline()) and each.name() != FORKER.decode():
                found.add(each.pid)
    return found


def _wait(until: Callable[[], bool]) -> None:
    for _ in range(2_400):
        if until():
            return
        time.sleep(0.05)
    raise AssertionError("it did not come about")


def test_workers_share_a_port_and_are_replaced_one_by_one(ready: Terminal, folder: Path) -> None:
    """Each connection goes to either, and ``/metrics`` of one counts both: red when a worker reports its own only.
    At SIGHUP others take their place, with somebody listening all the time, and read the keys again: red when the
    signal is not passed on."""
    secret = ready("api-token", "create").out.strip()
    with serving(folder, "--workers", "2", "--metrics", "--drain-seconds", "0") as server:
        _wait(lambda: len(_workers(server)) == 2)
        for _ in range(20):
            with client(server, secret) as caller:  # a connection each
                assert caller.request("GET", "/api/user", json={"user_group_id": "acme"}).status_code == 200
        text = httpx2.get(f"{server.url}/metrics", timeout=120).text
        labels = (("code", "ok"), ("operation", "get_or_create"), ("status", "200"))
        assert samples(text)["tenantry_api_requests_total", labels] == 20

        first = _workers(server)
        ready("keys", "rotate")
        server.process.send_signal(signal.SIGHUP)
        _wait(lambda: len(_workers(server)) == 2 and not _workers(server) & first)
        with client(server, secret) as caller:
            made = caller.request("GET", "/api/user", json={"user_group_id": "new"}).json()
        assert made["user_group"]["token"].startswith("ugtc_k2_")
        log = server.ended(signal.SIGTERM)
    assert secret not in log
    assert "Traceback" not in log


def test_a_dead_worker_is_replaced_and_none_outlives_the_supervisor(ready: Terminal, folder: Path) -> None:
    """While one is replaced the other goes on: red when nobody looks after them. They end when their supervisor is
    killed: nobody could end them any more, and they hold the port. Red when they do not look after it."""
    with serving(folder, "--workers", "2", "--drain-seconds", "0") as server:
        _wait(lambda: len(_workers(server)) == 2)
        first = _workers(server)
        os.kill(min(first), signal.SIGKILL)
        _wait(lambda: len(_workers(server)) == 2 and _workers(server) != first)
        assert httpx2.get(f"{server.url}/healthz", timeout=120).status_code == 200
        _wait(lambda: "starting another" in server.log())

        workers = _workers(server)
        server.process.kill()
        server.process.wait()
        try:
            _wait(lambda: not any(psutil.pid_exists(each) for each in workers))
        finally:
            for each in filter(psutil.pid_exists, workers):
                os.kill(each, signal.SIGKILL)


def test_every_worker_follows_the_key_file(ready: Terminal, folder: Path) -> None:
    """Without a signal: a new key signs in both, and one that was removed is gone from both within the staleness bound.
    A file that is damaged or gone changes nothing, and ``/readyz`` of each tells it. Red when a worker reads the file
    at its start alone."""
    secret = ready("api-token", "create", "--scope", "provision", "--scope", "introspect").out.strip()
    keys = folder / "tenantry.keys"

    def answers(method: str, path: str, **body: Any) -> list[httpx2.Response]:
        """Of enough connections that each worker has some."""
        found = []
        for _ in range(10):
            with client(server, secret) as caller:
                found.append(caller.request(method, path, **body))
        return found

    def active(token: str) -> set[bool]:
        return {each.json()["active"] for each in answers("POST", "/oauth/introspect", data={"token": token})}

    with serving(folder, "--workers", "2", "--drain-seconds", "0") as server:
        (made,) = {
            each.json()["user_group"]["token"] for each in answers("GET", "/api/user", json={"user_group_id": "a"})
        }
        ready("keys", "rotate")
        # Ten connections may all come to one worker of a busy machine: the log tells when both have seen it.
        _wait(lambda: bool(answers("GET", "/readyz")) and server.log().count("the active key is k2;") == 2)
        _wait(lambda: _made(server, secret).startswith("ugtc_k2_"))
        assert active(_made(server, secret)) == {True}
        assert active(made) == {True}
        ready("keys", "remove", "k1", "--force")
        removed = time.monotonic()
        _wait(lambda: active(made) == {False} and server.log().count("; k1 removed") == 2)
        assert time.monotonic() - removed < 60  # of a busy machine; each look is a second old at most
        assert {each.status_code for each in answers("GET", "/api/user", json={"user_group_id": "a"})} == {409}
        whole = keys.read_bytes()
        for harm in (lambda: keys.write_bytes(whole[:-30]), keys.unlink):
            harm()
            token = _made(server, secret)
            _wait(lambda: all(each.json().get("degraded") == _UNREADABLE for each in answers("GET", "/readyz")))
            assert active(token) == {True}
        # A damaged file and one that is gone have the same ``degraded``: the log tells when both have seen the second.
        _wait(lambda: bool(answers("GET", "/readyz")) and server.log().count("there is no signing-key file") == 2)
        keys.write_bytes(whole)
        keys.chmod(0o600)
        _wait(lambda: all("degraded" not in each.json() for each in answers("GET", "/readyz")))
        log = server.ended(signal.SIGTERM)
    assert log.count("the active key is k2; the keys are k2; k1 removed") == 2
    assert log.count("there is no signing-key file") == 2  # and no more: once for each worker
    assert whole.split()[-1].decode() not in log


_UNREADABLE = ["SigningKeys: unreadable"]


def _made(server: Server, secret: str) -> str:
    """The token of a new group."""
    with client(server, secret) as caller:
        answer = caller.request("GET", "/api/user", json={"user_group_id": f"g{time.monotonic_ns()}"})
    token: str = answer.json()["user_group"]["token"]
    return token


@pytest.mark.parametrize("wrong", ["0", "257"])
def test_a_number_of_workers_that_is_none(ready: Terminal, wrong: str) -> None:
    """Refused, with the name of the option."""
    assert "--workers" in ready("serve", "--workers", wrong, fails=2).err
