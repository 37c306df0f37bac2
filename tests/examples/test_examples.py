"""Each example runs as its reader would run it, and prints what its words promise."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from pathlib import Path

import pytest

from engines.samples import sampled
from tests.docs.environments import Environments

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
    "fastapi_router.py": [
        "with a token: {'customer': 'Acme Ltd', 'region': 'eu'}",
        "without one: 401",
        "websocket: sales of Acme Ltd",
        "UserGroupBearer: http bearer",
        "UserGroupCookie: apiKey cookie USER_GROUP_TOKEN",
        "/sales/region needs UserGroupBearer or UserGroupCookie",
        "/healthz needs -",
    ],
    "wrap_renderer.py": [
        "200 <h1>Sales of Acme &lt;Ltd&gt;</h1>",
        "422",
        "region",
        "frame-ancestors https://app.example",
    ],
    "sql_at_render.py": [
        "? = orders.region",
        "as orders where status in (?, ?)",
        "{'id': 1, 'amount': 10.0}",
        "\"' or '1'='1\"",
        "[]",
    ],
    "custom_backend.py": ["resolved: Acme Ltd", "refused:"],
    "custom_carrier.py": [
        "gateway: {'id': 'acme', 'context': 'user=alice'} Vary: X-Gateway-Context, Sec-WebSocket-Protocol",
        "websocket: acme, offered: ['chat']",
        "two tokens: 400",
        "another site: 403",
    ],
    "own_engine.py": [
        "[{'region': 'eu', 'amount': '10'}]",
        "1:1: only a query can read guarded tables, not delete",
        "data source ds_1 refused the query: OperationalError",
    ],
}


def test_every_example_is_here() -> None:
    """No example goes untested."""
    assert {path.name for path in EXAMPLES.glob("*.py")} == set(SAYS)


def _needs(name: str) -> list[str]:
    """What the first words of an example tell to install."""
    found = re.search(r"^It needs ``pip install ([^`]+)``\.$", (EXAMPLES / name).read_text("utf-8"), re.MULTILINE)
    assert found is not None
    return shlex.split(found[1])


@pytest.mark.parametrize("name", SAYS)
def test_the_list_of_examples_tells_the_same(name: str) -> None:
    """Red when an example needs more than examples/README.md says."""
    row = next(line for line in (EXAMPLES / "README.md").read_text("utf-8").splitlines() if f"({name})" in line)
    assert shlex.split(row.split("|")[-2].strip(" `")) == _needs(name)


@sampled(3)
@pytest.mark.parametrize("name", SAYS)
def test_example_runs(name: str, tmp_path: Path, environments: Environments) -> None:
    """It exits with 0, warns of nothing, and says what it shows, with nothing installed but what it names."""
    done = subprocess.run(
        [environments.python(_needs(name)), "-W", "error", EXAMPLES / name],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": ""},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    for words in SAYS[name]:
        assert words in done.stdout
    assert list(tmp_path.iterdir()) == [], "an example leaves nothing behind"
