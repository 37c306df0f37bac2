"""Converts Grafana's SQL macros, such as ``$__timeFilter(column)``, to plain SQL with tags."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from tenantry.sql.inspect import dialect_named
from tenantry_convert.conversion import Conversion, ImportedVariable
from tenantry_convert.field_filters import UNITS
from tenantry_convert.scanning import path_name
from tenantry_convert.time_sql import epoch, fixed_bucket, from_epoch, instant_type, seconds

_VARIABLE = re.compile(r"'?\$\{?(\w+)\}?'?")
_INTERVAL_VARIABLE = re.compile(r"'?\$(?:__interval|\{__interval\})'?")
_NANO: Final = 1_000_000_000
_PERIOD: Final = "last 6 hours"
"""The time range of a new dashboard in Grafana."""


@dataclass(slots=True)
class GrafanaMacros:
    """Converts the macros of one query. ``convert_text`` converts the variables in an argument; ``known`` looks up a
    variable of the document."""

    conversion: Conversion
    convert_text: Callable[[str], str]
    known: Callable[[str], ImportedVariable | None]

    @property
    def time_alias(self) -> str:
        return "`time`" if dialect_named(self.conversion.dialect).double_is_string else '"time"'

    def period(self, offset: int) -> str:
        """Declare the parameter for the dashboard's time range, and return the parameter's path.

        The parameter gets a default: without a range, the query would select all rows.
        """
        if not self.conversion.query.period and "__timeRange" not in self.conversion.names:
            reason = f"the range of the dashboard is not in the text: {_PERIOD} is assumed; change it in the header"
            self.conversion.report(offset, "the range of time", reason)
        definition = {"type": "datetime range", "default": self.conversion.query.period or _PERIOD}
        return self.conversion.declare("__timeRange", "period", definition)

    def end(self, which: str, offset: int) -> str:
        """Return the tag for the ``start`` or ``end`` of the time range."""
        return f"{{{{ {self.period(offset)}.{which} }}}}"

    def end_epoch(self, which: str, offset: int) -> str:
        """Return SQL for the ``start`` or ``end`` of the time range, in seconds since 1970."""
        dialect = self.conversion.dialect
        return epoch(f"cast({self.end(which, offset)} as {instant_type(dialect)})", dialect)

    def convert(self, name: str, arguments: Sequence[str], offset: int) -> str | None:
        """Return the SQL for a macro; None for an unknown macro or for arguments that it does not take."""
        macro = _MACROS.get(name)
        if macro is None or not macro[0] <= len(arguments) <= macro[1]:
            return None
        return macro[2](self, arguments, offset)

    def _column(self, arguments: Sequence[str]) -> str:
        return self.convert_text(arguments[0])

    def _time_filter(self, arguments: Sequence[str], offset: int) -> str:
        return f"{{{{ {self.period(offset)} | within({self._column(arguments)}) }}}}"

    def _epoch_filter(self, arguments: Sequence[str], offset: int) -> str:
        column = from_epoch(self._column(arguments), self.conversion.dialect)
        return f"{{{{ {self.period(offset)} | within({column}) }}}}"

    def _nano_filter(self, arguments: Sequence[str], offset: int) -> str:
        column = from_epoch(f"({self._column(arguments)}) / {_NANO}", self.conversion.dialect)
        return f"{{{{ {self.period(offset)} | within({column}) }}}}"

    def _time(self, arguments: Sequence[str], _offset: int) -> str:
        return f"{self._column(arguments)} as {self.time_alias}"

    def _time_epoch(self, arguments: Sequence[str], _offset: int) -> str:
        return f"{epoch(self._column(arguments), self.conversion.dialect)} as {self.time_alias}"

    def _time_group(self, arguments: Sequence[str], offset: int) -> str | None:
        column, interval = self._column(arguments), arguments[1].strip()
        self._no_fill(arguments, offset)
        if _INTERVAL_VARIABLE.fullmatch(interval):
            return f"{{{{ {self.bucket(offset)} | trunc({column}) }}}}"
        if (variable := _VARIABLE.fullmatch(interval)) is not None:
            return self._chosen_bucket(column, variable[1])
        length = seconds(interval.strip("'\""))
        return None if length is None else fixed_bucket(column, length, self.conversion.dialect)

    def _chosen_bucket(self, column: str, name: str) -> str | None:
        known = self.known(name)
        lengths = {choice: seconds(choice) for choice in known.choices} if known is not None else {}
        if known is None or not lengths or None in lengths.values():
            return None
        definition = {key: value for key, value in known.definition.items() if key in {"default", "label"}}
        definition = {"type": "choice", "choices": list(lengths), **definition}
        path = self.conversion.declare(name, path_name(name), definition)
        texts = [
            f"{each}: {fixed_bucket(column, int(lengths[each] or 0), self.conversion.dialect)}" for each in lengths
        ]
        return f"{{{{ {path} | one_of({', '.join(texts)}) }}}}"

    def _epoch_group(self, arguments: Sequence[str], offset: int) -> str | None:
        column, interval = self._column(arguments), arguments[1].strip()
        self._no_fill(arguments, offset)
        if _INTERVAL_VARIABLE.fullmatch(interval):
            group = f"{{{{ {self.bucket(offset)} | trunc({from_epoch(column, self.conversion.dialect)}) }}}}"
            return epoch(group, self.conversion.dialect)
        length = seconds(interval.strip("'\""))
        return None if length is None else f"floor(({column}) / {length}) * {length}"

    def bucket(self, offset: int) -> str:
        """Declare the parameter for the unit of time buckets, and return the parameter's path."""
        reason = "Grafana computes it from the width of the panel; here a viewer chooses a unit"
        self.conversion.report(offset, "$__interval", reason)
        definition = {"type": "choice", "choices": list(UNITS), "default": "hour"}
        return self.conversion.declare("__interval", "bucket", definition)

    def _no_fill(self, arguments: Sequence[str], offset: int) -> None:
        if len(arguments) > 2:
            reason = "Grafana fills the gaps itself; join a series of times, as in docs/sql-cookbook.md"
            self.conversion.report(offset, f"fill with {arguments[2]}", reason, left=True)


