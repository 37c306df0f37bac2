"""The world of a test, and the relay in it."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tenantry_site.relay import Relay, dial
from tests.relay.stage import World, world


@pytest.fixture(scope="module")
async def listening() -> AsyncIterator[World]:
    """Canaries, and an allowed server that says hello."""
    async with world() as made:
        yield made


@pytest.fixture
def stage(listening: World, monkeypatch: pytest.MonkeyPatch) -> World:
    """The same, with nothing counted yet."""
    listening.forget()
    monkeypatch.setattr(dial, "open_socket", listening.open_socket)
    return listening


@pytest.fixture
def relay(stage: World) -> Relay:
    """It may reach a name on the canaries' ports, as long as the name is public, and the allowed server."""
    return relay_of(stage)


def relay_of(stage: World) -> Relay:
    ports = (stage.canary.port, stage.canary6.port)
    public = ["https://api.allowed.test", *(f"http://api.allowed.test:{port}" for port in ports)]
    return Relay(public, [f"http://127.0.0.1:{stage.allowed.port}"], resolve=stage.resolve)
