"""The time of day of a store."""

from __future__ import annotations

from datetime import UTC, datetime

from tenantry.groups import from_micros
from tenantry.ports import Clock


def utc_now() -> datetime:
    """The time of day by this host's clock."""
    return datetime.now(UTC)


class StoreClock:
    """The time by the clock that a store was given, else by its database's, else by this host's.

    Hosts of a fleet disagree about the time, so one clock decides for all of them: the database's. ``given`` overrides
    it, for tests.
    """

    def __init__(self, given: Clock | None) -> None:
        self._given = given

    def at(self, micros: int | None) -> datetime:
        """The time, where the database said ``micros`` a moment ago."""
        if self._given is not None:
            return self._given()
        return utc_now() if micros is None else from_micros(micros)
