"""``within``, ``trunc`` and ``matches``: what a viewer chooses about a column, as plain SQL of each dialect.

    where {{ params.period | within(created_at) }} and {{ params.region | matches(region) }}
    select {{ params.unit | trunc(created_at) }} as bucket

The column is an expression of the author's own. Each helper is a Switch: of a value only its shape is in the text, as
whether a range has an end, or which unit was chosen. A condition whose parameter is absent is ``1 = 1``; that of a
property is never absent.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any, Final
from zoneinfo import ZoneInfo

from tenantry.groups import Record, RecordList
from tenantry.sql.dialects import UNITS
from tenantry.sql.filters.named_choice import check_names_fit, switch_by_name
from tenantry.sql.filters.switch_context import SwitchContext
from tenantry.sql.lexing.lexemes import LexemeKind
from tenantry.sql.lexing.tags import ONE_OF, TRUNC, WITHIN, Argument, read_tag
from tenantry.sql.parameters.declared import TEXTS, Parameter, PropertyReference
from tenantry.sql.syntax_tree import InList, Node, Position, Switch, Text, Value
from tenantry.sql.tenant_guard import is_viewer_input

Nodes = tuple[Node, ...]

_TRUE: Final[Nodes] = (Text("1 = 1"),)
_NUMBER = re.compile(r"[-+]?[0-9.]+")
_SIMPLE = re.compile(r'(?:\w+|"[^"]+"|`[^`]+`)(?:\.(?:\w+|"[^"]+"|`[^`]+`))*')
_COLUMN, _ZONE = "\0column", "\0zone"  # what stands for them in the dialect's SQL: no template holds a NUL
_MARKS = re.compile(f"({_COLUMN}|{_ZONE})")


def within(context: SwitchContext) -> Switch:
    """``column >= start and column < end``, of the ends that the range has."""
    parameter = _parameter(context)
    if parameter is not None and not parameter.is_range:
        period, _, end = parameter.name.partition(".")
        fix = f"declare it: type: date range; or write {{{{ {parameter.path} | matches(column) }}}}"
        fix = f"write the range itself: {{{{ params.{period} | within(column) }}}}" if end else fix
        raise context.error(f"within takes a range, and {parameter.path} is {parameter.type}", fix)
    return _range(context, parameter, _column(context))


def matches(context: SwitchContext) -> Switch:
    """The condition of the parameter's type: equal to one value, in a list, within a range. Of a property that is not
    declared: by what it is."""
    parameter = _parameter(context)
    column = _column(context)
    if parameter is not None and parameter.is_range:
        return _range(context, parameter, column)
    if parameter is not None and parameter.only_matches:
        return _or_null(context, parameter, column)
    path = context.reference.path
    branches: list[Nodes] = []
    if parameter is None or not parameter.is_list:
        branches.append(_condition(column, Text(" = "), Value(context.variable(path))))
    if parameter is None or parameter.is_list:
        items = InList(context.variable(path, Position.LIST), "in", negated=False)
        branches.append(_condition(column, Text(" "), items))
    if parameter is None:
        return Switch(context.reference, _is_list, tuple(branches), "a value, or a list of values")
    if not parameter.always_given:
        branches.append(_TRUE)
    return Switch(context.reference, _is_absent, tuple(branches), parameter.takes)


def trunc(context: SwitchContext) -> Switch:
    """The start of the unit that a column is in: ``date_trunc('day', created_at)``, as the dialect writes it."""
    parameter = _parameter(context)
    check_names_fit(context, "a unit", f"is no unit of {context.dialect.name}", context.dialect.time_buckets)
    units = UNITS if parameter is None else parameter.choices or UNITS
    column, zone = _column(context), _zone(context, parameter)
    branches = {unit: _bucket(context, unit, column, zone) for unit in units}
    return switch_by_name(context, "is not a unit", branches)


# --- the parts of them ------------------------------------------------------------------------------------------------


def _parameter(context: SwitchContext) -> Parameter | None:
    """The declared parameter; None for a property of the group."""
    if context.parameter is None and is_viewer_input(context.reference.path) and context.filter.name != "trunc":
        problem = f"{context.filter.name} asks for the type of {context.reference.path}, which is not declared"
        name = context.reference.path.split(".")[1]
        kind = "date range" if context.filter.name == WITHIN else "text"
        raise context.error(problem, f"declare it in the template's params: {name}: {{type: {kind}}}")
    return context.parameter


def _column(context: SwitchContext) -> Nodes:
    """The first argument; in parentheses where it is more than a name."""
    argument = context.filter.arguments[0]
    if argument.key or not argument.lexemes:
        fix = f"write {{{{ {context.reference.path} | {context.filter.name}(created_at) }}}}"
        raise context.error(f"{context.filter.name} takes a column first", fix, offset=argument.start)
    if _is_constant(context, argument):
        problem = f"{context.filter.name} takes a column, and this is a value"
        fix = "write the column without quotes; for one to choose {{ params.x | one_of(column, column) }}"
        raise context.error(problem, fix, offset=argument.lexemes[0].start)
    nodes = context.compile(argument)
    return nodes if _SIMPLE.fullmatch(argument.text) else (Text("("), *nodes, Text(")"))


def _is_constant(context: SwitchContext, argument: Argument) -> bool:
    """Whether an argument is a literal or a variable and nothing else."""
    if len(argument.lexemes) != 1 or _NUMBER.fullmatch(argument.text):
        return len(argument.lexemes) == 1
    (only,) = argument.lexemes
    if only.kind is LexemeKind.TAG:
        return {each.name for each in read_tag(context.source, only).filters}.isdisjoint({ONE_OF, TRUNC})
    return only.kind in {LexemeKind.STRING, LexemeKind.INTERPOLATED_STRING}


def _condition(column: Nodes, *rest: Node) -> Nodes:
    return (Text("("), *column, *rest, Text(")"))


def _range(context: SwitchContext, parameter: Parameter | None, column: Nodes) -> Switch:
    path = context.reference.path
    start, end = Value(context.variable(f"{path}.start")), Value(context.variable(f"{path}.end"))
    after, before = (*column, Text(" >= "), start), (*column, Text(" < "), end)
    branches = {(True, True): _condition(after, Text(" and "), *before)}
    if parameter is not None:
        if "end" in parameter.open:
            branches[True, False] = _condition(after)
        if "start" in parameter.open:
            branches[False, True] = _condition(before)
        if not parameter.always_given:
            branches[False, False] = _TRUE
    expected = "an object with a start and an end" if parameter is None else parameter.takes
    return Switch(context.reference, _by_parts(("start", "end"), branches), tuple(branches.values()), expected)


def _or_null(context: SwitchContext, parameter: Parameter, column: Nodes) -> Switch:
    path = f"{context.reference.path}.{parameter.part}"
    given: Nodes
    if parameter.is_list:
        given = (*column, Text(" "), InList(context.variable(path, Position.LIST), "in", negated=False))
    elif parameter.match == "equals":
        given = (*column, Text(" = "), Value(context.variable(path)))
    else:
        escape = f" {context.dialect.like_escape_clause}".rstrip()
        given = (*column, Text(" like "), Value(context.variable(path)), Text(escape))
    branches = {(True, False): _condition(given)}
    if parameter.is_null is not None:
        null = (*column, Text(" is null"))
        branches[False, True] = _condition(null)
        if parameter.is_list:
            branches[True, True] = _condition(given, Text(" or "), *null)
    if not parameter.always_given:
        branches[False, False] = _TRUE
    return Switch(
        context.reference, _by_parts((parameter.part, "null"), branches), tuple(branches.values()), parameter.takes
    )


def _by_parts(names: tuple[str, str], branches: Iterable[tuple[bool, bool]]) -> Callable[[Any], int]:
    """The choice by which of two parts an object has."""
    numbers = {has: number for number, has in enumerate(branches)}
    one, other = names

    def choose(value: Any) -> int:
        if value is None:
            return numbers[False, False]
        if not isinstance(value, dict | Record):
            raise TypeError("no object")
        return numbers[one in value, other in value]

    return choose


def _is_list(value: Any) -> int:
    if isinstance(value, dict | Record) or value is None:
        raise TypeError("no value")
    return int(isinstance(value, list | tuple | RecordList))


def _is_absent(value: Any) -> int:
    return int(value is None)


def _bucket(context: SwitchContext, unit: str, column: Nodes, zone: Nodes) -> Nodes:
    """The dialect's SQL of one unit, with the nodes where the dialect has their texts."""
    try:
        sql = context.dialect.trunc(unit, _COLUMN, _ZONE if zone else "")
    except ValueError as error:
        raise context.error(str(error), "take the zone out, and convert the column by hand") from None
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
    """The time zone: the argument ``zone``, a text or a variable, else that of the parameter; empty for none."""
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
                fix = f"declare {parameter.name}: {{type: choice, choices: [Europe/Vienna, UTC]}}"
                problem = f"a zone is a text, and {parameter.path} is {parameter.kind}"
                raise context.error(problem, fix, offset=only.start)
            if not tag.filters:
                return (Value(context.variable(tag.path)),)
    fix = "write zone: 'Europe/Vienna', or zone: {{ user_group.properties.timezone }}"
    raise context.error("after its column, trunc takes a zone", fix, offset=argument.start)
