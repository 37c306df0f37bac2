"""``tenantry group viewer revoke``: one viewer is cut off, here and in other processes."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from time import monotonic
from typing import Any

import pytest

from engines.warm_python import run
from tenantry import Resolver, SigningKeys, UserGroupMiddleware
from tenantry.backends.sql import SQLStore
from tenantry.middleware.long_responses import ResponseCut
from tenantry.tokens.minting import mint_pass
from tests.cli.conftest import Terminal
from tests.middleware.sockets import Socket, listening, until

STALENESS = 5.0
ENDED = "pass_revoked"


def test_a_viewer_is_revoked(ready: Terminal) -> None:
    """The audit trail says whom; the group's token is the same. Red when a revocation rotates."""
    token = ready("group", "create", "acme").out
    assert ready("group", "viewer", "revoke", "acme", "ann").out == "ann\n"
    shown = ready("group", "viewer", "revoke", "acme", "bob", "--json").json()
    assert shown.keys() == {"provided_id", "viewer_id", "revoked_before"}
    assert (shown["provided_id"], shown["viewer_id"]) == ("acme", "bob")
    assert ready("group", "create", "acme").out == token
    assert "[unknown_group]" in ready("group", "viewer", "revoke", "globex", "ann", fails=1).err
    details = [row["details"] for row in ready("audit", "--json").json() if row["action"] == "group.updated"]
    assert [each["viewer"] for each in details] == ["ann", "bob"]


@pytest.mark.parametrize("run_folder", ["the same", "another host's"])
def test_another_process_revokes(ready: Terminal, folder: Path, run_folder: str) -> None:
    """With the same run folder, a request is refused when the command has ended; without it, within the bound. What is
    open ends within the bound, and what another viewer of the group has open goes on. Red when ``with_viewer`` ignores
    the revocation."""
    token = ready("group", "create", "acme").out.strip()
    host = {} if run_folder == "the same" else {"TENANTRY_RUN_DIR": str(folder / "elsewhere")}

    def revoke() -> float:
        command = [sys.executable, "-m", "tenantry", "group", "viewer", "revoke", "acme", "ann"]
        run(command, cwd=folder, env={**os.environ, **host}, check=True, capture_output=True)
        return monotonic()

    async def check() -> None:
        store = SQLStore(os.environ.get("TENANTRY_DATABASE", f"sqlite:///{folder}/tenantry.db"))
        keys = SigningKeys.from_file(folder / "tenantry.keys")
        resolver = Resolver(store, keys=keys, staleness=STALENESS)
        ann, bob = [Opened(resolver, mint_pass(token, name).encode()) for name in ("ann", "bob")]
        for each in (ann, bob):
            await until(lambda each=each: each.is_open)
        ended = await asyncio.to_thread(revoke)
        if not host:
            assert resolver.peek(ann.raw) is None
        await until(lambda: ann.socket.closing and ann.stream.done())
        assert monotonic() - ended <= STALENESS
        assert (ann.socket.closing or {})["reason"] == ENDED
        assert (ann.socket.closing or {})["code"] == 4401
        assert ENDED in str(ann.stream.result())
        assert resolver.peek(ann.raw) is None
        bob.socket.say("still")
        await until(lambda: bob.socket.texts)
        assert not bob.stream.done()
        await asyncio.sleep(1)  # passes are good again from the next second on
        assert await resolver.resolve(mint_pass(token, "ann"))
        await bob.close()
        await ann.running
        await resolver.aclose()
        await store.aclose()

    asyncio.run(check())


class Opened:
    """A websocket and a stream that one pass has opened."""

    def __init__(self, resolver: Resolver, raw: bytes) -> None:
        self.raw = raw
        self.socket, self.sent, self.has_left = Socket(), 0, False
        self.socket.scope["headers"] = [(b"x-user-group-token", raw)]
        self.running = self.socket.open(listening, resolver)
        self.stream = asyncio.create_task(self._stream(resolver))

    @property
    def is_open(self) -> bool:
        return self.sent > 1 and bool(self.socket.sent)

    async def close(self) -> None:
        """As a viewer who leaves. Were the tasks cancelled, the stream would be checked until it is collected as
        garbage, and a check might open the closed store again."""
        self.has_left = True
        self.socket.incoming.put_nowait({"type": "websocket.disconnect", "code": 1000})
        await asyncio.gather(self.running, self.stream)

    async def _stream(self, resolver: Resolver) -> ResponseCut | None:
        cut: list[ResponseCut] = []

        async def streaming(scope: Any, receive: Any, send: Any) -> None:
            await receive()
            await send({"type": "http.response.start", "status": 200, "headers": []})
            try:
                while not self.has_left:
                    await send({"type": "http.response.body", "body": b"x", "more_body": True})
                    await asyncio.sleep(0.01)
                await send({"type": "http.response.body", "body": b""})
            except ResponseCut as error:
                cut.append(error)

        async def receive() -> Any:
            return {"type": "http.request", "body": b"", "more_body": False}

        async def send(message: Any) -> None:
            self.sent += 1

        scope = {**self.socket.scope, "type": "http", "method": "GET", "headers": [(b"x-user-group-token", self.raw)]}
        await UserGroupMiddleware(streaming, resolver=resolver)(scope, receive, send)
        return cut[0] if cut else None
