from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Final

MOMENT_RULE: Final = "this must be an RFC 3339 time with a zone, such as 2027-01-31T23:59:59Z"

_MOMENT: Final = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ](?:[01][0-9]|2[0-3]):[0-5][0-9]:)([0-5][0-9]|60)"
    r"((?:\.[0-9]+)?(?:[Zz]|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9]))"
)


def read_moment(text: str) -> datetime:
    """Parse an RFC 3339 time and convert it to UTC. Digits beyond microseconds are dropped. Second 60 becomes second 0
    of the next minute. Raises ValueError(MOMENT_RULE) for any other text."""
    found = _MOMENT.fullmatch(text)
    if found is not None:
        minute, second, rest = found.groups()
        try:
            moment = datetime.fromisoformat(f"{minute}{min(second, '59')}{rest}".upper())
            return (moment + timedelta(seconds=second == "60")).astimezone(UTC)
        except (ValueError, OverflowError):  # such as February 30, or a time in UTC before the year 1
            pass
    raise ValueError(MOMENT_RULE)


def write_moment(moment: datetime | None) -> str | None:
    """Format the time as ISO 8601 in UTC."""
    return None if moment is None else moment.astimezone(UTC).isoformat()
