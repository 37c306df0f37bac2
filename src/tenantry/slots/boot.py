"""The boot clock: seconds that never go back and go on while the machine sleeps."""

from __future__ import annotations

import sys
import time
from functools import partial

from tenantry.ports import MonotonicClock


def _boot_clock() -> MonotonicClock:
    if sys.platform == "linux":
        return partial(time.clock_gettime, time.CLOCK_BOOTTIME)  # CLOCK_MONOTONIC stands still while it sleeps
    if sys.platform == "darwin":
        return partial(time.clock_gettime, time.CLOCK_MONOTONIC)  # time.monotonic stands still there
    return time.monotonic


boot_clock: MonotonicClock = _boot_clock()
"""A lease ends while a laptop or a virtual machine sleeps: what it cached before is not used when it wakes."""
