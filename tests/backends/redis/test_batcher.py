"""read_batcher: the budget of those who look, and what becomes of a command that takes longer."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from tenantry.backends.batching import NoAnswer
from tenantry.backends.redis.second_level import read_batcher
from tests.backends.redis.conftest import until


class Server:
    """Answers each key with itself, once it may."""

    def __init__(self) -> None:
        self.may = asyncio.Event()
        self.asked: list[Sequence[str]] = []

    async def __call__(self, keys: Sequence[str]) -> Sequence[bytes | None]:
        self.asked.append(keys)
        await self.may.wait()
        return [key.encode() for key in keys]


async def settle() -> None:
    """Turns of the loop, and no time: reads of two of them are two batches."""
    for _ in range(5):
        await asyncio.sleep(0)


async def test_an_answer_after_the_budget_is_no_answer() -> None:
    """Whoever asked has gone to the origin; the breaker gets one failure, and not of the success that was late.

    Red when the late end counts: a server that is always too slow would keep the breaker closed.
    """
    server, outcomes = Server(), []
    batcher = read_batcher(server, 0.01, outcomes.append)
    with pytest.raises(NoAnswer):
        await batcher.ask("a")
    server.may.set()
    await until(lambda: not batcher._tasks)
    assert outcomes == [False]
    batcher._budget = 30.0  # one that a busy machine keeps to
    assert await batcher.ask("b") == b"b"
    assert outcomes == [False, True]
    await batcher.aclose()


async def test_at_most_two_commands_are_under_way() -> None:
    """While they are, reads gather in one batch. Red without the limit: each tick was a command and a connection."""
    server, outcomes = Server(), []
    batcher = read_batcher(server, 30, outcomes.append)
    reads = []
    for number in range(20):
        reads.append(batcher.ask(str(number % 10)))
        await settle()
    assert [list(keys) for keys in server.asked] == [["0"], ["1"]]
    server.may.set()
    assert await asyncio.gather(*reads) == [str(number % 10).encode() for number in range(20)]
    assert [len(keys) for keys in server.asked] == [1, 1, 10]
    assert outcomes == [True] * 3
    await batcher.aclose()


async def test_closing_answers_those_who_wait() -> None:
    """With NoAnswer, whether their command is under way or not; no task is left."""
    server = Server()
    batcher = read_batcher(server, 30, lambda good: None)
    reads = []
    for number in range(4):
        reads.append(batcher.ask(str(number)))
        await settle()
    await batcher.aclose()
    ended = await asyncio.gather(*reads, return_exceptions=True)
    assert [type(each) for each in ended] == [NoAnswer] * 4
    assert batcher._tasks == set()


async def test_an_error_is_no_answer() -> None:
    """Whatever the driver raises."""

    async def fails(keys: Sequence[str]) -> Sequence[bytes | None]:
        raise ValueError(keys)

    outcomes: list[bool] = []
    batcher = read_batcher(fails, 30, outcomes.append)
    for _ in range(2):
        with pytest.raises(NoAnswer):
            await batcher.ask("a")
    assert outcomes == [False, False]
    await batcher.aclose()
