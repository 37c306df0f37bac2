"""The mounts in which the tests of dashboards run."""

from __future__ import annotations

import pytest

from tests.dashboards import mounts


@pytest.fixture(params=mounts.MOUNTS, ids=[each.name for each in mounts.MOUNTS])
def mount(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> mounts.Mounting:
    """How the app of this test mounts its dashboards. A module takes part by ``usefixtures("mount")``."""
    monkeypatch.setattr(mounts, "current", request.param)
    current: mounts.Mounting = request.param
    return current
