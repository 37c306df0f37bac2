from __future__ import annotations

import atexit
import fcntl
import json
import os
import secrets
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Lock, Thread
from typing import Any, Final

from prometheus_client.core import Metric
from prometheus_client.registry import Collector

from tenantry.server.metrics.top_groups import UsageCollector

_PUBLISH_SECONDS: Final = 1.0
_SUMMED: Final = frozenset({"counter", "histogram", "summary"})
_LOCK: Final = ".lock"


class WorkerSums(Collector):
    """Collects the metrics of all worker processes that share ``folder``. Raises OSError if the folder cannot be
    written.

    Counters and histograms are summed, including those of processes that have ended. Other metrics, and the usage of
    groups, come only from running processes and get the label ``pid``."""

    def __init__(self, folder: Path, collectors: Sequence[Collector]) -> None:
        self._folder = folder
        self._collectors = collectors
        self._begin()
        os.register_at_fork(after_in_child=self._begin)
        atexit.register(self._publish)

    def _begin(self) -> None:
        self._publishing = Lock()
        name = f"tenantry-{secrets.token_hex(8)}"
        self._file = self._folder / f"{name}.json"
        # This lock shows that the process runs: the system releases it, however the process ends.
        self._held = self._file.with_suffix(_LOCK).open("w")
        fcntl.flock(self._held, fcntl.LOCK_EX)
        Thread(target=self._publish_often, name="tenantry-metrics", daemon=True).start()

    def _publish_often(self) -> None:
        while True:
            with suppress(RuntimeError):  # a counter got a new label during the read; the next read succeeds
                self._publish()
            time.sleep(_PUBLISH_SECONDS)

    def _publish(self) -> dict[str, Any]:
        with self._publishing:  # so that no older counts replace newer ones
            own = {"pid": os.getpid(), "families": self._own()}
            with suppress(OSError):
                partial = self._file.with_suffix(".partial")
                partial.write_text(json.dumps(own), "utf-8")
                partial.replace(self._file)
            return own

    def _own(self) -> list[dict[str, Any]]:
        return [
            {
                "name": family.name,
                "documentation": family.documentation,
                "type": family.type,
                "is_summed": family.type in _SUMMED and not isinstance(collector, UsageCollector),
                "samples": [[sample.name, sample.labels, sample.value] for sample in family.samples],
            }
            for collector in self._collectors
            for family in collector.collect()
        ]

    def collect(self) -> Iterator[Metric]:
        families: dict[str, Metric] = {}
        sums: dict[tuple[str, str, tuple[tuple[str, str], ...]], float] = {}
        for process in self._processes():
            for family in process["families"]:
                name = family["name"]
                families.setdefault(name, Metric(name, family["documentation"], family["type"]))
                if not family["is_summed"] and not process["runs"]:
                    continue
                for sample, given, value in family["samples"]:
                    labels = given if family["is_summed"] else {**given, "pid": str(process["pid"])}
                    key = name, sample, tuple(labels.items())
                    sums[key] = sums.get(key, 0.0) + value
        for (name, sample, labels), value in sums.items():
            families[name].add_sample(sample, dict(labels), value)
        yield from families.values()

    def _processes(self) -> Iterator[dict[str, Any]]:
        # Write the counts to the file before they are reported: if they were lost with this process, the sum would
        # fall, and Prometheus would take that for a restart.
        yield {**self._publish(), "runs": True}
        for file in sorted(self._folder.glob("tenantry-*.json")):
            if file != self._file:
                with suppress(FileNotFoundError):
                    yield {**json.loads(file.read_text("utf-8")), "runs": _is_held(file.with_suffix(_LOCK))}


def _is_held(file: Path) -> bool:
    with file.open() as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        return False
