"""The filters ``within``, ``trunc``, ``matches`` and ``excludes``. If the viewer's value is absent, all but ``trunc``
build the condition ``1 = 1``."""

# Each filter builds a Switch (SQL in several branches), so the bound SQL depends only on the kind of value, such as a
# list or a range without an end. `parsing.vanishing` refuses filters in places where `1 = 1` changes the result.

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, Final
from zoneinfo import ZoneInfo

from tenantry.groups import Record, RecordList
from tenantry.sql.binding.conversions import NEXT_DAY
from tenantry.sql.dialects import UNITS, WEEK, Dialect
from tenantry.sql.filters.one_of import check_names_fit, switch_by_name
from tenantry.sql.filters.switch_context import SwitchContext
from tenantry.sql.lexing.lexemes import LexemeKind
from tenantry.sql.lexing.tags import ONE_OF, TRUNC, WITHIN, Argument, read_tag
from tenantry.sql.parameters.declared import (
    RANGE_ENDS,
    SUNDAYS_NAME,
    TEXTS,
    ZONE_NAME,
    Parameter,
    ParameterType,
    PropertyReference,
    ZoneOfGroup,
)
from tenantry.sql.syntax_tree import InList, Node, Position, Switch, Text, Value
from tenantry.sql.tenant_guard import is_viewer_input

Nodes = tuple[Node, ...]

_TRUE: Final[Nodes] = (Text("1 = 1"),)
_NUMBER = re.compile(r"[-+]?[0-9.]+")
_SIMPLE = re.compile(r'(?:\w+|"[^"]+"|`[^`]+`)(?:\.(?:\w+|"[^"]+"|`[^`]+`))*')
_COLUMN, _ZONE = "\0column", "\0zone"  # in the dialect's SQL; no template contains a NUL
_CLOCK_UNITS = {"second", "minute", "hour"}  # these units occur twice when the clocks are set back
_MARKS = re.compile(f"({_COLUMN}|{_ZONE})")


def within(context: SwitchContext) -> Switch:
    """Build ``column >= start and column < end``, or only one comparison if the range has no start or no end."""
    parameter = _parameter(context)
    if parameter is not None and not parameter.is_range:
        period, _, end = parameter.name.partition(".")
        fix = f"declare it: `type: date range`; or write {{{{ {parameter.path} | matches(column) }}}}"
        fix = f"write the range itself: {{{{ params.{period} | within(column) }}}}" if end else fix
        raise context.error(f"within takes a range, but {parameter.path} is {parameter.type}", fix)
    return _ColumnFilter(context, parameter, _column(context)).of_range()


def matches(context: SwitchContext) -> Switch:
    """Build a condition that depends on the parameter's type: the column equals the value, is on a day, is in a list,
    or is in a range."""
    return _by_type(context, negated=False)


def excludes(context: SwitchContext) -> Switch:
    """Build the opposite of ``matches``. The condition is true if the column is NULL, unless NULL is excluded."""
    return _by_type(context, negated=True)


def trunc(context: SwitchContext) -> Switch:
    parameter = _parameter(context)
    check_names_fit(context, "a unit", f"is not a unit of {context.dialect.name}", context.dialect.time_buckets)
    units = UNITS if parameter is None else parameter.choices or UNITS
    column = _column(context)
    if len(context.filter.arguments) == 1 and parameter is not None and isinstance(parameter.zone, ZoneOfGroup):
        branches = {unit: _bucket_of_group(context, unit, column) for unit in units}
    else:
        zone = _zone(context, parameter)
        branches = {unit: _bucket(context, unit, column, zone) for unit in units}
    return replace(switch_by_name(context, "is not a unit", branches), uniform=True, of_column=True)


# --- building branches ------------------------------------------------------------------------------------------------


