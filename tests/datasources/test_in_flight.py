"""Equal queries that are under way are one execution, and nobody who waits for it depends on another one."""

from __future__ import annotations

import asyncio
import random
import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from tenantry import DataSources
from tenantry.datasources import Limits, ResultCache
from tenantry.datasources.caching.shared_answer import SharedAnswer, Uncopyable
from tenantry.datasources.results import Result
from tenantry.errors import QueryFailed, QueryTimeout, SourceUnavailable
from tenantry.groups import UserGroup
from tenantry.sql import BoundSQL
from tests.datasources.conftest import Directory, duckdb_file, group, sqlite_file
from tests.datasources.settings import executed, joined, stopped
from tests.datasources.streamed_rows import ROWS

# Some ten milliseconds on any machine, and longer on a busy one.
SLOW = "with recursive n (i) as (select 1 union all select i + 1 from n where i < 5000) select count(*) as n from n"
ENDLESS = SLOW.replace("5000", "2000000000")


def viewers(count: int) -> list[UserGroup]:
    """Groups of one source, each with a handle of its own."""
    one = group("acme", main="ds_1")
    return [replace(one, provided_id=f"g{number}", handle=b"%08d" % number) for number in range(count)]


@pytest.fixture
def make(directory: Directory, open_sources: Callable[..., DataSources], tmp_path: Path) -> Callable[..., DataSources]:
    directory.add(1, sqlite_file(tmp_path / "orders.db", "acme"))
    return lambda **limits: open_sources(**{"connect_timeout": 60.0, "timeout": 120.0, **limits})


