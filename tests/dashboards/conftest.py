"""The mounts in which the tests of dashboards run."""

from __future__ import annotations

import pytest

from tests.dashboards import mounts


@pytest.fixture(params=mounts.MOUNTS, ids=[each.name for each in mounts.MOUNTS])
def mount(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> mounts.Mounting:
    """How the app of this test mounts its dashboards. A module takes part by ``usefixtures("mount")``."""
    return use(request.param, monkeypatch)


@pytest.fixture(params=[mounts.INSIDE, mounts.FASTAPI], ids=[mounts.INSIDE.name, mounts.FASTAPI.name])
def mount_inside(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> mounts.Mounting:
    """The same, for tests of what a middleware of the whole app does."""
    return use(request.param, monkeypatch)


def use(mount: mounts.Mounting, monkeypatch: pytest.MonkeyPatch) -> mounts.Mounting:
    monkeypatch.setattr(mounts, "current", mount)
    return mount
