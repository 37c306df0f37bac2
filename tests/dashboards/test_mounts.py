"""The tests of dashboards that speak HTTP run in every mount."""

from __future__ import annotations

import re
from pathlib import Path

from tests.dashboards.mounts import MOUNTS

HERE = Path(__file__).parent
SPEAKS_HTTP = re.compile(r"\bserve\(|\bmount_dashboards\(|helpers import .*\b(?:client|get)\b|\bPreviewed\b")
"""What serves dashboards in a test."""
TAKES_PART = re.compile(r'usefixtures\("mount(?:_inside)?"\)|mounts\.MOUNTS|params=\[mounts\.')


def test_there_are_four_mounts() -> None:
    """Red when one is taken out."""
    assert [each.name for each in MOUNTS] == ["bare", "inside", "prefixed", "fastapi"]


def test_each_module_that_serves_dashboards_runs_in_the_mounts() -> None:
    """Red for a new module without ``usefixtures("mount")``."""
    modules = [file for file in HERE.rglob("test_*.py") if file != Path(__file__)]
    serving = [file for file in modules if SPEAKS_HTTP.search(file.read_text())]
    assert len(serving) > 12
    assert [file.name for file in serving if not TAKES_PART.search(file.read_text())] == []
