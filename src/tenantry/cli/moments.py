from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Final

import click

from tenantry.cli.options import OptionDecorator

_UNITS: Final = {"m": timedelta(minutes=1), "h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1)}
_LONGEST: Final = timedelta(days=36_500)


def as_duration(value: str) -> timedelta:
    """Read a number of minutes, hours, days or weeks, such as ``90d``. Raises click.BadParameter."""
    found = re.fullmatch(r"([0-9]{1,8})([mhdw])", value.strip().lower())
    if found is None:
        raise click.BadParameter(f"{value!r} is not a number and a unit: write 30m, 12h, 90d or 8w")
    duration = int(found[1]) * _UNITS[found[2]]
    if not timedelta() < duration <= _LONGEST:
        raise click.BadParameter(f"{value} is not between 1m and {_LONGEST.days}d")
    return duration


def as_moment(value: str) -> datetime:
    """Read a time such as ``2027-01-31T09:00:00Z``, or a date such as ``2027-01-31`` (the start of that day in UTC).
    Raises click.BadParameter."""
    try:
        moment = datetime.fromisoformat(value.strip())
        if re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", value.strip()):
            return moment.replace(tzinfo=UTC)
        if moment.utcoffset() is not None:
            return moment.astimezone(UTC)
    except (ValueError, OverflowError):
        raise click.BadParameter(
            f"{value!r} is neither a date nor a time: write 2027-01-31 or 2027-01-31T09:00:00Z"
        ) from None
    raise click.BadParameter(f"{value!r} has no time zone: write {value.strip()}Z for UTC, or an offset such as +02:00")


expires_in_option: OptionDecorator = click.option(
    "--expires-in",
    type=as_duration,
    metavar="DURATION",
    help="End date, as a duration from now: 30m, 12h, 90d or 8w.",
)
expires_at_option: OptionDecorator = click.option(
    "--expires-at",
    type=as_moment,
    metavar="TIME",
    help="End date: a time (2027-01-31T09:00:00Z) or a date (2027-01-31). A date means the start of that day in UTC.",
)


def read_end(expires_in: timedelta | None, expires_at: datetime | None, now: datetime) -> datetime | None:
    """Return ``expires_at``, or ``now`` plus ``expires_in``, or None. Raises click.UsageError if both are given."""
    if expires_in is not None and expires_at is not None:
        raise click.UsageError("--expires-in and --expires-at set the same value: give only one")
    return expires_at if expires_in is None else now + expires_in


def check_future(end: datetime | None, now: datetime) -> None:
    if end is not None and end <= now:
        raise click.BadParameter(
            f"{end.isoformat(timespec='seconds')} is in the past: give a later time",
            param_hint="'--expires-at'",
        )