def _parameter(context: SwitchContext) -> Parameter | None:
    if context.parameter is None and is_viewer_input(context.reference.path) and context.filter.name != TRUNC:
        problem = f"{context.filter.name} needs the type of {context.reference.path}, which is not declared"
        name = context.reference.path.split(".")[1]
        kind = "date range" if context.filter.name == WITHIN else "text"
        raise context.error(problem, f"declare it in the template's params, as in `{name}: {{type: {kind}}}`")
    return context.parameter


def _column(context: SwitchContext) -> Nodes:
    argument = context.filter.arguments[0]
    if argument.key or not argument.lexemes:
        fix = f"write {{{{ {context.reference.path} | {context.filter.name}(created_at) }}}}"
        raise context.error(f"{context.filter.name} takes a column first", fix, offset=argument.start)
    if _is_constant(context, argument):
        problem = f"{context.filter.name} takes a column, but this is a value"
        fix = (
            "write the column without quotes; for columns to choose from, write {{ params.x | one_of(column, column) }}"
        )
        raise context.error(problem, fix, offset=argument.lexemes[0].start)
    nodes = context.compile(argument)
    return nodes if _SIMPLE.fullmatch(argument.text) else (Text("("), *nodes, Text(")"))


def _is_constant(context: SwitchContext, argument: Argument) -> bool:
    if len(argument.lexemes) != 1 or _NUMBER.fullmatch(argument.text):
        return len(argument.lexemes) == 1
    (only,) = argument.lexemes
    if only.kind is LexemeKind.TAG:
        return {each.name for each in read_tag(context.source, only).filters}.isdisjoint({ONE_OF, TRUNC})
    return only.kind in {LexemeKind.STRING, LexemeKind.INTERPOLATED_STRING}


def _by_type(context: SwitchContext, *, negated: bool) -> Switch:
    parameter = _parameter(context)
    condition = _ColumnFilter(context, parameter, _column(context), negated)
    if parameter is None:
        return condition.of_property()
    if parameter.is_range:
        return condition.of_range()
    return condition.of_nullable(parameter) if parameter.only_matches else condition.of_value()


