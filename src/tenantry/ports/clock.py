from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

Clock = Callable[[], datetime]
"""Returns the time of day, aware and in UTC."""

MonotonicClock = Callable[[], float]
"""Returns seconds since an arbitrary start; the value never decreases."""
