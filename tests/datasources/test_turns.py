"""Turns at a data source: no group waits for more than one turn of each other, and nothing is counted twice."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Hashable

import pytest

from tenantry.datasources.turns import QueueFull, Turns


def turns(running: int = 1, *, each: int = 100, waiting: int = 10_000, waiting_each: int = 10_000) -> Turns:
    return Turns(running, each, waiting, waiting_each)


async def run(queue: Turns, group: Hashable, order: list[Hashable], weight: float = 1.0) -> None:
    await queue.take(group, weight)
    try:
        order.append(group)
        await asyncio.sleep(0)
    finally:
        queue.give_back(group)


async def settle() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def test_a_query_waits_for_one_turn_of_its_neighbour() -> None:
    """Red with one queue for all groups: the visitor is the 101st."""
    queue, order = turns(), []
    tasks = [asyncio.create_task(run(queue, "neighbour", order)) for _ in range(100)]
    await settle()
    served = len(order)
    tasks.append(asyncio.create_task(run(queue, "visitor", order)))
    await asyncio.gather(*tasks)
    assert order.index("visitor") - served <= 2
    assert Counter(order) == {"neighbour": 100, "visitor": 1}


async def test_groups_that_wait_have_turns_in_turn() -> None:
    queue, order = turns(), []
    names = ["a"] * 30 + ["b"] * 30 + ["c"] * 30
    await asyncio.gather(*(run(queue, name, order) for name in names))
    for start in range(3, 84, 3):  # a group's first turn may come before the others have arrived
        assert set(order[start : start + 3]) == {"a", "b", "c"}, order


async def test_coming_back_again_and_again_gives_no_credit() -> None:
    """Red without ``max`` in ``_queue``: who asks for one turn at a time has every second one."""
    queue, order = turns(), []
    tasks = [asyncio.create_task(run(queue, name, order)) for name in ["a", "b", "c"] * 30]

    async def one_by_one() -> None:
        for _ in range(20):
            await run(queue, "back", order)

    await asyncio.gather(*tasks, one_by_one())
    assert order[:60].count("back") <= 17, order


async def test_twice_the_weight_is_twice_the_turns() -> None:
    queue, order = turns(), []
    await asyncio.gather(*(run(queue, name, order, weight) for name, weight in [("gold", 2.0), ("plain", 1.0)] * 60))
    assert 38 <= order[:60].count("gold") <= 42, order


@pytest.mark.parametrize(("running", "each"), [(1, 1), (5, 60), (5, 2), (3, 100)])
async def test_no_more_run_than_may(running: int, each: int) -> None:
    """Red without the comparison with ``running_each`` in ``take`` or in ``_queue``."""
    queue = turns(running, each=each)
    now: Counter[int] = Counter()
    most = most_each = 0

    async def query(group: int) -> None:
        nonlocal most, most_each
        await queue.take(group)
        now[group] += 1
        most, most_each = max(most, now.total()), max(most_each, now[group])
        await asyncio.sleep(random.random() / 1000)
        now[group] -= 1
        queue.give_back(group)

    await asyncio.gather(*(query(number % 2) for number in range(200)))
    assert most == min(running, 2 * each)
    assert most_each <= each


async def test_a_group_at_its_limit_leaves_the_rest_to_others() -> None:
    queue = turns(2, each=1)
    await queue.take("a")
    waits = asyncio.create_task(queue.take("a"))
    await settle()
    await asyncio.wait_for(queue.take("b"), 60)  # the second place is free, and the waiting "a" may not have it
    assert not waits.done()
    queue.give_back("b")
    await settle()
    assert not waits.done()
    queue.give_back("a")
    await asyncio.wait_for(waits, 60)


async def test_a_full_queue_says_how_full_it_is() -> None:
    queue = turns(1, waiting=3, waiting_each=2)
    await queue.take("a")
    waiting = [asyncio.create_task(queue.take(name)) for name in ("a", "a", "b")]
    await settle()
    with pytest.raises(QueueFull) as refused:
        await queue.take("c")
    assert (refused.value.waiting, refused.value.own) == (3, 0)
    waiting.pop().cancel()
    await settle()
    with pytest.raises(QueueFull) as refused:
        await queue.take("a")
    assert (refused.value.waiting, refused.value.own) == (2, 2)
    assert queue.waiting == 2
    for task in waiting:
        task.cancel()
    await settle()
    queue.give_back("a")
    assert (queue.waiting, queue._groups) == (0, {})


async def test_a_storm_of_cancellations_loses_no_place() -> None:
    """Waiters are cancelled before, while and after their turn comes. Red without ``give_back`` in ``take``: a place is
    lost each time that both happen in one turn of the event loop; red when both paths count the waiter out."""
    queue, running = turns(3, each=2), 0
    chance = random.Random(7)

    async def query(group: int) -> None:
        nonlocal running
        await queue.take(group)
        running += 1
        assert running <= 3
        try:
            await asyncio.sleep(chance.random() / 2000)
        finally:
            running -= 1
            queue.give_back(group)

    for _ in range(30):
        tasks = [asyncio.create_task(query(chance.randrange(5))) for _ in range(40)]
        for task in chance.sample(tasks, 30):
            if chance.random() < 0.5:
                await asyncio.sleep(0)
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        assert (queue.waiting, queue._free, queue._groups) == (0, 3, {})


async def test_a_turn_that_comes_with_the_cancellation_goes_on_to_the_next() -> None:
    """Red without ``give_back`` in ``take``: nobody has the turn any more."""
    queue = turns(1)
    await queue.take("a")
    leaving, next_one = (asyncio.create_task(queue.take(name)) for name in ("b", "c"))
    await settle()
    queue.give_back("a")  # the turn is b's now, who is told in the next turn of the loop
    leaving.cancel()
    await asyncio.wait_for(next_one, 60)
    assert leaving.cancelled()
    queue.give_back("c")
    assert (queue._free, queue._groups) == (1, {})