@dataclass(frozen=True, slots=True)
class _ColumnFilter:
    context: SwitchContext
    parameter: Parameter | None
    column: Nodes
    negated: bool = False

    def of_property(self) -> Switch:
        path = self.context.reference.path
        branches = (self._condition(self._equal(path)), self._condition(self._in(path)))
        return self._switch(_is_list, branches, "a value, or a list of values")

    def of_value(self) -> Switch:
        branches = (self._condition(self._given(self.context.reference.path)), *self._absent())
        return self._switch(lambda value: int(value is None), branches)

    def of_range(self) -> Switch:
        has = [(True, True)]
        if self.parameter is not None:
            has += [(True, False)] * ("end" in self.parameter.open) + [(False, True)] * ("start" in self.parameter.open)
        parts: tuple[str, ...] = RANGE_ENDS
        branches: dict[tuple[bool, ...], Nodes] = {
            ends: self._condition(self._between("start", "end", ends, self.column)) for ends in has
        }
        if self.parameter is not None and self.parameter.has_days_of_group:
            parts = (*RANGE_ENDS, "from", "until")
            plain = {(*ends, False, False): nodes for ends, nodes in branches.items()}
            branches = plain | {(*ends, *ends): self._condition(self._days_of_group(ends)) for ends in has}
        return self._by_parts(parts, branches, "an object with a start and an end")

    def _between(self, first: str, end: str, has: tuple[bool, bool], column: Nodes) -> Nodes:
        path, found = self.context.reference.path, list[Node]()
        for name, operator, there in ((first, " >= ", has[0]), (end, " < ", has[1])):
            if there:
                found += [Text(" and ")] * bool(found)
                found += [*column, Text(operator), Value(self.context.variable(f"{path}.{name}"))]
        return tuple(found)

    def _days_of_group(self, has: tuple[bool, bool]) -> Nodes:
        dialect, column = self.context.dialect, self.column
        is_date, instant = (_filled(sql.format(column=_COLUMN), column) for sql in (dialect.is_date, dialect.instant))
        dates = self._between("start", "end", has, column)
        instants = self._between("from", "until", has, instant)
        nearby = self._between("before", "beyond", has, column)  # the engine can use an index for these
        choice: Nodes = (
            Text(" and ("),
            *is_date,
            Text(" and "),
            *dates,
            Text(" or not "),
            *is_date,
            Text(" and "),
            *instants,
        )
        return (*nearby, *choice, Text(")"))

    def of_nullable(self, parameter: Parameter) -> Switch:
        given = self._given(f"{self.context.reference.path}.{parameter.part}")
        branches: dict[tuple[bool, ...], Nodes] = {(True, False): self._condition(given)}
        if parameter.is_null is not None:
            null = (*self.column, Text(" is null"))
            branches[False, True] = self._condition(null, of_null=True)
            if parameter.is_list:
                branches[True, True] = self._condition((*given, Text(" or "), *null), of_null=True)
        return self._by_parts((parameter.part, "null"), branches)

    def _given(self, path: str) -> Nodes:
        parameter = self.parameter
        is_date = parameter is not None and parameter.type is ParameterType.DATE
        if parameter is not None and parameter.is_list:
            return self._in(path, self._day() if is_date else self.column)
        if is_date:
            day, next_day = (Value(self.context.variable(path, conversion=each)) for each in ("", NEXT_DAY))
            return (*self.column, Text(" >= "), day, Text(" and "), *self.column, Text(" < "), next_day)
        if parameter is None or parameter.match == "equals":
            return self._equal(path)
        escape = f" {self.context.dialect.like_escape_clause}".rstrip()
        return (*self.column, Text(" like "), Value(self.context.variable(path)), Text(escape))

    def _equal(self, path: str) -> Nodes:
        return (*self.column, Text(" = "), Value(self.context.variable(path)))

    def _in(self, path: str, column: Nodes = ()) -> Nodes:
        items = InList(self.context.variable(path, Position.LIST), "in", negated=False)
        return (*(column or self.column), Text(" "), items)

    def _day(self) -> Nodes:
        before, after = self.context.dialect.day_of.split("{column}")
        return (Text(before), *self.column, Text(after))

    def _condition(self, nodes: Nodes, *, of_null: bool = False) -> Nodes:
        if not self.negated:
            return (Text("("), *nodes, Text(")"))
        or_null = (Text(")"),) if of_null else (Text(" or "), *self.column, Text(" is null)"))
        return (Text("(not ("), *nodes, Text(")"), *or_null)

    def _absent(self) -> tuple[Nodes, ...]:
        return () if self.parameter is None or self.parameter.always_given else (_TRUE,)

    def _by_parts(self, names: tuple[str, ...], branches: dict[tuple[bool, ...], Nodes], expected: str = "") -> Switch:
        for nothing in self._absent():
            branches[(False,) * len(names)] = nothing
        return self._switch(_by_parts(names, branches), tuple(branches.values()), expected)

    def _switch(self, choose: Callable[[Any], int], branches: tuple[Nodes, ...], expected: str = "") -> Switch:
        parameter = self.parameter
        uniform = parameter is None or (parameter.always_given and parameter.is_null is None)
        takes = expected if parameter is None else parameter.takes
        return Switch(self.context.reference, choose, branches, takes, uniform, of_column=True)


def _by_parts(names: tuple[str, ...], branches: Iterable[tuple[bool, ...]]) -> Callable[[Any], int]:
    numbers = {has: number for number, has in enumerate(branches)}
    nothing = (False,) * len(names)

    def choose(value: Any) -> int:
        if value is None:
            return numbers[nothing]
        if not isinstance(value, dict | Record):
            raise TypeError("no object")
        return numbers[tuple([name in value for name in names])]

    return choose


