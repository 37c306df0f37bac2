"""What a bus makes of its messages: strictly read, and never more than a listener can take."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenantry.backends.buses.subscription import EVICTIONS, BusCounters, NotificationLimiter
from tenantry.groups import write_notice
from tests.backends.buses.conftest import RecordingListener, until

HANDLE = bytes(range(8))


@pytest.fixture
async def counters() -> BusCounters:
    return BusCounters()


async def test_a_notice_is_passed_on(counters: BusCounters) -> None:
    """As text or as bytes."""
    listener = RecordingListener()
    limiter = NotificationLimiter(listener, counters, asyncio.get_running_loop())
    notice = write_notice("-", 5, HANDLE)
    assert len(notice) <= 64
    limiter.feed(notice)
    limiter.feed(notice.encode())
    limiter.close()
    assert listener.evicted == [(HANDLE, 5)] * 2
    assert (counters.heard, counters.ignored, listener.flushes) == (2, 0, 0)


@pytest.mark.parametrize(
    "message",
    [
        "",
        "-",
        "- 5",
        "- 5 00",
        "- -5 0001020304050607",
        "- 5.0 0001020304050607",
        "- \u0665 0001020304050607",
        "- 5 000102030405060",
        "- 5 00010203040506070",
        "- 5 000102030405060708",
        "- 5 000102030405060g",
        "- 5 0001020304050607 ",
        f"- {10**19} 0001020304050607",
        f"{'x' * 200} 5 0001020304050607",
        b"\xff\xfe 5 \x00",
        "x" * 1_000_000,
    ],
)
async def test_anything_else_is_ignored(message: str | bytes, counters: BusCounters) -> None:
    """And counted."""
    listener = RecordingListener()
    limiter = NotificationLimiter(listener, counters, asyncio.get_running_loop())
    limiter.feed(message)
    limiter.close()
    assert listener.evicted == []
    assert (counters.heard, counters.ignored) == (0, 1)


@given(st.text(max_size=80) | st.binary(max_size=80))
async def test_no_message_raises(message: str | bytes) -> None:
    limiter = NotificationLimiter(RecordingListener(), BusCounters(), asyncio.get_running_loop())
    limiter.feed(message)
    limiter.close()


async def test_a_flood_is_held_back(counters: BusCounters) -> None:
    """Of 50,000 notices 1,000 are passed on; for the others there is one flush, so that a true one among them counts.

    Red without the limit: 50,000 evictions.
    """
    listener = RecordingListener()
    limiter = NotificationLimiter(listener, counters, asyncio.get_running_loop())
    for number in range(50_000):
        limiter.feed(write_notice("-", number, number.to_bytes(8, "big")))
    assert (len(listener.evicted), listener.flushes) == (EVICTIONS, 0)
    await until(lambda: listener.flushes)
    assert counters.held_back == 49_000
    limiter.feed(write_notice("-", 1, HANDLE))
    assert listener.evicted[-1] == (HANDLE, 1)
    limiter.close()
    assert listener.flushes == 1