async def until(is_so: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not is_so():
            await asyncio.sleep(0)  # what is looked for may last no longer than the query, a millisecond


@pytest.mark.parametrize("groups", [1, 20])
async def test_twenty_viewers_of_twenty_equal_panels(
    each_engine: str, groups: int, open_sources: Callable[..., DataSources]
) -> None:
    """Of one group, and of twenty groups where nothing of a group is read: 20 executions, and no error.

    Red without flights: 400 executions, some of them refused.
    """
    sources = open_sources(connect_timeout=60.0, timeout=120.0)
    counted = f"select count(*) as n from ({ROWS[each_engine].format(5_000)}) m"
    panels = [f"{counted} where {number} = {number}" for number in range(20)]
    asking = viewers(groups) * (20 // groups)
    answers = await asyncio.gather(*(sources.fetch(each, "main", panel) for each in asking for panel in panels))
    assert answers == [[{"n": 5_000}]] * 400
    assert (executed(sources), joined(sources), stopped(sources)) == (20, 380, 0)
    assert sources.activity.sources["ds_1"].queries == {"ok": 400}


async def test_what_differs_is_another_query(make: Callable[..., DataSources]) -> None:
    """Another value, another type of it, another text, and, where something of the group is read, another group."""
    sources, (one, other) = make(), viewers(2)
    asked = [
        (one, "select {{ params.x }} as v, count(*) as n from orders", {"params": {"x": 1}}),
        (one, "select {{ params.x }} as v, count(*) as n from orders", {"params": {"x": "1"}}),
        (one, "select {{ params.x }} as v, count(*) as n from orders", {"params": {"x": 2}}),
        (other, "select {{ region }} as v, count(*) as n from orders", None),
        (one, "select {{ region }} as v, count(*) as n from orders", None),
    ]
    answers = await asyncio.gather(*(sources.fetch(who, "main", sql, given) for who, sql, given in asked))
    assert [rows[0]["v"] for rows in answers] == [1, "1", 2, "acme", "acme"]
    assert executed(sources) == 5


class Canary:
    """Two groups whose rows differ by what they read of themselves, who ask the same at once."""

    def __init__(self, sources: DataSources, engine: str) -> None:
        self._sources = sources
        self._sql = f"select {{{{ region }}}} as owner, count(*) as n from ({ROWS[engine].format(3)}) m"
        self._groups = [
            replace(each, properties={"region": f"canary-{each.provided_id}"}, mapping={"main": "ds_1"})
            for each in viewers(2)
        ]

    async def seen_by(self) -> list[str]:
        """What each of the two sees."""
        answers = await asyncio.gather(*(self._sources.fetch(each, "main", self._sql) for each in self._groups * 5))
        return [rows[0]["owner"] for rows in answers[:2]]


async def test_a_group_that_read_itself_never_shares(
    each_engine: str, open_sources: Callable[..., DataSources], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The control has a key of the text alone: there the canary of one group is found by the other. Red, as the
    control is green, without the values and the group in the key of a fingerprint."""
    first, control = (open_sources(connect_timeout=60.0, timeout=120.0) for _ in range(2))
    assert await Canary(first, each_engine).seen_by() == ["canary-g0", "canary-g1"]
    assert executed(first) == 2
    monkeypatch.setattr(BoundSQL, "fingerprint", lambda self, **_: self.sql)
    assert await Canary(control, each_engine).seen_by() == ["canary-g0", "canary-g0"]
    assert executed(control) == 1


async def test_the_first_one_leaves_and_the_others_are_served(make: Callable[..., DataSources]) -> None:
    """Red when the first caller's own task runs the query: its cancellation is everybody's."""
    sources, (one,) = make(), viewers(1)
    slow = SLOW.replace("5000", "300000")
    first, *others = [asyncio.create_task(sources.fetch(one, "main", slow)) for _ in range(4)]
    await until(lambda: executed(sources) == 1)
    first.cancel()
    assert await asyncio.gather(*others) == [[{"n": 300_000}]] * 3
    assert first.cancelled()
    assert (executed(sources), stopped(sources)) == (1, 0)


@pytest.mark.parametrize("running", [True, False])
async def test_the_last_one_leaves_and_the_query_stops(running: bool, make: Callable[..., DataSources]) -> None:
    """One that runs, and one that waits for a turn. Red without ``_stop``: the only connection is never free again."""
    sources, (one, other) = make(pool_size=1), viewers(2)
    blocking = [] if running else [asyncio.create_task(sources.fetch(other, "main", f"{ENDLESS} where 1 = 1"))]
    leaving = [asyncio.create_task(sources.fetch(one, "main", ENDLESS)) for _ in range(3)]
    await until(lambda: joined(sources) == 2)
    for task in leaving:
        task.cancel()
    await asyncio.gather(*leaving, return_exceptions=True)
    for task in blocking:
        assert not task.done()
        task.cancel()
    assert await sources.fetch(one, "main", "select 1 as n") == [{"n": 1}]
    assert sources.in_flight.by_key == {}


async def test_a_query_that_was_stopped_is_asked_anew(make: Callable[..., DataSources]) -> None:
    """Red when the flight stays in the table until its thread has ended: who comes then gets its end."""
    sources, (one,) = make(), viewers(1)
    sql = SLOW.replace("5000", "300000")
    first = asyncio.create_task(sources.fetch(one, "main", sql))
    await until(lambda: executed(sources) == 1)
    first.cancel()
    await asyncio.sleep(0)
    assert await sources.fetch(one, "main", sql) == [{"n": 300_000}]
    assert executed(sources) == 2


async def test_everybody_gets_an_error_of_his_own(make: Callable[..., DataSources]) -> None:
    """Red when one object is raised for all: its traceback grows with each, and holds their frames."""
    sources, (one,) = make(), viewers(1)
    errors = await asyncio.gather(
        *(sources.fetch(one, "main", "select * from nowhere") for _ in range(5)), return_exceptions=True
    )
    assert executed(sources) == 1
    assert all(type(error) is QueryFailed and str(error) == str(errors[0]) for error in errors)
    assert len({id(error) for error in errors}) == 5
    depths = {len(traceback.extract_tb(error.__traceback__)) for error in errors}
    assert len(depths) == 1
    assert all(error.__cause__ is None and error.__context__ is None for error in errors)
    with pytest.raises(QueryFailed):  # and it is not kept
        await sources.fetch(one, "main", "select * from nowhere")
    assert executed(sources) == 2


async def test_evidence_of_an_error_is_everybodys(make: Callable[..., DataSources]) -> None:
    sources, (one,) = make(timeout=0.2), viewers(1)
    errors = await asyncio.gather(*(sources.fetch(one, "main", ENDLESS) for _ in range(2)), return_exceptions=True)
    assert [type(error) for error in errors] == [QueryTimeout, QueryTimeout]
    assert executed(sources) == 1


async def test_a_group_does_not_wait_for_the_queue_of_another(make: Callable[..., DataSources]) -> None:
    """A neighbour has sixty queries in its queue; the last of them is the visitor's, too. It begins in the visitor's
    turn. Red when who joins has no place in the queue of his own group."""
    sources, (neighbour, visitor) = make(pool_size=1), viewers(2)
    ended: list[int] = []

    async def query(of: UserGroup, number: int) -> None:
        await sources.fetch(of, "main", f"{SLOW} where {number} = {number}")
        ended.append(number)

    tasks = [asyncio.create_task(query(neighbour, number)) for number in range(60)]
    await until(lambda: len(ended) > 0)
    before = len(ended)
    await query(visitor, 59)
    assert len(ended) - before <= 4
    await asyncio.gather(*tasks)
    assert executed(sources) == 60
    turns = next(iter(sources._open_sources._open.values())).queue
    assert (turns.waiting, turns.running) == (0, 0)


async def test_a_storm_of_leaving_viewers_loses_nothing(make: Callable[..., DataSources]) -> None:
    """Viewers of a few queries come and leave at any moment. Red without the withdrawal of places in the queues, and
    when a task that was cancelled before its first step gives no turn back."""
    chance = random.Random(11)
    sources, groups = make(pool_size=2), viewers(4)
    for _ in range(20):
        tasks = [
            asyncio.create_task(
                sources.fetch(chance.choice(groups), "main", f"{SLOW} where {n} = {n}".replace("5000", "200"))
            )
            for n in (chance.randrange(6) for _ in range(40))
        ]
        for task in chance.sample(tasks, 30):
            if chance.random() < 0.3:
                await asyncio.sleep(chance.random() / 500)
            task.cancel()
        outcomes = await asyncio.gather(*tasks, return_exceptions=True)
        assert all(isinstance(each, asyncio.CancelledError) or each == [{"n": 200}] for each in outcomes)
        opened = next(iter(sources._open_sources._open.values()))
        async with asyncio.timeout(60):
            while opened.users or opened.queue.running:
                await asyncio.sleep(0)  # what is looked for may last no longer than the query, a millisecond
        assert sources.in_flight.by_key == {}
        assert opened.queue.waiting == 0


async def test_each_waits_for_a_turn_as_long_as_he_may(make: Callable[..., DataSources]) -> None:
    """Who has waited for ``timeout`` is refused; who still has time waits on for the same query. Red when one
    timer, of who came first, is everybody's."""
    sources, (one, other) = make(pool_size=1), viewers(2)
    blocking = asyncio.create_task(sources.fetch(other, "main", ENDLESS))
    await until(lambda: executed(sources) == 1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Limits, "wait", 0.5)
        first = asyncio.create_task(sources.fetch(one, "main", "select 1 as n"))
        await until(lambda: len(sources.in_flight.by_key) == 2)
    second = asyncio.create_task(sources.fetch(one, "main", "select 1 as n"))
    with pytest.raises(SourceUnavailable, match="busy"):
        await first
    assert joined(sources) == 1
    assert not second.done()
    blocking.cancel()
    assert await second == [{"n": 1}]


async def test_max_age_does_not_join_what_began_before(make: Callable[..., DataSources]) -> None:
    """Somebody has just written, and asks for rows of now: a query that began earlier is not for him, one that still
    waits is. Red when every equal query is joined."""
    sources, (one,) = make(pool_size=3), viewers(1)
    slow = SLOW.replace("5000", "300000")
    first = asyncio.create_task(sources.fetch(one, "main", slow))
    await until(lambda: executed(sources) == 1)
    await asyncio.gather(sources.fetch(one, "main", slow, max_age=0), sources.fetch(one, "main", slow))
    assert executed(sources) == 2
    await first


@pytest.mark.parametrize("of_all", [False, True])
async def test_a_change_in_another_process_is_joined_by_nobody(make: Callable[..., DataSources], of_all: bool) -> None:
    """Who asks because it was heard gets rows of after it, though a query of before is under way. Red when only a
    change of this process ends the joining, and when of two DataSources with one cache only the second is notified."""
    cache = ResultCache(seconds=60.0)
    sources, _second, (one,) = make(pool_size=3, cache=cache), make(cache=cache), viewers(1)
    blocking = asyncio.create_task(sources.fetch(one, "main", ENDLESS))
    await until(lambda: executed(sources) == 1)
    (flight,) = sources.in_flight.by_key.values()
    cache.changed(None if of_all else flight.query.opened.name)  # as the shared level does when it hears of it
    again = asyncio.create_task(sources.fetch(one, "main", ENDLESS))
    await until(lambda: executed(sources) == 2)
    for each in (blocking, again):
        each.cancel()
    await asyncio.gather(blocking, again, return_exceptions=True)


async def test_the_answer_says_when_the_source_was_asked(make: Callable[..., DataSources]) -> None:
    sources, (one,) = make(), viewers(1)
    began = time.time()
    result = await sources.query(one, "main", "select 1 as n")
    assert result.as_of is not None
    assert began <= result.as_of.timestamp() <= time.time()


async def test_nobody_changes_what_another_gets(
    directory: Directory, open_sources: Callable[..., DataSources], tmp_path: Path
) -> None:
    """Rows of ``query`` are tuples; what is nested in them is each viewer's own, and so are the dicts of ``fetch``.

    Red without ``fresh``: they share the lists and structs of DuckDB.
    """
    directory.add(1, duckdb_file(tmp_path / "orders.db", "acme"))
    sources, (one,) = open_sources(), viewers(1)
    sql = "select id, [1, 2] as list, {'a': [1]} as struct from orders order by id limit 2"
    first, second, *dicts = await asyncio.gather(
        *(sources.query(one, "main", sql) for _ in range(2)), *(sources.fetch(one, "main", sql) for _ in range(3))
    )
    assert executed(sources) == 1
    before = second.dicts()
    first.rows[0][1].append("changed")
    first.rows[0][2]["a"].append("changed")
    dicts[0][0]["list"].append("changed")
    dicts[0].clear()
    assert second.dicts() == before == dicts[1] == dicts[2]
    assert dicts[1][0]["struct"] is not dicts[2][0]["struct"]
    assert type(first.rows) is tuple


@pytest.mark.parametrize(
    ("values", "mutable"),
    [
        ([1, 1.5, None, "x", b"x", True], ()),
        ([[1], {"a": 1}, (1,), {1}, bytearray(b"x"), memoryview(b"x")], (0, 1, 2, 3, 4, 5)),
    ],
)
def test_what_can_be_changed_is_copied(values: list[Any], mutable: tuple[int, ...]) -> None:
    """What is not known to be immutable is copied: a set, a bytearray."""
    shared = SharedAnswer(Result([f"c{n}" for n in range(len(values))], [tuple(values)]))
    assert shared.mutable == mutable
    one, other = shared.result(), shared.result()
    assert one.rows == other.rows
    for position in mutable:
        if not isinstance(values[position], tuple):
            assert one.rows[0][position] is not other.rows[0][position]


def test_nothing_is_copied_that_nobody_knows() -> None:
    """A class of a driver's own may share something, or do anything; nor what nests deeper than a copy goes. Red
    when such a value is given to ``deepcopy``, and when RecursionError passes."""
    deep: list[Any] = []
    for _ in range(sys.getrecursionlimit()):
        deep = [deep]
    for value in (object(), [Decimal(1), object()], deep):
        shared = SharedAnswer(Result(["c"], [(value,)]))
        with pytest.raises(Uncopyable):
            shared.result()


async def test_what_cannot_be_copied_is_asked_for_alone(
    make: Callable[..., DataSources], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A driver's own value that no copy can be made of is for one viewer, and the next one asks for his own."""
    monkeypatch.setattr(SharedAnswer, "result", lambda _: (_ for _ in ()).throw(Uncopyable()))
    sources, (one,) = make(), viewers(1)
    answers = await asyncio.gather(*(sources.query(one, "main", "select 1 as n") for _ in range(3)))
    assert [result.rows for result in answers] == [((1,),)] * 3
    assert executed(sources) == 1 + 3


async def test_a_value_without_a_fingerprint_is_nobody_elses(
    make: Callable[..., DataSources], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(self: BoundSQL, **_: Any) -> str:
        raise TypeError

    monkeypatch.setattr(BoundSQL, "fingerprint", refuse)
    sources, (one,) = make(), viewers(1)
    assert await asyncio.gather(*(sources.fetch(one, "main", "select 1 as n") for _ in range(3))) == [[{"n": 1}]] * 3
    assert executed(sources) == 3


def test_a_flight_of_a_loop_that_ended_is_no_longer_joined(directory: Directory, tmp_path: Path) -> None:
    """Red without the comparison of loops: the second waits for ever."""
    directory.add(1, sqlite_file(tmp_path / "orders.db", "acme"))
    sources, (one,) = DataSources(directory), viewers(1)

    async def leave_behind() -> None:
        task = asyncio.create_task(sources.fetch(one, "main", f"{SLOW} where 1 = 1"))
        await until(lambda: bool(sources.in_flight.by_key))
        (key, flight), *_ = sources.in_flight.by_key.items()
        await task
        sources.in_flight.by_key[key] = flight  # as one of a loop that stopped in its midst

    async def ask() -> None:
        async with asyncio.timeout(60), sources:
            assert await sources.fetch(one, "main", f"{SLOW} where 1 = 1") == [{"n": 5_000}]

    asyncio.run(leave_behind())
    asyncio.run(ask())
