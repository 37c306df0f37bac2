"""A terminal in an empty folder."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from tenantry.cli import commands
from tenantry.server.settings import Settings


@dataclass
class CommandResult:
    """What a command printed and how it ended."""

    out: str
    err: str
    code: int

    def json(self) -> Any:
        return json.loads(self.out)


Terminal = Callable[..., CommandResult]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working folder, and no setting of the user who runs the tests."""
    for name in Settings.model_fields:
        monkeypatch.delenv(f"TENANTRY_{name.upper()}", raising=False)
    monkeypatch.delenv("TENANTRY_CONFIG", raising=False)
    monkeypatch.setenv("TENANTRY_RUN_DIR", str(tmp_path / "run"))  # one host for each test
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def terminal(folder: Path) -> Terminal:
    """Runs ``tenantry …`` there: ``terminal("keys", "new")``."""

    def run(*arguments: str, given: str | None = None, fails: int = 0) -> CommandResult:
        done = CliRunner().invoke(commands, list(arguments), input=given, prog_name="tenantry")
        result = CommandResult(done.stdout, done.stderr, done.exit_code)
        assert done.exit_code == fails, result
        assert "Traceback" not in result.err
        return result

    return run
