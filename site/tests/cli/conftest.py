"""A terminal in an empty folder."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from tenantry_site.cli.commands import site


@dataclass
class Output:
    """What a command printed and how it ended."""

    out: str
    err: str
    code: int

    def json(self) -> Any:
        return json.loads(self.out)


Terminal = Callable[..., Output]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working folder, and no setting of whoever runs the tests."""
    for name in ("HOST", "PORT"):
        monkeypatch.delenv(f"TENANTRY_{name}", raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def terminal(folder: Path) -> Terminal:
    """Runs ``tenantry-site …`` there: ``terminal("check", "docs")``."""

    def run(*words: str, given: str | None = None, fails: int = 0) -> Output:
        done = CliRunner().invoke(site, list(words), input=given, prog_name="tenantry-site")
        reported = Output(done.stdout, done.stderr, done.exit_code)
        assert done.exit_code == fails, reported
        assert "Traceback" not in reported.err
        return reported

    return run
