from __future__ import annotations

import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial

monotonic_with_suspend: Callable[[], float]
"""Returns the seconds since boot, including suspend (``ports.MonotonicClock``). Leases must also expire while the
machine sleeps."""

if sys.platform == "linux":
    monotonic_with_suspend = partial(time.clock_gettime, time.CLOCK_BOOTTIME)  # CLOCK_MONOTONIC stops in suspend
elif sys.platform == "darwin":
    monotonic_with_suspend = partial(time.clock_gettime, time.CLOCK_MONOTONIC)  # time.monotonic stops in suspend
else:
    monotonic_with_suspend = time.monotonic


_START = time.time() - monotonic_with_suspend()
steady_time: Callable[[], float] = map(_START.__add__, iter(monotonic_with_suspend, None)).__next__
"""Returns Unix seconds, counted from the host's clock at the start of the process. If somebody sets that clock later,
ages that are computed with this time stay right."""  # C functions only: each cached query calls it (decision 94)


def clock_shift() -> float:
    """Return how many seconds the host's clock is ahead of ``steady_time``, rounded to milliseconds."""
    return round(time.time() - steady_time(), 3)


def utc_now() -> datetime:
    return datetime.now(UTC)
