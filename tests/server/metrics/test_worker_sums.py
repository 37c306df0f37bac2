"""The metrics of an app with two worker processes, which are the sum whichever of them is asked."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpx2
import pytest
from prometheus_client.parser import text_string_to_metric_families

from engines.ports import free_port
from engines.warm_python import Popen
from tenantry.backends.memory.store import MemoryStore
from tenantry.errors import InvalidSettings
from tenantry.metrics import metrics_app

SECONDS = 60

APP = """
import sys
import uvicorn
from starlette.applications import Starlette
from starlette.responses import Response
from starlette.routing import Route
from tenantry import Resolver
from tenantry.backends.memory.store import MemoryStore
from tenantry.errors import InvalidToken
from tenantry.metrics import TimedBackend, metrics_app
from tests.provisioning.http.conftest import make_keys

timed = TimedBackend(MemoryStore())
resolver = Resolver(timed, keys=make_keys())

async def ask(request):
    try:
        await resolver.resolve(request.query_params["token"])
    except InvalidToken:
        return Response()

app = Starlette(routes=[Route("/ask", ask), Route("/metrics", metrics_app(resolver=resolver, backend=timed))])
uvicorn.run(app, port=int(sys.argv[1]), log_level="warning")
"""


class Worker:
    """A process with the app, which counts forged tokens."""

    def __init__(self, folder: Path) -> None:
        self.port = free_port()
        environment = {**os.environ, "PROMETHEUS_MULTIPROC_DIR": str(folder)}
        self.process = Popen([sys.executable, "-c", APP, str(self.port)], env=environment)
        self.http = httpx2.Client(base_url=f"http://127.0.0.1:{self.port}", trust_env=False, timeout=SECONDS)

    def ask(self, times: int, token: str = "forged") -> None:
        for _ in range(times):
            assert self.http.get("/ask", params={"token": token}).status_code == 200

    def forged(self) -> float:
        return sum(
            sample.value
            for family in text_string_to_metric_families(self.http.get("/metrics").text)
            for sample in family.samples
            if sample.name == "tenantry_tokens_total" and sample.labels == {"outcome": "forged"}
        )

    def pids(self) -> set[str]:
        """The processes of a gauge."""
        return {
            sample.labels["pid"]
            for family in text_string_to_metric_families(self.http.get("/metrics").text)
            for sample in family.samples
            if sample.name == "tenantry_cached_tokens"
        }

    def is_up(self) -> bool:
        try:
            return self.http.get("/metrics").status_code == 200
        except httpx2.NetworkError:
            return False


@contextmanager
def running(folder: Path) -> Iterator[tuple[Worker, Worker]]:
    with ExitStack() as ending:
        workers = Worker(folder), Worker(folder)
        for worker in workers:
            ending.callback(worker.process.wait)
            ending.callback(worker.process.kill)
            ending.callback(worker.http.close)
        for worker in workers:
            until(worker.is_up, True)
        yield workers


def until(found: Callable[[], object], wanted: object) -> None:
    deadline = time.monotonic() + SECONDS
    while found() != wanted:
        assert time.monotonic() < deadline, found()
        time.sleep(0.1)


def test_both_say_the_sum(tmp_path: Path) -> None:
    """Also of a worker that was killed, whose gauges are gone. Red without ``WorkerSums``: 3 and 5, which a counter of
    Prometheus takes for a restart at each scrape."""
    with running(tmp_path) as (first, second):
        first.ask(3)
        second.ask(5)
        for worker in (first, second):
            until(worker.forged, 8.0)
            until(worker.pids, {str(first.process.pid), str(second.process.pid)})
        first.process.kill()
        first.process.wait()
        second.ask(1)
        until(second.pids, {str(second.process.pid)})
        assert second.forged() == 9.0


def test_a_worker_ends_after_its_scrape(tmp_path: Path) -> None:
    """Red when it answers with numbers that it has not published: the sum falls from 20 to those of its last
    publication, and ``increase`` counts the whole sum again."""
    with running(tmp_path) as (first, second):
        first.ask(20)
        assert first.forged() == 20.0
        first.process.kill()
        first.process.wait()
        assert second.forged() == 20.0


def test_a_folder_that_is_missing_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Red when it ends with the name of a lock."""
    monkeypatch.setenv("PROMETHEUS_MULTIPROC_DIR", str(tmp_path / "missing"))
    with pytest.raises(InvalidSettings, match=r"^PROMETHEUS_MULTIPROC_DIR: cannot write to .*/missing: No such file"):
        metrics_app(usage=MemoryStore().usage_recorder)
