"""Folders whose files one test process runs: they share a browser, and each process would start one of its own."""

from __future__ import annotations

from typing import Any

import pytest

FOLDERS = ("tests/browser/embedding/", "tests/dashboards/page/")


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
