from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from threading import Lock

# Dropping messages is safe, because other processes also poll the store.
CAPACITY = 10_000
"""Maximum number of messages in the queue. A further message drops the oldest."""

BATCH = 64
CLOSE_SECONDS = 1.0
AGAIN_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Message:
    """Reports a write to the group with this handle. ``generation``: the number of the write. ``content``: the group's
    new cache entry, or empty."""

    handle: bytes
    generation: int
    content: bytes = b""

    def supersedes(self, other: Message) -> bool:
        """Return whether this message may replace ``other``. A message with a higher generation may. If the generations
        are equal, a message without content may not replace one with content."""
        return (self.generation, bool(self.content)) >= (other.generation, bool(other.content))


class PublishQueue:
    """Keeps the newest message of each handle. A background task sends the messages in batches. If ``send`` raises an
    OSError, the queue tries again about a second later. Thread-safe."""

    def __init__(self, send: Callable[[Sequence[Message]], Awaitable[None]], *, capacity: int = CAPACITY) -> None:
        self.dropped: int = 0
        self._send = send
        self._capacity = capacity
        self._messages: dict[bytes, Message] = {}
        self._lock = Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._pause_until = 0.0

    def __len__(self) -> int:
        return len(self._messages)

    def put(self, message: Message) -> None:
        with self._lock:
            self._add(message)
        with suppress(RuntimeError):
            self._loop = asyncio.get_running_loop()
        loop = self._loop
        if loop is not None:
            with suppress(RuntimeError):  # this loop has ended: ``aclose`` or the next ``put`` sends the message
                loop.call_soon_threadsafe(self._start, loop)

    def _add(self, message: Message) -> None:
        waiting = self._messages.pop(message.handle, None)
        self._messages[message.handle] = message if waiting is None or message.supersedes(waiting) else waiting
        if len(self._messages) > self._capacity:
            del self._messages[next(iter(self._messages))]
            self.dropped += 1

    def _start(self, loop: asyncio.AbstractEventLoop) -> None:
        if self._messages and not self._tasks_of(loop) and time.monotonic() >= self._pause_until:
            self._create_task(loop)

    def _create_task(self, loop: asyncio.AbstractEventLoop) -> asyncio.Task[None]:
        task = loop.create_task(self._drain(), name="tenantry.queue")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def _tasks_of(self, loop: asyncio.AbstractEventLoop) -> set[asyncio.Task[None]]:
        return {task for task in list(self._tasks) if task.get_loop() is loop and not task.done()}

    async def _drain(self) -> None:
        while self._messages:
            with self._lock:
                batch = [self._messages.pop(handle) for handle in list(islice(self._messages, BATCH))]
            try:
                await self._send(batch)
            except OSError:
                self._put_back(batch)
                # Until ``_pause_until``, ``_start`` does nothing: new messages wait too.
                self._pause_until = time.monotonic() + AGAIN_SECONDS
                loop = asyncio.get_running_loop()
                loop.call_later(AGAIN_SECONDS * 1.1, self._start, loop)
                return
            except BaseException:
                self._put_back(batch)
                raise

    def _put_back(self, batch: Sequence[Message]) -> None:
        with self._lock:
            for message in batch:
                self._add(message)

    async def aclose(self) -> None:
        """Send the queued messages. Drop those that are not sent within a second."""
        loop = asyncio.get_running_loop()
        with suppress(TimeoutError):
            async with asyncio.timeout(CLOSE_SECONDS):
                if tasks := self._tasks_of(loop):
                    await asyncio.wait(tasks)
                await self._create_task(loop)  # the task is in ``_tasks``, so a late ``_start`` creates no second one
        tasks = self._tasks_of(loop)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        with self._lock:
            self.dropped += len(self._messages)
            self._messages.clear()
