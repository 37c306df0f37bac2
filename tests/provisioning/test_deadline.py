"""One deadline for many calls; a call that need not wait has no timer."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tenantry.errors import OutcomeUnknown, StoreUnavailable
from tenantry.provisioning.deadline import Deadline, DeadlineExceeded, run_with_timeout


class RecordedCall:
    """A call that waits as given, and records its steps."""

    def __init__(self) -> None:
        self.steps: list[str] = []

    async def wait(self, *rounds: Any) -> str:
        try:
            for seconds in rounds:
                self.steps.append(f"wait {seconds}")
                await (asyncio.Event().wait() if seconds is None else asyncio.sleep(seconds))
        except asyncio.CancelledError:
            self.steps.append("cancelled")
            raise
        return "done"


@pytest.mark.parametrize("rounds", [(), (0,), (0, 0, 0.001, 0)])
async def test_a_call_in_time(rounds: tuple[float, ...]) -> None:
    """Its result, whether it waits never, once or more; each round is gone through once."""
    call = RecordedCall()
    assert await run_with_timeout(60, call.wait(*rounds)) == "done"
    assert call.steps == [f"wait {seconds}" for seconds in rounds]


async def test_a_call_that_need_not_wait_has_no_timer(monkeypatch: pytest.MonkeyPatch) -> None:
    """Red when the timer is begun before the first step."""

    def refuse(*given: Any) -> None:
        raise AssertionError("a timer was begun")

    monkeypatch.setattr(asyncio, "timeout", refuse)
    assert await run_with_timeout(60, RecordedCall().wait()) == "done"


@pytest.mark.parametrize("rounds", [(None,), (0, None)])
async def test_a_call_that_is_late(rounds: tuple[Any, ...]) -> None:
    """It is cancelled and sees it."""
    call = RecordedCall()
    with pytest.raises(DeadlineExceeded):
        await run_with_timeout(0.01, call.wait(*rounds))
    assert call.steps[-1] == "cancelled"


@pytest.mark.parametrize("error", [TimeoutError("its own"), KeyError("x")])
@pytest.mark.parametrize("rounds", [(), (0,)])
async def test_errors_of_the_call_are_its_own(error: Exception, rounds: tuple[float, ...]) -> None:
    """Also a TimeoutError, which is not ours. Red when every TimeoutError is taken for the end of the time."""

    async def fail() -> None:
        await RecordedCall().wait(*rounds)
        raise error

    with pytest.raises(type(error)) as caught:
        await run_with_timeout(60, fail())
    assert caught.value is error


async def test_a_caller_that_is_cancelled() -> None:
    """So is the call, and the cancellation is not taken for the end of the time."""
    call = RecordedCall()
    task = asyncio.ensure_future(run_with_timeout(60, call.wait(0, None)))
    while len(call.steps) < 2:
        await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert call.steps[-1] == "cancelled"


async def test_reads_share_the_time() -> None:
    """Each is shorter than the deadline, all together are not. Red when each has it whole."""
    deadline = Deadline(0.1)

    async def read_often() -> None:
        for _ in range(100):
            await deadline.read(RecordedCall().wait(0.02))

    with pytest.raises(StoreUnavailable, match="too slow"):
        await read_often()


async def test_a_write_is_not_begun_too_late() -> None:
    """Nothing was changed, and the error is one that says so."""
    deadline, call = Deadline(0.01), RecordedCall()
    with pytest.raises(StoreUnavailable):
        await deadline.read(call.wait(None))
    with pytest.raises(StoreUnavailable) as caught:
        await deadline.write(call.wait(0))
    assert caught.value.code == "store_unavailable"
    assert call.steps == ["wait None", "cancelled"]


async def test_a_write_that_does_not_end_in_time() -> None:
    """Nobody knows whether it was done. Red when it is StoreUnavailable, which says that nothing was."""
    with pytest.raises(OutcomeUnknown):
        await Deadline(0.001).write(RecordedCall().wait(None))


async def test_the_error_of_the_store_comes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """A write whose store gives up at the same moment as we would is what the store says it is.

    Red when the write is waited for no longer than the deadline says.
    """
    monkeypatch.setattr("tenantry.provisioning.deadline.WRITE_GRACE_SECONDS", 60.0)  # a loop may stand still

    async def locked() -> None:
        await asyncio.sleep(0.02)
        raise StoreUnavailable("the store is locked")

    with pytest.raises(StoreUnavailable, match="locked"):
        await Deadline(0.01).write(locked())
