"""Fixtures for all tests of this distribution. ``engines/`` is shared with the tests of the core."""

from __future__ import annotations

pytest_plugins = [
    "engines.memory_folder",
    "engines.garbage_collection",
    "engines.hypothesis_profile",
    "engines.terminal",
]
