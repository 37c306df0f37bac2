"""What the test processes run, and in which order."""

from __future__ import annotations

from typing import Any

import pytest

FOLDERS = (
    "tests/browser/embedding/",
    "tests/dashboards/page/generated/",
    "tests/dashboards/page/",
    "tests/editor/page/",
)
"""One process runs all files of each: they share a browser, and each process would start one of its own. The first name
that fits counts: generated charts take as long as half of the other pages, and a second process runs them meanwhile."""


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files with slow tests come first: the last process to end has a short file, and the others do not wait for it."""
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: item.path not in slow)


@pytest.hookimpl(optionalhook=True)  # of pytest-xdist
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """With ``--dist=loadfile``, which gives each file to one process."""
    if config.getvalue("dist") != "loadfile":
        return None
    from xdist.scheduler import LoadFileScheduling

    class Together(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return next((folder for folder in FOLDERS if nodeid.startswith(folder)), super()._split_scope(nodeid))

    return Together(config, log)
