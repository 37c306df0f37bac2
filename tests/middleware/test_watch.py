"""One timer for many live websockets: in time, a few at a time, and nothing held on to."""

from __future__ import annotations

import asyncio
import gc
import weakref

import pytest

from tenantry.errors import InvalidToken
from tenantry.middleware.live import LiveSocket, SocketClosed
from tenantry.middleware.watch import SLICE, Watch
from tests.middleware.sockets import RAW, Answers, Socket, listening, until


class Iterations:
    """Counts the iterations of the running loop."""

    def __init__(self) -> None:
        self.number = 0
        self._loop = asyncio.get_running_loop()
        self._handle = self._loop.call_soon(self._count)

    def _count(self) -> None:
        self.number += 1
        self._handle = self._loop.call_soon(self._count)

    def stop(self) -> None:
        self._handle.cancel()


async def test_each_is_called_once_and_those_due_first_come_first() -> None:
    watch, called = Watch(), list[int]()
    for number, seconds in enumerate((0.03, 0.0, 0.06)):
        watch.after(seconds, lambda number=number: called.append(number))  # type: ignore[misc]
    await until(lambda: len(called) == 3)
    assert called == [1, 0, 2]
    watch.after(0.0, lambda: called.append(3))  # it begins again after it had nothing to do
    await until(lambda: len(called) == 4)


async def test_one_that_is_due_sooner_does_not_wait_for_the_others() -> None:
    """Red when the timer is set for the first one only."""
    watch, called = Watch(), list[str]()
    watch.after(3_600.0, lambda: called.append("late"))
    watch.after(0.01, lambda: called.append("soon"))
    await until(lambda: called)
    assert called == ["soon"]


async def test_many_that_are_due_at_once_are_called_a_few_at_a_time() -> None:
    """Red when a walk calls all that are due: ten thousand sockets would stop the loop."""
    watch, when = Watch(), list[int]()
    iterations = Iterations()
    for _ in range(5 * SLICE):
        watch.after(0.0, lambda: when.append(iterations.number))
    await until(lambda: len(when) == 5 * SLICE)
    iterations.stop()
    assert max(when.count(number) for number in when) <= SLICE


async def test_a_look_that_raises_harms_only_itself() -> None:
    """The loop's handler hears of it. Red when the walk does not go on: no socket would be looked at any more."""
    told: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: told.append(context["exception"]))
    watch, called = Watch(), list[int]()
    watch.after(0.0, lambda: 1 // 0)  # type: ignore[arg-type, return-value]
    watch.after(0.0, lambda: called.append(1))
    await until(lambda: called)
    assert [type(error) for error in told] == [ZeroDivisionError]


async def test_what_is_cancelled_is_not_called_and_not_held() -> None:
    """Red when a visit keeps its look: a closed socket and all that its app holds would stay for a while."""
    watch, answers = Watch(), Answers()
    visit = watch.after(0.0, answers.revoke)
    gone = weakref.ref(answers)
    visit.cancel()
    del answers
    gc.collect()
    assert gone() is None
    called: list[int] = []
    watch.after(0.0, lambda: called.append(1))
    await until(lambda: called)


async def test_the_sockets_of_a_group_are_closed_a_few_at_a_time() -> None:
    """One answer condemns them all. Red when each closes in the moment in which it is told."""
    answers, iterations, closes = Answers(), Iterations(), list[int]()
    answers.staleness = 1_000.0
    answers.hang = asyncio.Event()

    class Noting(Socket):
        async def send(self, message: dict[str, object]) -> None:
            if message["type"] == "websocket.close":
                closes.append(iterations.number)
            await super().send(message)

    sockets = [Noting() for _ in range(5 * SLICE)]
    lives = [LiveSocket(answers, RAW, socket.scope, socket.receive, socket.send) for socket in sockets]
    running = [asyncio.ensure_future(live.run(listening)) for live in lives]
    await until(lambda: all(socket.sent for socket in sockets))
    answers.cached = False
    for live in lives:
        live._look()
    await until(lambda: answers.asked == len(lives))
    answers.error = InvalidToken(InvalidToken.MESSAGE)
    answers.hang.set()
    await asyncio.wait_for(asyncio.gather(*running), 120)
    iterations.stop()
    assert len(closes) == len(lives)
    assert max(closes.count(number) for number in closes) <= SLICE


async def test_nothing_passes_a_condemned_socket_that_waits_for_its_turn() -> None:
    """Red when only the close stops what the app sends."""
    socket, answers = Socket(), Answers()
    answers.staleness = 1_000.0
    live = LiveSocket(answers, RAW, socket.scope, socket.receive, socket.send)
    await live.send({"type": "websocket.accept"})
    answers.revoke()
    live._look()
    assert live._task is not None
    await asyncio.wait({live._task})
    assert socket.closing is None
    with pytest.raises(SocketClosed):
        await live.send({"type": "websocket.send", "text": "late"})
    assert socket.texts == []
    assert socket.closing is not None
