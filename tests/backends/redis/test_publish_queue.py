"""The queue: newest first of each handle, bounded, and patient with a server that is away."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from tenantry.aio.publish_queue import AGAIN_SECONDS, Message, PublishQueue
from tests.backends.redis.conftest import until


class Post:
    """A ``send`` that remembers, and fails while it is away."""

    def __init__(self) -> None:
        self.away = False
        self.attempts = 0
        self.sent: list[Message] = []

    async def __call__(self, messages: Sequence[Message]) -> None:
        self.attempts += 1
        await asyncio.sleep(0)
        if self.away:
            raise ConnectionError
        self.sent += messages


@pytest.mark.usefixtures("patient")
async def test_each_handle_once_and_the_newest() -> None:
    """Messages of one tick leave together; of a handle the latest generation; of a generation what it was read with."""
    post = Post()
    queue = PublishQueue(post)
    for message in (
        Message(b"a", 1), Message(b"a", 3), Message(b"a", 2),
        Message(b"b", 5), Message(b"b", 5, b"read"), Message(b"b", 5),
    ):  # fmt: skip
        queue.put(message)
    await queue.aclose()
    assert post.sent == [Message(b"a", 3), Message(b"b", 5, b"read")]


async def test_a_server_that_is_away_is_not_hammered() -> None:
    """500 messages in 500 ticks of an outage are few attempts, and all arrive when it is over.

    Red when each message is an attempt and each failure a timer of its own: they would multiply.
    """
    post = Post()
    post.away = True
    queue = PublishQueue(post)
    started = asyncio.get_running_loop().time()
    for number in range(500):
        queue.put(Message(number.to_bytes(8, "big"), 1))
        await asyncio.sleep(0)
    assert post.attempts <= 1 + (asyncio.get_running_loop().time() - started) / AGAIN_SECONDS
    post.away = False
    await until(lambda: len(post.sent) == 500)
    assert len({message.handle for message in post.sent}) == 500


async def test_a_newer_letter_outlives_a_failed_one() -> None:
    """What comes in while an older one of its handle fails to leave is what is sent in the end."""
    post = Post()
    post.away = True
    queue = PublishQueue(post)
    queue.put(Message(b"a", 1))
    await until(lambda: post.attempts > 0)
    queue.put(Message(b"a", 2))
    post.away = False
    await until(lambda: post.sent == [Message(b"a", 2)])
    assert queue.dropped == 0


async def test_aclose_gives_up_after_a_second() -> None:
    """A server that never answers keeps nobody from leaving; no task is left behind."""

    async def never(messages: Sequence[Message]) -> None:
        await asyncio.Event().wait()

    queue = PublishQueue(never)
    queue.put(Message(b"a", 1))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    await asyncio.wait_for(queue.aclose(), 120)
    assert (len(queue), queue.dropped, queue._tasks) == (0, 1, set())


async def test_what_starts_while_it_closes_ends_with_it() -> None:
    """``put`` asks the loop to begin sending, which may be due only when ``aclose`` sends already: nothing is left.

    Red where ``aclose`` looks for tasks once, before it sends by itself: the batch that another task took came back.
    """
    post = Post()
    post.away = True
    queue = PublishQueue(post)
    for number in range(100):  # more than one batch
        queue.put(Message(number.to_bytes(8, "big"), 1))
    await queue.aclose()
    assert (len(queue), queue.dropped) == (0, 100)
    assert not queue._tasks