_Macro = Callable[[GrafanaMacros, Sequence[str], int], str | None]


def _aliased(macro: _Macro) -> _Macro:
    def with_alias(macros: GrafanaMacros, arguments: Sequence[str], offset: int) -> str | None:
        text = macro(macros, arguments, offset)
        return None if text is None else f"{text} as {macros.time_alias}"

    return with_alias


def _at(which: str, factor: int | None = None) -> _Macro:
    def end(macros: GrafanaMacros, _arguments: Sequence[str], offset: int) -> str:
        if factor is None:
            return macros.end(which, offset)
        return macros.end_epoch(which, offset) + (f" * {factor}" if factor != 1 else "")

    return end


def _conditional(macros: GrafanaMacros, arguments: Sequence[str], _offset: int) -> str:
    return f"(1 = 1 [[ and {macros.convert_text(arguments[0])} ]])"


_MACROS: Final[dict[str, tuple[int, int, _Macro]]] = {
    "timeFilter": (1, 1, GrafanaMacros._time_filter),
    "unixEpochFilter": (1, 1, GrafanaMacros._epoch_filter),
    "unixEpochNanoFilter": (1, 1, GrafanaMacros._nano_filter),
    "time": (1, 1, GrafanaMacros._time),
    "timeEpoch": (1, 1, GrafanaMacros._time_epoch),
    "timeGroup": (2, 3, GrafanaMacros._time_group),
    "timeGroupAlias": (2, 3, _aliased(GrafanaMacros._time_group)),
    "unixEpochGroup": (2, 3, GrafanaMacros._epoch_group),
    "unixEpochGroupAlias": (2, 3, _aliased(GrafanaMacros._epoch_group)),
    "timeFrom": (0, 0, _at("start")),
    "timeTo": (0, 0, _at("end")),
    "unixEpochFrom": (0, 0, _at("start", 1)),
    "unixEpochTo": (0, 0, _at("end", 1)),
    "unixEpochNanoFrom": (0, 0, _at("start", _NANO)),
    "unixEpochNanoTo": (0, 0, _at("end", _NANO)),
    "conditionalAll": (2, 2, _conditional),
}
"""Name -> the minimum and maximum number of arguments, and the conversion."""
