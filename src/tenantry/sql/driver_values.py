"""Values of declared parameters for drivers that cannot send them, or for engines that would not compare them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta


def naive_utc(moment: datetime) -> datetime:
    """An instant in UTC without its zone: for engines whose columns have none."""
    return moment.astimezone(UTC).replace(tzinfo=None)


def utc_text(moment: datetime) -> str:
    """An instant in UTC as ``2026-01-31 09:30:00``."""
    return naive_utc(moment).isoformat(sep=" ")


def seconds(length: timedelta) -> int | float:
    """A length of time in seconds: for engines that have no such type."""
    total = length.total_seconds()
    return int(total) if total.is_integer() else total
