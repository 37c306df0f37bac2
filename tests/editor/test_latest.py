"""Requests while an author types: a pause, one at a time, and only the newest answer counts."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.clients.languages import node

LATEST = Path(__file__).parents[2] / "frontend" / "src" / "editor" / "latest.js"
CASES = Path(__file__).with_name("latest.mjs")
EXPECTED = {
    "pause": ["sent abc", "used for abc"],
    "older": ["sent a", "sent ab", "used for ab"],
    "one": ["sent a", "a comes", "sent abc", "used for abc"],
    "failure": ["sent a", "failed of a", "sent ab", "used for ab"],
}


@pytest.mark.parametrize("case", EXPECTED)
def test_what_is_sent_and_used(case: str) -> None:
    """``older`` and ``one`` are red if an answer counts although there was another call; ``one`` is red if a request
    does not wait for the one under way."""
    command = [*node().command, str(CASES), str(LATEST), case]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == EXPECTED[case]
