"""A clock whose seconds never go back, and go on while the machine is suspended."""

from __future__ import annotations

import sys
import time
from functools import partial

from tenantry.ports import MonotonicClock


def _choose() -> MonotonicClock:
    if sys.platform == "linux":
        return partial(time.clock_gettime, time.CLOCK_BOOTTIME)  # CLOCK_MONOTONIC stands still in suspend
    if sys.platform == "darwin":
        return partial(time.clock_gettime, time.CLOCK_MONOTONIC)  # time.monotonic stands still there
    return time.monotonic


monotonic_with_suspend: MonotonicClock = _choose()
"""A lease ends while a laptop or a virtual machine is suspended: what was cached before is not used afterwards."""
