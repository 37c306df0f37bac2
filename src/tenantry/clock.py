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


def utc_now() -> datetime:
    return datetime.now(UTC)
