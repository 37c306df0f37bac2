"""The alarms of docs/operating.md find their metrics, with one worker process and with two."""

from __future__ import annotations

import re
from pathlib import Path

from tenantry.testing import make_token
from tests.provisioning.http.conftest import make_keys
from tests.server.metrics.conftest import Metered, samples
from tests.server.metrics.test_worker_sums import running, until

PAGE = (Path(__file__).parents[3] / "docs/operating.md").read_text("utf-8")


def pairs(text: str) -> int:
    """How many series on the left of the documented ``and`` have one on the right with the same labels, as Prometheus
    compares them: without the labels of ``ignoring``."""
    found = re.search(r'expr: (\w+) == 0 and ignoring\(([\w, ]+)\) rate\((\w+)\{(\w+)="(\w+)"\}\[5m\]\) > 0\n', PAGE)
    assert found is not None
    gauge, ignored, counter, label, value = found.groups()

    def series(name: str, *wanted: tuple[str, str]) -> list[frozenset[tuple[str, str]]]:
        ours = [labels for (sample, labels) in samples(text) if sample == name and set(wanted) <= set(labels)]
        return [frozenset(one for one in labels if one[0] not in ignored.split(", ")) for labels in ours]

    right = series(counter, (label, value))
    return sum(left in right for left in series(gauge))


async def test_the_alarm_of_one_process(metered: Metered) -> None:
    await metered.resolver.resolve(await metered.token())
    assert pairs(await metered.text()) == 1


def test_the_alarm_of_several_processes(tmp_path: Path) -> None:
    """Red with ``ignoring(outcome)``: the gauge has the label ``pid`` and the counter has not, so ``and`` finds no pair
    and the alarm never fires."""
    with running(tmp_path) as workers:
        for worker in workers:
            worker.ask(1, make_keys().mint(make_token()))
        for worker in workers:
            until(lambda worker=worker: pairs(worker.http.get("/metrics").text), 2)
