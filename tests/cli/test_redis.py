"""``tenantry serve --redis URL`` notifies a bus and voids the second-level cache."""

from __future__ import annotations

import asyncio
import signal
from pathlib import Path

from engines.valkey import Valkey
from tenantry.backends.buses import RedisBus
from tenantry.tokens.keys import SigningKeys
from tests.cli.conftest import Terminal
from tests.cli.serving import client, serving


class Evictions:
    """Which handles a bus reported."""

    def __init__(self) -> None:
        self.connected = asyncio.Event()
        self.evicted: asyncio.Queue[bytes] = asyncio.Queue()

    def evict(self, handle: bytes, generation: int) -> None:
        self.evicted.put_nowait(handle)

    def flush(self) -> None:
        self.connected.set()


async def test_a_rotation_is_told(ready: Terminal, folder: Path, valkey: Valkey) -> None:
    """On the bus with its handle, and as a tombstone in the cache, without any secret.

    Red when ``serve`` subscribes nothing to its store.
    """
    secret = (await asyncio.to_thread(ready, "api-token", "create")).out.strip()
    evictions = Evictions()
    following = asyncio.create_task(RedisBus(valkey.url).follow(evictions))
    try:
        await asyncio.wait_for(evictions.connected.wait(), 120)
        token = await asyncio.to_thread(_rotate, folder, secret, valkey.url)
        handle = SigningKeys.from_file(folder / "tenantry.keys").read(token).handle
        assert await asyncio.wait_for(evictions.evicted.get(), 120) == handle
    finally:
        following.cancel()
        await asyncio.gather(following, return_exceptions=True)
    stored = "".join(valkey.stored())
    assert stored
    assert token not in stored
    assert token[-20:] not in stored


def _rotate(folder: Path, secret: str, redis: str) -> str:
    """And the server ended: what it had to publish is published by then."""
    with serving(folder, "--redis", redis) as server:
        with client(server, secret) as caller:
            made = caller.request("GET", "/api/user", json={"user_group_id": "acme"}).json()
            token: str = made["user_group"]["token"]
            assert caller.post("/api/user", json={"current_token": token}).status_code == 200
        assert "Traceback" not in server.ended(signal.SIGTERM)
    return token


def test_a_wrong_url_is_named_without_its_password(ready: Terminal) -> None:
    """Before the server starts."""
    result = ready("serve", "--port", "0", "--redis", "nonsense://user:canary@127.0.0.1/0", fails=1)
    assert "[invalid_settings]" in result.err
    assert "canary" not in result.err
