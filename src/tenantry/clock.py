from __future__ import annotations

import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial

monotonic_with_suspend: Callable[[], float]
"""Returns the seconds since boot, including suspend (``ports.MonotonicClock``), because leases must also expire while
the machine sleeps."""

if sys.platform == "linux":
    monotonic_with_suspend = partial(time.clock_gettime, time.CLOCK_BOOTTIME)  # CLOCK_MONOTONIC stops in suspend
elif sys.platform == "darwin":
    monotonic_with_suspend = partial(time.clock_gettime, time.CLOCK_MONOTONIC)  # time.monotonic stops in suspend
else:
    monotonic_with_suspend = time.monotonic


_START = time.time() - monotonic_with_suspend()


def steady_time() -> float:
    """Return Unix seconds by the clock that this host had when the process started. If somebody sets the clock, ages
    that are computed with this time stay right."""
    return _START + monotonic_with_suspend()


def clock_shift() -> int:
    """Return by how many seconds the host's clock is ahead of ``steady_time``."""
    return round(time.time() - steady_time())


def utc_now() -> datetime:
    return datetime.now(UTC)
