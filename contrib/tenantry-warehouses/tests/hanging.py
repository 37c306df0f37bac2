"""A query that hangs on the server of a test, until it is stopped."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any

from tenantry.errors import QueryTimeout


async def hanging(
    ask: Callable[[], Coroutine[Any, Any, Any]], *, waiting: threading.Event, stopped: threading.Event
) -> asyncio.Task[Any]:
    """What ``ask`` began, once the server has it (``waiting``) or has been told to stop it (``stopped``). On a busy
    machine its time may be up before it came there: then another one."""
    async with asyncio.timeout(60):
        while True:
            task = asyncio.create_task(ask())
            while not (waiting.is_set() or task.done()):
                await asyncio.sleep(0.005)
            if waiting.is_set() or stopped.is_set():
                return task
            with suppress(QueryTimeout):
                await task
