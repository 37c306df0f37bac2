"""A clock whose seconds never go back, and go on while the machine is suspended."""

from __future__ import annotations

import sys
import time
from functools import partial

from tenantry.ports import MonotonicClock

monotonic_with_suspend: MonotonicClock
"""A lease ends while a laptop or a virtual machine is suspended: what was cached before is not used afterwards."""

if sys.platform == "linux":
    monotonic_with_suspend = partial(time.clock_gettime, time.CLOCK_BOOTTIME)  # CLOCK_MONOTONIC stops in suspend
elif sys.platform == "darwin":
    monotonic_with_suspend = partial(time.clock_gettime, time.CLOCK_MONOTONIC)  # time.monotonic stops there
else:
    monotonic_with_suspend = time.monotonic
