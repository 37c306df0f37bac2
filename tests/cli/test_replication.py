"""A command that writes tells the Valkey or Redis of ``TENANTRY_REDIS`` before it ends: nobody waits for a poll."""

from __future__ import annotations

import asyncio
import socket
from pathlib import Path

import pytest

from engines.valkey import Valkey
from tenantry.backends.buses import RedisBus
from tenantry.backends.redis.entry import DIGITS
from tenantry.tokens.keys import SigningKeys
from tests.cli.conftest import Terminal
from tests.cli.test_redis import Evictions


@pytest.mark.parametrize("words", [("rotate", "acme"), ("delete", "acme", "--yes"), ("update", "acme", "--name", "A")])
async def test_a_command_tells(
    ready: Terminal, folder: Path, valkey: Valkey, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    """On the bus with the group's handle, and as a tombstone in the second-level cache, without any secret.

    Red when the command line subscribes nothing to its store.
    """
    token = (await asyncio.to_thread(ready, "group", "create", "acme")).out.strip()
    handle = SigningKeys.from_file(folder / "tenantry.keys").read(token).handle
    monkeypatch.setenv("TENANTRY_REDIS", valkey.url)
    for patience in ("buses.redis._PUBLISH_SECONDS", "redis.second_level._WRITE_SECONDS"):
        monkeypatch.setattr(f"tenantry.backends.{patience}", 60.0)
    evictions = Evictions()
    following = asyncio.create_task(RedisBus(valkey.url).follow(evictions))
    try:
        await asyncio.wait_for(evictions.connected.wait(), 120)
        result = await asyncio.to_thread(ready, "group", *words)
        assert await asyncio.wait_for(evictions.evicted.get(), 120) == handle
    finally:
        following.cancel()
        await asyncio.gather(following, return_exceptions=True)
    (key,) = valkey.stored()
    assert handle.hex() in key
    assert len(valkey.execute("GET", key)) == DIGITS  # a generation and nothing else
    assert token not in result.out


def test_a_server_that_is_down_fails_no_command(
    ready: Terminal, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The group is rotated, and the operator is told that the others hear of it later.

    Red when the bus gives up without a word.
    """
    before = ready("group", "create", "acme").out
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # and does not listen
        monkeypatch.setenv("TENANTRY_REDIS", f"redis://:canary@127.0.0.1:{taken.getsockname()[1]}/0")
        after = ready("group", "rotate", "acme")
    assert after.out.startswith("ugtc_")
    assert after.out != before
    assert "see them when they poll" in caplog.text
    assert "canary" not in after.err + caplog.text


def test_a_server_that_is_frozen_fails_no_command(
    ready: Terminal, valkey: Valkey, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """It takes connections and answers nothing, and is given up. Red when the bus gives up without a word."""
    before = ready("group", "create", "acme").out
    monkeypatch.setenv("TENANTRY_REDIS", valkey.url)
    valkey.freeze()
    try:
        after = ready("group", "rotate", "acme")
    finally:
        valkey.thaw()
    assert after.out.startswith("ugtc_")
    assert after.out != before
    assert "see them when they poll" in caplog.text
