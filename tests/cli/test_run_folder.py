"""The run folder of the file holds for every command and for all that it starts."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import httpx2
import pytest

from tests.cli.conftest import Terminal
from tests.cli.serving import serving


def test_the_file_names_it(terminal: Terminal, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A write marks its group there. Red when the setting is read and not passed on."""
    monkeypatch.delenv("TENANTRY_RUN_DIR")
    (folder / "tenantry.toml").write_text(f'run_dir = "{folder / "here"}"\n')
    terminal("keys", "new")
    terminal("migrate")
    terminal("environment", "create", "production", "--tag", "Customer")
    terminal("group", "create", "acme")
    terminal("group", "rotate", "acme")
    assert len(list((folder / "here").glob("*.slots"))) == 1
    assert os.environ["TENANTRY_RUN_DIR"] == str(folder / "here")  # for what this command would start


def test_workers_and_commands_meet_in_one(ready: Terminal, folder: Path) -> None:
    """Two workers and the command line, one file. Red when a worker makes a folder of its own."""
    with serving(folder, "--workers", "2") as server:
        secret = ready("api-token", "create").out.strip()
        ready("group", "create", "acme")
        token = ready("group", "rotate", "acme").out.strip()
        headers = {"Authorization": f"Token {secret}"}
        answer = httpx2.post(f"{server.url}/api/user", json={"current_token": token}, headers=headers, timeout=120)
        assert answer.status_code == 200
        server.ended(signal.SIGTERM)
    assert len(list((folder / "run").glob("*.slots"))) == 1


def test_a_relative_one_is_refused(ready: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    """It would be another folder to each process; the error names the variable. The store is not available then."""
    ready("group", "create", "acme")
    monkeypatch.setenv("TENANTRY_RUN_DIR", "run")
    result = ready("group", "rotate", "acme", fails=3)
    assert "TENANTRY_RUN_DIR" in result.err