def _is_list(value: Any) -> int:
    if isinstance(value, dict | Record) or value is None:
        raise TypeError("no value")
    return int(isinstance(value, list | tuple | RecordList))


def _bucket(context: SwitchContext, unit: str, column: Nodes, zone: Nodes) -> Nodes:
    try:
        sql = context.dialect.trunc(unit, _COLUMN, _ZONE if zone else "")
    except ValueError as error:
        raise context.error(str(error), "remove the zone, and convert the column by hand") from None
    return _filled(sql, column, zone)


def _bucket_of_group(context: SwitchContext, unit: str, column: Nodes) -> Nodes:
    dialect = context.dialect
    if unit != WEEK:
        return _in_zone(context, dialect.time_buckets[unit], unit, column)
    weeks = (dialect.time_buckets[unit], dialect.weeks_from_sunday)
    return _if_given(context, SUNDAYS_NAME, *(_in_zone(context, bucket, unit, column) for bucket in weeks))


def _in_zone(context: SwitchContext, bucket: str, unit: str, column: Nodes) -> Nodes:
    zone = (Value(context.variable(f"params.{ZONE_NAME}")),)
    local = _start(context.dialect, bucket, unit)
    return _if_given(context, ZONE_NAME, _filled(bucket.format(column=_COLUMN), column), _filled(local, column, zone))


def _start(dialect: Dialect, bucket: str, unit: str) -> str:
    local = dialect.days_in(_COLUMN, _ZONE)
    start = bucket.format(column=local)
    if unit not in _CLOCK_UNITS or not dialect.local_starts:
        return start
    date, instant = (sql.format(column=_COLUMN) for sql in (dialect.is_date, dialect.instant))
    parts = {"start": start, "column": _COLUMN, "zone": _ZONE, "local": local, "is_date": date, "instant": instant}
    return dialect.local_starts.format_map(parts)


def _if_given(context: SwitchContext, name: str, absent: Nodes, given: Nodes) -> Nodes:
    reference = context.variable(f"params.{name}", Position.CHOICE)
    branches = (absent, given)
    return (
        Switch(reference, lambda value: int(value is not None), branches, "a setting", uniform=True, of_column=True),
    )


def _filled(sql: str, column: Nodes, zone: Nodes = ()) -> Nodes:
    found: list[Node] = []
    for part in _MARKS.split(sql):
        if part == _COLUMN:
            found += column
        elif part == _ZONE:
            found += zone
        elif part:
            found.append(Text(part))
    return tuple(found)


def _zone(context: SwitchContext, parameter: Parameter | None) -> Nodes:
    if len(context.filter.arguments) > 1:
        return _zone_argument(context, context.filter.arguments[1])
    zone = None if parameter is None else parameter.zone
    if isinstance(zone, PropertyReference):
        return (Value(context.variable(f"user_group.properties.{zone.path}")),)
    return (Text(f"'{zone.key}'"),) if isinstance(zone, ZoneInfo) else ()


def _zone_argument(context: SwitchContext, argument: Argument) -> Nodes:
    if argument.key == "zone" and len(argument.lexemes) == 1:
        (only,) = argument.lexemes
        if only.kind is LexemeKind.STRING:
            return context.compile(argument)
        if only.kind is LexemeKind.TAG:
            tag = read_tag(context.source, only)
            parameter = context.declared(tag.path)
            if parameter is not None and (parameter.type not in TEXTS or parameter.is_list):
                fix = f"declare `{parameter.name}: {{type: choice, choices: [Europe/Vienna, UTC]}}`"
                problem = f"a zone must be text, but {parameter.path} is {parameter.kind}"
                raise context.error(problem, fix, offset=only.start)
            if not tag.filters:
                return (Value(context.variable(tag.path)),)
    fix = "write `zone: 'Europe/Vienna'` or `zone: {{ user_group.properties.timezone }}`"
    raise context.error("trunc takes only a time zone after the column", fix, offset=argument.start)
