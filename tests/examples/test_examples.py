"""Each example runs as its reader would run it, and prints what its words promise."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"

SAYS = {
    "mount_starlette.py": ["Acme Ltd sees the region eu", "Globex Inc sees the region us", "without a token: 401"],
    "mount_fastapi.py": [
        "header: {'id': 'acme'",
        "query: {'id': 'acme'",
        "cookie: {'id': 'acme'",
        "token: 401",
        "websocket: Acme Ltd in eu",
        "another site: 403",
    ],
    "wrap_renderer.py": [
        "200 <h1>Sales of Acme &lt;Ltd&gt;</h1>",
        "422",
        "region",
        "frame-ancestors https://app.example",
    ],
    "sql_at_render.py": ["region = ? and status in (?, ?)", "{'id': 1, 'amount': 10.0}", "\"' or '1'='1\"", "[]"],
    "custom_backend.py": ["resolved: Acme Ltd", "refused:"],
}


def test_every_example_is_here() -> None:
    """No example goes untested."""
    assert {path.name for path in EXAMPLES.glob("*.py")} == set(SAYS)


@pytest.mark.parametrize("name", SAYS)
def test_example_runs(name: str, tmp_path: Path) -> None:
    """It exits with 0, warns of nothing, and says what it shows."""
    done = subprocess.run(
        [sys.executable, "-W", "error", EXAMPLES / name],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": ""},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    for words in SAYS[name]:
        assert words in done.stdout
    assert list(tmp_path.iterdir()) == [], "an example leaves nothing behind"
