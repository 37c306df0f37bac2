from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

Clock = Callable[[], datetime]
"""The time of day: an aware datetime in UTC."""

MonotonicClock = Callable[[], float]
"""Seconds since some start, never going back."""
