"""The outbox: newest first of each handle, bounded, and patient with a server that is away."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from tenantry.redis_server import Letter, Outbox
from tenantry.redis_server.outbox import AGAIN_SECONDS
from tests.redis.conftest import until


class Post:
    """A ``send`` that remembers, and fails while it is away."""

    def __init__(self) -> None:
        self.away = False
        self.attempts = 0
        self.sent: list[Letter] = []

    async def __call__(self, letters: Sequence[Letter]) -> None:
        self.attempts += 1
        await asyncio.sleep(0)
        if self.away:
            raise ConnectionError
        self.sent += letters


async def test_each_handle_once_and_the_newest() -> None:
    """Letters of one tick leave together; of a handle the latest generation; of a generation what it was read with."""
    post = Post()
    outbox = Outbox(post)
    for letter in (
        Letter(b"a", 1), Letter(b"a", 3), Letter(b"a", 2),
        Letter(b"b", 5), Letter(b"b", 5, b"read"), Letter(b"b", 5),
    ):  # fmt: skip
        outbox.put(letter)
    await outbox.aclose()
    assert post.sent == [Letter(b"a", 3), Letter(b"b", 5, b"read")]


async def test_a_server_that_is_away_is_not_hammered() -> None:
    """500 letters in 500 ticks of an outage are few attempts, and all arrive when it is over.

    Red when each letter is an attempt and each failure a timer of its own: they would multiply.
    """
    post = Post()
    post.away = True
    outbox = Outbox(post)
    started = asyncio.get_running_loop().time()
    for number in range(500):
        outbox.put(Letter(number.to_bytes(8, "big"), 1))
        await asyncio.sleep(0)
    assert post.attempts <= 1 + (asyncio.get_running_loop().time() - started) / AGAIN_SECONDS
    post.away = False
    await until(lambda: len(post.sent) == 500)
    assert len({letter.handle for letter in post.sent}) == 500


async def test_a_newer_letter_outlives_a_failed_one() -> None:
    """What comes in while an older one of its handle fails to leave is what is sent in the end."""
    post = Post()
    post.away = True
    outbox = Outbox(post)
    outbox.put(Letter(b"a", 1))
    await until(lambda: post.attempts > 0)
    outbox.put(Letter(b"a", 2))
    post.away = False
    await until(lambda: post.sent == [Letter(b"a", 2)])
    assert outbox.dropped == 0


async def test_aclose_gives_up_after_a_second() -> None:
    """A server that never answers keeps nobody from leaving; no task is left behind."""

    async def never(letters: Sequence[Letter]) -> None:
        await asyncio.Event().wait()

    outbox = Outbox(never)
    outbox.put(Letter(b"a", 1))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    await asyncio.wait_for(outbox.aclose(), 120)
    assert (len(outbox), outbox.dropped, outbox._tasks) == (0, 1, set())
