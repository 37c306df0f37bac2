"""FairQueue in simulated time: each group has its share of the connections' time, and no attack keeps others out."""

from __future__ import annotations

import asyncio
import itertools
import random
from collections.abc import Hashable

import pytest

from tenantry.datasources import Limits, Sharing
from tenantry.datasources.pool.fair_queue import BARRED_SECONDS, LONG_EVERY, SLICE, FairQueue, share
from tenantry.errors import SourceUnavailable
from tests.datasources.simulated_loop import simulate

Order = list[tuple[float, Hashable]]


def turns(running: int = 1, *, each: int | None = None, waiting: int = 10_000, waiting_each: int = 10_000) -> FairQueue:
    return FairQueue(
        "ds_1",
        Limits(
            timeout=1e9,
            pool_size=running,
            sharing=Sharing(group_pool_size=each, max_waiting=waiting, group_max_waiting=waiting_each),
        ),
    )


async def run(queue: FairQueue, group: Hashable, order: Order, seconds: float = 1.0, weight: float = 1.0) -> None:
    """One query of so many seconds. ``order``: when each began, and whose it was."""
    turn = queue.acquire(group, weight)
    await turn.wait()
    order.append((asyncio.get_running_loop().time(), group))
    await asyncio.sleep(seconds)
    queue.release(turn)


def test_a_group_waits_for_one_query_of_a_group_with_a_hundred() -> None:
    """Red with one queue for all groups: the visitor is the 101st."""

    async def main() -> Order:
        queue, order = turns(), Order()
        tasks = [asyncio.create_task(run(queue, "neighbour", order)) for _ in range(100)]
        await asyncio.sleep(0.5)
        tasks.append(asyncio.create_task(run(queue, "visitor", order)))
        await asyncio.gather(*tasks)
        return order

    assert [group for _, group in simulate(main())].index("visitor") == 1


def test_groups_share_the_time_and_not_the_turns() -> None:
    """One group's queries take twelve seconds, the other's one: each has half of the time. Red when turns are counted:
    then the long ones have twelve thirteenths."""

    async def main() -> Order:
        queue, order = turns(), Order()
        long = [asyncio.create_task(run(queue, "long", order, 12.0)) for _ in range(20)]
        short = [asyncio.create_task(run(queue, "short", order, 1.0)) for _ in range(240)]
        await asyncio.sleep(240)
        for task in (*long, *short):
            task.cancel()
        await asyncio.gather(*long, *short, return_exceptions=True)
        return order

    names = [group for _, group in simulate(main())]
    assert abs(names.count("short") - 120) <= 13
    assert abs(names.count("long") - 10) <= 1


def test_a_running_query_counts_as_it_runs() -> None:
    """Red when a turn is charged at its end: the group whose query of an hour still runs is served first."""

    async def main() -> Order:
        queue, order = turns(2, each=2), Order()
        tasks = [asyncio.create_task(run(queue, "long", order, 3600.0))]
        await asyncio.sleep(1)
        tasks += [asyncio.create_task(run(queue, "short", order, 2.0))]
        await asyncio.sleep(1)
        tasks += [asyncio.create_task(run(queue, name, order, 2.0)) for name in ("long", "short")]
        await asyncio.gather(*tasks)
        return order

    assert [group for _, group in simulate(main())] == ["long", "short", "short", "long"]


def test_coming_back_again_and_again_gives_no_credit() -> None:
    """Red without ``max`` in ``acquire``: the group that comes late has all the turns until it has used as much."""

    async def main() -> Order:
        queue, order = turns(), Order()
        tasks = [asyncio.create_task(run(queue, name, order)) for name in ["a", "b", "c"] * 30]
        await asyncio.sleep(30)

        async def one_by_one() -> None:
            for _ in range(15):
                await run(queue, "back", order)

        await asyncio.gather(*tasks, one_by_one())
        return order

    names = [group for _, group in simulate(main())]
    assert names[31:71].count("back") <= 11, names


def test_twice_the_weight_is_twice_the_time() -> None:
    async def main() -> Order:
        queue, order = turns(), Order()
        await asyncio.gather(*(run(queue, name, order, 1, weight) for name, weight in [("gold", 2), ("plain", 1)] * 60))
        return order

    assert 38 <= [group for _, group in simulate(main())][:60].count("gold") <= 42


