"""The demo's queries, the same for SQLite and DuckDB and for all sixteen groups, and the period that a viewer chose."""

from __future__ import annotations

import re
from calendar import monthrange
from dataclasses import dataclass
from datetime import date, timedelta
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from tenantry.demo.sources import SCHEMA
from tenantry.errors import DataSourceError, MissingVariable, UnbindableValue
from tenantry.groups import extend
from tenantry.sql import SQLTemplate

if TYPE_CHECKING:
    from tenantry.datasources import DataSources
    from tenantry.groups import Record, UserGroup

FIRST_DAY, LAST_DAY = date(2013, 1, 1), date(2013, 12, 31)
"""What the data cover."""

_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_ONE_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Period:
    """Both days count; None leaves that side open."""

    start: date | None
    end: date | None

    @property
    def params(self) -> dict[str, str]:
        """What the SQL's optional clauses read as ``params.from`` and ``params.to``."""
        bounds = {"from": self.start, "to": self.end}
        return {name: day.isoformat() for name, day in bounds.items() if day is not None}

    @property
    def first(self) -> date:
        """The first day, or that of all data."""
        return self.start or FIRST_DAY

    @property
    def last(self) -> date:
        """The last day, or that of all data."""
        return self.end or LAST_DAY

    @property
    def months(self) -> int | None:
        """How many whole calendar months this is; None if it is not."""
        begins = self.first.day == 1
        ends = self.last.day == monthrange(self.last.year, self.last.month)[1]
        count = (self.last.year - self.first.year) * 12 + self.last.month - self.first.month + 1
        return count if begins and ends else None

    @property
    def length(self) -> str:
        """In words, for a sentence: "6 months", "day"."""
        months = self.months
        count, unit = (months, "month") if months else ((self.last - self.first).days + 1, "day")
        return f"{count} {unit}s" if count > 1 else unit

    def before(self) -> Period | None:
        """The period of the same length just before; None where the data do not reach back that far."""
        end = self.first - _ONE_DAY
        months = self.months
        if months:
            index = self.first.year * 12 + self.first.month - 1 - months
            start = date(index // 12, index % 12 + 1, 1)
        else:
            start = self.first - (self.last - self.first) - _ONE_DAY
        return Period(start, end) if start >= FIRST_DAY else None

    def touches(self, month: int) -> bool:
        """Whether any day of this month of the data's year is chosen."""
        year = FIRST_DAY.year
        opens, closes = date(year, month, 1), date(year, month, monthrange(year, month)[1])
        return self.first <= closes and opens <= self.last


DEFAULT = Period(date(2013, 7, 1), LAST_DAY)
"""The last half-year of the data: there is one before it to compare with."""


@dataclass(frozen=True, slots=True)
class Choice:
    """What a viewer asked for. With a ``problem`` (a sentence for the viewer) ``wrong`` names the fields to blame.

    ``period`` then holds what could be read of the days, so that the form keeps it.
    """

    period: Period
    problem: str | None = None
    wrong: tuple[str, ...] = ()


def read_choice(params: Record) -> Choice:
    """The period that ``params`` ask for: DEFAULT without ``from`` and ``to``; an empty one leaves its side open."""
    if "from" not in params and "to" not in params:
        return Choice(DEFAULT)
    days: dict[str, date | None] = {"from": None, "to": None}
    unread = []
    for name in days:
        try:
            days[name] = _day(params[name]) if name in params else None
        except ValueError:
            unread.append(name)
    period = Period(days["from"], days["to"])
    if unread:
        words = " and ".join(_WORDS[name] for name in unread)
        verb = "are not dates" if len(unread) > 1 else "is not a date"
        return Choice(period, f"The {words} {verb}. Write year-month-day, as in 2013-07-01.", tuple(unread))
    if period.first > LAST_DAY or period.last < FIRST_DAY:
        return Choice(period, f"There are flights from {FIRST_DAY} to {LAST_DAY} only. Choose other days.", BOTH)
    if period.first > period.last:
        return Choice(period, "The first day is after the last day. Change one of them.", BOTH)
    return Choice(period)


BOTH = ("from", "to")
_WORDS = {"from": "first day", "to": "last day"}


def _day(value: object) -> date | None:
    """Raises ValueError, also for a parameter that was given twice."""
    if value == "":
        return None
    if not isinstance(value, str) or not _DAY.fullmatch(value):
        raise ValueError("not a day")
    return date.fromisoformat(value)


Rows = list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a panel has no rows, for the viewer. ``status`` is what the page then answers with."""

    title: str
    detail: str
    status: int


def _load(name: str) -> SQLTemplate:
    return SQLTemplate((files("tenantry.demo") / "sql" / f"{name}.sql").read_text(encoding="utf-8"))


KEY_FIGURES, MONTHS, ROUTES = _load("key_figures"), _load("months"), _load("routes")


@dataclass(frozen=True, slots=True)
class Asker:
    """Asks for one group, with its variables."""

    sources: DataSources
    group: UserGroup
    variables: Record

    async def rows(self, query: SQLTemplate, period: Period) -> Rows | Failure:
        """The rows of a query for a period. What a viewer may read comes back as a Failure, anything else raises."""
        variables = extend(self.variables, "params", period.params)
        try:
            return await self.sources.fetch(self.group, SCHEMA, query, variables)
        except MissingVariable as error:
            title = f"Missing variable{'s' if len(error.names) > 1 else ''}: {', '.join(error.names)}"
            # Where it stands in the SQL, which differs from panel to panel, is for the author.
            why = "This customer has no value for it. Nothing is shown without it: set it, then open this page again."
            return Failure(title, why, error.status)
        except UnbindableValue as error:
            return Failure(f"A variable cannot be used: {error.name}", error.message, error.status)
        except DataSourceError as error:
            return Failure(f"The data source for “{SCHEMA}” gave no answer", error.message, error.status)
