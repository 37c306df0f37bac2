"""The relay that stands before the databases of some tests."""

from __future__ import annotations

import asyncio
import socket
from asyncio import selector_events
from contextlib import ExitStack
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.backends.store.proxy import proxied


@pytest.mark.parametrize("steps", range(8))
def test_a_closed_relay_leaves_no_connection_open(steps: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Clients connect while it closes, at any step of the event loop. Red when it stops listening after
    it has closed all, without ``remove_reader`` or ``sleep``, and without ``_closed``: the garbage collector
    found the connections in later tests."""
    made: list[Any] = []
    transport: Any = selector_events._SelectorSocketTransport  # type: ignore[attr-defined]

    class Recorded(transport):  # type: ignore[misc]
        def __init__(self, *args: Any, **options: Any) -> None:
            made.append(self)
            super().__init__(*args, **options)

    async def use(stack: ExitStack) -> None:
        async with await asyncio.start_server(lambda reader, writer: writer.close(), "127.0.0.1", 0) as server:
            port = server.sockets[0].getsockname()[1]
            async with proxied(f"postgresql://user@127.0.0.1:{port}/database") as (_, url):
                for _ in range(5):
                    stack.enter_context(socket.create_connection(("127.0.0.1", urlsplit(url).port or 0)))
                for _ in range(steps):
                    await asyncio.sleep(0)

    monkeypatch.setattr(selector_events, "_SelectorSocketTransport", Recorded)
    with ExitStack() as stack:
        asyncio.run(use(stack))
    assert [each for each in made if each._sock is not None] == []
