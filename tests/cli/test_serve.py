"""``tenantry serve`` as a process of its own."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from engines.warm_python import Popen
from tests.cli.conftest import Terminal


@pytest.fixture
def server(ready: Terminal, folder: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A running ``tenantry serve`` on a free port, and its address."""
    process = Popen(
        [sys.executable, "-m", "tenantry", "serve", "--port", "0"],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    line = process.stderr.readline()
    match = re.search(r"http://[^/]+", line)
    assert match is not None, line + process.stderr.read()
    yield process, match[0]
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)
    process.communicate(timeout=120)


def test_serve_answers_and_stops(ready: Terminal, server: tuple[subprocess.Popen[str], str]) -> None:
    """A holder of an API token gets a group; nothing on stdout, no token anywhere; it ends on SIGTERM."""
    process, url = server
    secret = ready("api-token", "create").out.strip()
    with httpx2.Client(base_url=url, headers={"Authorization": f"Token {secret}"}, timeout=120) as client:
        answer = client.request("GET", "/api/user", json={"user_group_id": "acme"})
        assert answer.json()["new_user_group"] is True
        token = answer.json()["user_group"]["token"]
        assert client.get("/nope").json()["error"]["code"] == "not_found"
        assert client.get("/readyz").status_code == 200
    assert ready("group", "get", "acme", "--token").out.strip() == token
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0
    assert out == ""
    assert token not in err
    assert secret not in err


def test_a_revoked_api_token_dies_at_once(ready: Terminal, server: tuple[subprocess.Popen[str], str]) -> None:
    """Another process revokes; the next call is refused. Red when the server caches API tokens."""
    _, url = server
    made = json.loads(ready("api-token", "create", "--json").out)
    with httpx2.Client(base_url=url, headers={"Authorization": f"Token {made['api_token']}"}, timeout=120) as client:
        assert client.request("GET", "/api/user", json={"user_group_id": "acme"}).status_code == 200
        ready("api-token", "revoke", str(made["id"]))
        assert client.request("GET", "/api/user", json={"user_group_id": "acme"}).status_code == 401


def test_a_taken_port_is_named(ready: Terminal, server: tuple[subprocess.Popen[str], str]) -> None:
    """The error says which port, and what to do."""
    port = server[1].rsplit(":", 1)[1]
    result = ready("serve", "--port", port, fails=1)
    assert port in result.err
    assert "--port" in result.err


def test_a_demo_on_a_taken_port_changes_nothing(
    ready: Terminal, server: tuple[subprocess.Popen[str], str], tmp_path: Path
) -> None:
    """The demo that runs keeps its API token. Red when the folder is prepared before the port is taken."""
    folder = tmp_path / "demo"
    result = ready("demo", "--folder", str(folder), "--port", server[1].rsplit(":", 1)[1], fails=1)
    assert "--port" in result.err
    assert not folder.exists()


def test_serve_without_keys_says_what_to_run(terminal: Terminal) -> None:
    """No key is ever made by accident."""
    assert "tenantry keys new" in terminal("serve", fails=1).err
