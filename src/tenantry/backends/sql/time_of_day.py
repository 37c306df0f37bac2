"""The time of day of a store: of the clock that it was given, else of its database, else of this host."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import FunctionElement

from tenantry.backends.clock import utc_now
from tenantry.backends.sql.tables import from_micros
from tenantry.ports import Clock


class database_now(FunctionElement[int]):  # noqa: N801 - named as a function of SQL is
    """Microseconds since 1970 by the database's clock, at this moment and not at the start of the transaction; null in
    SQLite, which has no clock but its host's."""

    type = BigInteger()
    inherit_cache = True


@compiles(database_now)
def _null(*_: Any, **__: Any) -> str:
    return "null"


@compiles(database_now, "postgresql")
def _clock_timestamp(*_: Any, **__: Any) -> str:
    return "(extract(epoch from clock_timestamp()) * 1000000)::bigint"


class TimeOfDay:
    """Tells the time. Hosts of a fleet disagree about it, so one clock judges for all of them: the database's.

    ``given`` overrides it, for tests.
    """

    def __init__(self, given: Clock | None) -> None:
        self._given = given

    def at(self, micros: int | None) -> datetime:
        """The time, where the database said ``micros`` a moment ago."""
        if self._given is not None:
            return self._given()
        return utc_now() if micros is None else from_micros(micros)
