"""One patience for many calls; a call that need not wait has no timer."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tenantry.errors import OutcomeUnknown, StoreUnavailable
from tenantry.provisioning.patience import Patience, TimeIsUp, within


class Heard:
    """A call that waits as it is told, and keeps what it heard."""

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
    heard = Heard()
    assert await within(60, heard.wait(*rounds)) == "done"
    assert heard.steps == [f"wait {seconds}" for seconds in rounds]


async def test_a_call_that_need_not_wait_has_no_timer(monkeypatch: pytest.MonkeyPatch) -> None:
    """Red when the timer is begun before the first step."""

    def refuse(*given: Any) -> None:
        raise AssertionError("a timer was begun")

    monkeypatch.setattr(asyncio, "timeout", refuse)
    assert await within(60, Heard().wait()) == "done"


@pytest.mark.parametrize("rounds", [(None,), (0, None)])
async def test_a_call_that_is_late(rounds: tuple[Any, ...]) -> None:
    """It is cancelled and hears of it."""
    heard = Heard()
    with pytest.raises(TimeIsUp):
        await within(0.01, heard.wait(*rounds))
    assert heard.steps[-1] == "cancelled"


@pytest.mark.parametrize("error", [TimeoutError("its own"), KeyError("x")])
@pytest.mark.parametrize("rounds", [(), (0,)])
async def test_errors_of_the_call_are_its_own(error: Exception, rounds: tuple[float, ...]) -> None:
    """Also a TimeoutError, which is not ours. Red when every TimeoutError is taken for the end of the time."""

    async def fail() -> None:
        await Heard().wait(*rounds)
        raise error

    with pytest.raises(type(error)) as caught:
        await within(60, fail())
    assert caught.value is error


async def test_a_caller_that_is_cancelled() -> None:
    """So is the call, and the cancellation is not taken for the end of the time."""
    heard = Heard()
    task = asyncio.ensure_future(within(60, heard.wait(0, None)))
    while len(heard.steps) < 2:
        await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert heard.steps[-1] == "cancelled"


async def test_reads_share_the_time() -> None:
    """Each is shorter than the patience, all together are not. Red when each has it whole."""
    patience = Patience(0.1)

    async def read_often() -> None:
        for _ in range(100):
            await patience.read(Heard().wait(0.02))

    with pytest.raises(StoreUnavailable, match="too slow"):
        await read_often()


async def test_a_write_is_not_begun_too_late() -> None:
    """Nothing was changed, and that is what is said."""
    patience, heard = Patience(0.01), Heard()
    with pytest.raises(StoreUnavailable):
        await patience.read(heard.wait(None))
    with pytest.raises(StoreUnavailable) as caught:
        await patience.write(heard.wait(0))
    assert caught.value.code == "store_unavailable"
    assert heard.steps == ["wait None", "cancelled"]


async def test_a_write_that_does_not_end_in_time() -> None:
    """Nobody knows whether it was done. Red when it is StoreUnavailable, which says that nothing was."""
    with pytest.raises(OutcomeUnknown):
        await Patience(0.001).write(Heard().wait(None))


async def test_the_store_speaks_before_we_do() -> None:
    """A write whose store gives up at the same moment as we would is what the store says it is.

    Red when the write is waited for no longer than the patience says.
    """

    async def locked() -> None:
        await asyncio.sleep(0.02)
        raise StoreUnavailable("the store is locked")

    with pytest.raises(StoreUnavailable, match="locked"):
        await Patience(0.01).write(locked())
