"""A terminal in an empty folder, and a store that is ready."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from engines.terminal import CommandResult, Terminal, folder, terminal

__all__ = ["CommandResult", "Terminal", "folder", "prepared", "ready", "terminal"]


@pytest.fixture(scope="session")
def prepared() -> dict[str, bytes]:
    """The files of the first ``ready`` in SQLite, which the others copy: to migrate takes longer than most commands."""
    return {}


@pytest.fixture
def ready(terminal: Terminal, folder: Path, prepared: dict[str, bytes]) -> Terminal:
    """The same, with a key file, a store and one environment."""
    if prepared and "TENANTRY_DATABASE" not in os.environ:
        for name, content in prepared.items():
            (folder / name).touch(0o600)
            (folder / name).write_bytes(content)
        return terminal
    others = set(folder.iterdir())
    terminal("keys", "new")
    terminal("migrate")
    terminal("environment", "create", "production", "--tag", "Customer")
    if "TENANTRY_DATABASE" not in os.environ:
        prepared |= {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file() and path not in others}
    return terminal
