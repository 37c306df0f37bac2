"""Days in zones whose clocks skip a midnight. For example, in São Paulo, 4 November 2018 began at 1:00."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, time, tzinfo
from typing import Any

from tenantry.datasources.results import Result


def with_midnights(result: Result, zone: tzinfo | None) -> Result:
    """If all values of a column are beginnings of days in ``zone``, replace each with a midnight.

    ``2018-11-04T01:00:00-02:00`` becomes ``2018-11-04T00:00:00-03:00``, the same instant. Without this change, a column
    of days would look like one of hours.
    """
    if zone is None:
        return result
    changed = {}
    for position, column in enumerate(result.columns):
        if column.type == "datetime" and (days := _days([row[position] for row in result.rows], zone)):
            changed[position] = days
    if not changed:
        return result
    rows = [
        tuple(changed[position][number] if position in changed else value for position, value in enumerate(row))
        for number, row in enumerate(result.rows)
    ]
    return replace(result, rows=rows)


def _days(values: Sequence[Any], zone: tzinfo) -> list[datetime | None] | None:
    """Returns None if a value is not the beginning of a day, or if all days begin at midnight."""
    found: list[datetime | None] = []
    is_late = False
    for value in values:
        if value is None:
            found.append(None)
            continue
        if not isinstance(value, datetime) or value.tzinfo is None:
            return None
        try:
            local = value.astimezone(zone)
            midnight = datetime.combine(local.date(), time(), zone)
            if midnight.astimezone(UTC) != value.astimezone(UTC):
                return None
        except OverflowError:  # the first or the last day of the calendar
            return None
        is_late = is_late or local.time() != time()
        found.append(midnight)
    return found if is_late else None