@pytest.mark.parametrize(("size", "most"), [(1, 1), (2, 1), (3, 2), (4, 3), (5, 3), (8, 5), (10, 7)])
def test_two_thirds_of_the_connections(size: int, most: int) -> None:
    """Of two or more never all; and thirteen short queries that have the rest alone take at most three times as long as
    with what a group has."""
    assert share(size) == most
    assert size == 1 or -(-13 // (size - most)) <= 3 * -(-13 // most)


@pytest.mark.parametrize(("running", "each"), [(1, 1), (5, 5), (5, 2), (5, None), (2, None)])
def test_no_more_queries_run_than_the_limits_permit(running: int, each: int | None) -> None:
    """Red without the comparisons in ``_may_start``."""

    async def main() -> tuple[int, int]:
        queue = turns(running, each=each)
        now = [0, 0]
        most = most_each = 0
        chance = random.Random(3)

        async def query(group: int) -> None:
            nonlocal most, most_each
            turn = queue.acquire(group)
            await turn.wait()
            now[group] += 1
            most, most_each = max(most, sum(now)), max(most_each, now[group])
            await asyncio.sleep(chance.random())
            now[group] -= 1
            queue.release(turn)

        await asyncio.gather(*(query(number % 2) for number in range(200)))
        assert (queue.running, queue.waiting) == (0, 0)
        return most, most_each

    most_each = each or share(running)
    assert simulate(main()) == (min(running, 2 * most_each), most_each)


def test_a_group_at_its_limit_leaves_the_rest_to_others() -> None:
    async def main() -> None:
        queue = turns(2, each=1)
        first, waits, other = queue.acquire("a"), queue.acquire("a"), queue.acquire("b")
        assert (first.came.done(), waits.came.done(), other.came.done()) == (True, False, True)
        queue.release(other)
        assert not waits.came.done()
        queue.release(first)
        assert waits.came.done()

    simulate(main())


def test_a_full_queue_says_how_full_it_is() -> None:
    async def main() -> None:
        queue = turns(1, waiting=3, waiting_each=2)
        first = queue.acquire("a")
        waiting = [queue.acquire("a"), queue.acquire("b"), queue.acquire("b")]
        with pytest.raises(
            SourceUnavailable, match=r"the queue of data source ds_1 is full: 3 queries wait, 1 of them from this user"
        ):
            queue.acquire("a")
        queue.release(waiting.pop())
        queue.acquire("a")
        with pytest.raises(
            SourceUnavailable, match=r"the queue of data source ds_1 is full: 3 queries wait, 2 of them from this user"
        ):
            queue.acquire("a")
        queue.release(first)
        assert (queue.running, queue.waiting) == (1, 2)

    simulate(main())


def test_groups_that_fill_the_queue_give_up_a_place() -> None:
    """The last one of the group with most has lost its place. Red when each newcomer is refused."""

    async def main() -> None:
        queue = turns(1, waiting=6)
        asked = [queue.acquire(name) for name in ("a", "a", "a", "a", "b", "b", "b")]
        visitor = queue.acquire("visitor")
        assert (queue.waiting, visitor.has_ended) == (6, False)
        (lost,) = [turn for turn in asked if turn.has_ended]
        assert lost is asked[3]
        with pytest.raises(SourceUnavailable, match="queue of data source ds_1 is full"):
            await lost.wait()

    simulate(main())


def test_a_storm_of_cancellations_loses_no_place() -> None:
    """Those that wait are cancelled before, while and after their turn comes. Red without ``end`` in ``wait``: a place
    is lost each time that both happen in one step of the event loop."""

    async def main() -> None:
        queue, running = turns(3, each=2), 0
        chance = random.Random(7)

        async def query(group: int) -> None:
            nonlocal running
            turn = queue.acquire(group)
            await turn.wait()
            running += 1
            assert running <= 3
            try:
                await asyncio.sleep(chance.random())
            finally:
                running -= 1
                queue.release(turn)

        for _ in range(30):
            tasks = [asyncio.create_task(query(chance.randrange(5))) for _ in range(40)]
            for task in chance.sample(tasks, 30):
                if chance.random() < 0.5:
                    await asyncio.sleep(chance.random())
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            assert (queue.waiting, queue.running) == (0, 0)

    simulate(main())


def test_a_turn_that_comes_with_the_cancellation_goes_on_to_the_next() -> None:
    """Red without ``end`` in ``wait``: nobody has the turn any more."""

    async def main() -> None:
        queue = turns(1)
        first, leaving, next_one = (queue.acquire(name) for name in ("a", "b", "c"))
        waits = asyncio.create_task(leaving.wait())
        await asyncio.sleep(0)
        queue.release(first)  # the turn is b's now, and its task is told in the next step of the loop
        waits.cancel()
        await next_one.wait()
        assert waits.cancelled()

    simulate(main())


def test_a_query_that_waits_too_long_is_refused() -> None:
    """After ``timeout``, not after ``connect_timeout``, and its place is free. Red when the wait has no end."""

    async def main() -> float:
        queue = FairQueue("ds_1", Limits(timeout=30, connect_timeout=5, pool_size=1))
        queue.acquire("a")
        waits = queue.acquire("b")
        with pytest.raises(SourceUnavailable, match="busy"):
            await waits.wait()
        assert (queue.waiting, queue.running) == (0, 1)
        return asyncio.get_running_loop().time()

    assert simulate(main()) == pytest.approx(30)


def test_a_turn_that_a_source_keeps_is_ended_by_the_source() -> None:
    """Its caller has left; the connection is still in use. Red when ``leave`` ends it in any case."""

    async def main() -> None:
        queue = turns(1)
        turn, waits = queue.acquire("a"), queue.acquire("b")
        turn.is_kept = True
        turn.leave()
        assert not waits.came.done()
        queue.release(turn)
        assert waits.came.done()

    simulate(main())


# --- long holds -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [2, 3, 5, 10])
def test_streams_together_leave_some_connections(size: int) -> None:
    """Of whatever groups. Red without the comparison of ``long_turns`` for streams. Of long-running groups one query
    runs all the same where there is a connection. Red without the last line of ``_may_start``."""

    async def main() -> None:
        queue = turns(size)
        await run(queue, "reporter", [], 60.0)
        streams = [queue.acquire(number, is_stream=True) for number in range(20)]
        assert sum(turn.came.done() for turn in streams) == share(size) < size
        assert queue.acquire("visitor").came.done()
        assert queue.acquire("reporter").came.done() is (size > 3)

    simulate(main())


@pytest.mark.parametrize(("size", "each", "own"), [(3, None, 1), (5, None, 2), (10, None, 5), (5, 5, 3)])
def test_the_streams_of_a_group_leave_a_stream_to_others(size: int, each: int | None, own: int) -> None:
    """Its readers may be slow for ten minutes. Red when one group may hold as many streams as all together."""

    async def main() -> None:
        queue = turns(size, each=each)
        streams = [queue.acquire("a", is_stream=True) for _ in range(20)]
        assert sum(turn.came.done() for turn in streams) == own
        assert queue.acquire("b", is_stream=True).came.done() is (each is None)

    simulate(main())


@pytest.mark.parametrize("size", [2, 5])
def test_long_queries_of_several_groups_leave_some_connections(size: int) -> None:
    """Once it is known that they are long: the first ones of each group may have all. Streams count among them. Red
    without ``is_long`` in ``_may_start``."""

    async def main() -> None:
        queue, order = turns(size), Order()
        tasks = [asyncio.create_task(run(queue, number % 4, order, 8.0)) for number in range(80)]
        await asyncio.sleep(60)
        for _ in range(100):
            await asyncio.sleep(0.1)
            assert queue.running <= share(size)
        assert not queue.acquire("viewer of a file", is_stream=True).came.done()
        assert queue.acquire("visitor").came.done()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    simulate(main())


def test_one_connection_begins_few_long_queries_while_short_ones_wait() -> None:
    """Though the short ones' group has used more. Red when ``_next`` looks at what was used alone, and when no long
    query begins while short ones wait."""

    async def main() -> Order:
        queue, order = turns(), Order()
        for group, seconds in [("long", 60.0), *[("short", 0.9)] * 90]:
            await run(queue, group, [], seconds)
        busy = asyncio.create_task(run(queue, "other", order, 1.0))
        await asyncio.sleep(0)
        tasks = [asyncio.create_task(run(queue, "long", order, 4.0)) for _ in range(10)]
        tasks += [asyncio.create_task(run(queue, "short", order, 0.9)) for _ in range(40)]
        await asyncio.gather(busy, *tasks)
        return order

    found = simulate(main())
    last = max(at for at, group in found if group == "short")
    long = [at for at, group in found if group == "long" and at < last]
    assert len(long) >= 2
    assert all(later - at >= LONG_EVERY for at, later in itertools.pairwise(long))


def test_what_was_long_is_forgotten() -> None:
    """After some minutes. Short queries never are: a group that asks all the time has the whole source. Red without the
    half-life, and when the first second counts."""

    async def main() -> None:
        queue = turns(2)
        await asyncio.gather(run(queue, "a", [], 60.0), run(queue, "other", [], 60.0))
        other = queue.acquire("other")
        waits = queue.acquire("a")
        assert not waits.came.done()
        queue.release(waits)
        await asyncio.sleep(3600)
        again = queue.acquire("a")
        assert again.came.done()
        queue.release(again)
        for _ in range(1_000):
            await run(queue, "a", [], 0.9)
        assert queue.acquire("a").came.done()
        assert not other.has_ended

    simulate(main())


def test_a_stream_gives_way_where_there_is_one_connection() -> None:
    """To another group that waits, after its slice; not to its own group, and not where there are more."""

    async def main() -> None:
        for size in (1, 2):
            queue = turns(size)
            stream = queue.acquire("a", is_stream=True)
            others = [queue.acquire("a", is_stream=True)]
            await asyncio.sleep(2 * SLICE)
            assert not queue.must_yield(stream)
            others += [queue.acquire("b", is_stream=True)]
            assert queue.must_yield(stream) is (size == 1)
            queue.release(stream)
            assert others[1].came.done() or size == 2
            assert not queue.must_yield(others[1])

    simulate(main())


def test_a_stream_that_ended_for_its_reader_is_barred_for_a_minute() -> None:
    """Asking again at once gains nothing: the group has one stream less, and its queries go on. Red when nothing is
    kept of it; red when it is kept for good."""

    async def main() -> None:
        queue = turns(5)
        streams = [queue.acquire("a", is_stream=True) for _ in range(3)]
        for turn in streams:
            queue.bar(turn.group)
            queue.release(turn)
        again = [queue.acquire("a", is_stream=True) for _ in range(3)]
        assert not any(turn.came.done() for turn in again)
        assert queue.acquire("b", is_stream=True).came.done()
        await run(queue, "a", [])
        await asyncio.sleep(BARRED_SECONDS - 2)
        assert not any(turn.came.done() for turn in again)
        await asyncio.sleep(2)
        assert [turn.came.done() for turn in again] == [True, True, False]  # the third stream is the other group's

    simulate(main())


# --- a server with fewer connections ----------------------------------------------------------------------------------


def test_a_limit_of_the_server_is_learned_and_tried_again() -> None:
    """A query that got no connection is the first of its group again, and no other one is begun in its place until a
    minute has passed. Red when the size stays as it was."""

    async def main() -> None:
        queue = turns(5, each=5)
        asked = [queue.acquire("a") for _ in range(6)]
        for turn in asked[1:5]:
            assert queue.refuse(turn, 0)
        assert (queue.running, queue.waiting) == (1, 5)
        queue.release(asked[0])
        assert [turn.came.done() for turn in asked[1:]].count(True) == 1
        await asyncio.sleep(61)
        assert (queue.running, queue.waiting) == (5, 0)

    simulate(main())


def test_a_server_that_gives_no_connection_at_all() -> None:
    """There is none to wait for, unless one is idle. It is asked some more times, after pauses: it may have refused
    several at once, or close one of ours just now. Red without the pauses."""

    async def main() -> None:
        queue = turns(5)
        turn = queue.acquire("a")
        assert queue.refuse(turn, 1)
        assert turn.came.done()  # at once: for the idle one
        for _ in range(3):
            assert queue.refuse(turn, 0)
            assert not turn.came.done()
            await turn.wait()
        assert not queue.refuse(turn, 0)
        assert asyncio.get_running_loop().time() == pytest.approx(0.3)

    simulate(main())


def test_groups_that_are_gone_are_forgotten() -> None:
    """A hundred thousand that came once. Red without ``_sweep``."""

    async def main() -> None:
        queue = turns(5)
        for number in range(100_000):
            queue.release(queue.acquire(number))
        assert len(queue._groups) < 1_000

    simulate(main())
