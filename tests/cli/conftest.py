"""A terminal in an empty folder, and a store that is ready."""

from __future__ import annotations

import pytest

from engines.terminal import CommandResult, Terminal, folder, terminal

__all__ = ["CommandResult", "Terminal", "folder", "ready", "terminal"]


@pytest.fixture
def ready(terminal: Terminal) -> Terminal:
    """The same, with a key file, a store and one environment."""
    terminal("keys", "new")
    terminal("migrate")
    terminal("environment", "create", "production", "--tag", "Customer")
    return terminal
