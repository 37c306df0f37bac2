"""One timer for many open websockets: in time, a few at a time, and nothing held on to."""

from __future__ import annotations

import asyncio
import gc
import weakref

import pytest

from tenantry.errors import InvalidToken
from tenantry.middleware.timers import BATCH, TimerQueue
from tenantry.middleware.websockets import SocketClosed, WebSocketSession
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


async def test_each_is_called_once_and_those_due_first_come_first(monkeypatch: pytest.MonkeyPatch) -> None:
    queue, called, loop = TimerQueue(), list[int](), asyncio.get_running_loop()
    now = loop.time()
    with monkeypatch.context() as still:
        still.setattr(loop, "time", lambda: now)  # all are set in one moment
        for number, seconds in enumerate((0.03, 0.0, 0.06)):
            queue.call_later(seconds, lambda number=number: called.append(number))  # type: ignore[misc]
    await until(lambda: len(called) == 3)
    assert called == [1, 0, 2]
    queue.call_later(0.0, lambda: called.append(3))  # it begins again after it had nothing to do
    await until(lambda: len(called) == 4)


async def test_one_that_is_due_sooner_does_not_wait_for_the_others() -> None:
    """Red when the timer is set for the first one only."""
    queue, called = TimerQueue(), list[str]()
    queue.call_later(3_600.0, lambda: called.append("late"))
    queue.call_later(0.01, lambda: called.append("soon"))
    await until(lambda: called)
    assert called == ["soon"]


async def test_many_that_are_due_at_once_are_called_a_few_at_a_time() -> None:
    """Red when a run calls all that are due: ten thousand sockets would stop the loop."""
    queue, when = TimerQueue(), list[int]()
    iterations = Iterations()
    for _ in range(5 * BATCH):
        queue.call_later(0.0, lambda: when.append(iterations.number))
    await until(lambda: len(when) == 5 * BATCH)
    iterations.stop()
    assert max(when.count(number) for number in when) <= BATCH


async def test_a_callback_that_raises_harms_only_itself() -> None:
    """The exception handler of the loop gets it. Red when the run does not go on: no websocket is checked any more."""
    raised: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: raised.append(context["exception"]))
    queue, called = TimerQueue(), list[int]()
    queue.call_later(0.0, lambda: 1 // 0)  # type: ignore[arg-type, return-value]
    queue.call_later(0.0, lambda: called.append(1))
    await until(lambda: called)
    assert [type(error) for error in raised] == [ZeroDivisionError]


async def test_what_is_cancelled_is_not_called_and_not_held() -> None:
    """Red when a handle keeps its callback: a closed socket and all that its app holds would stay for a while."""
    queue, answers = TimerQueue(), Answers()
    handle = queue.call_later(0.0, answers.revoke)
    gone = weakref.ref(answers)
    handle.cancel()
    del answers
    gc.collect()
    assert gone() is None
    called: list[int] = []
    queue.call_later(0.0, lambda: called.append(1))
    await until(lambda: called)


async def test_the_sockets_of_a_group_are_closed_a_few_at_a_time() -> None:
    """One answer revokes them all. Red when each closes at once."""
    answers, iterations, closes = Answers(), Iterations(), list[int]()
    answers.staleness = 1_000.0
    answers.hang = asyncio.Event()

    class Noting(Socket):
        async def send(self, message: dict[str, object]) -> None:
            if message["type"] == "websocket.close":
                closes.append(iterations.number)
            await super().send(message)

    sockets = [Noting() for _ in range(5 * BATCH)]
    sessions = [WebSocketSession(answers, RAW, socket.scope, socket.receive, socket.send) for socket in sockets]
    running = [asyncio.ensure_future(session.run(listening)) for session in sessions]
    await until(lambda: all(socket.sent for socket in sockets))
    answers.cached = False
    for session in sessions:
        session._check()
    await until(lambda: answers.asked == len(sessions))
    answers.error = InvalidToken(InvalidToken.MESSAGE)
    answers.hang.set()
    await asyncio.wait_for(asyncio.gather(*running), 120)
    iterations.stop()
    assert len(closes) == len(sessions)
    assert max(closes.count(number) for number in closes) <= BATCH


async def test_nothing_passes_a_revoked_socket_that_waits_for_its_turn() -> None:
    """Red when only the close stops what the app sends."""
    socket, answers = Socket(), Answers()
    answers.staleness = 1_000.0
    session = WebSocketSession(answers, RAW, socket.scope, socket.receive, socket.send)
    await session.send({"type": "websocket.accept"})
    answers.revoke()
    session._check()
    assert session._task is not None
    await asyncio.wait({session._task})
    assert socket.closing is None
    with pytest.raises(SocketClosed):
        await session.send({"type": "websocket.send", "text": "late"})
    assert socket.texts == []
    assert socket.closing is not None
