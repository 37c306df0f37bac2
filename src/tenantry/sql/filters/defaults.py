from __future__ import annotations

import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final

from tenantry.sql.binding.bindable_values import MAX_INTEGER
from tenantry.sql.binding.conversions import ARRAY
from tenantry.sql.dialects import Dialect
from tenantry.sql.filters.choice_names import quoted_text
from tenantry.sql.lexing.lexemes import LexemeKind
from tenantry.sql.lexing.tags import DEFAULT, Argument, Filter, VariableTag
from tenantry.sql.parameters.declared import INSTANTS, UTC_ZONE, Parameter, PropertyReference, find_parameter
from tenantry.sql.parameters.requests import bindable
from tenantry.sql.parameters.typed_values import REFUSALS, Moment, read_whole
from tenantry.sql.source import Source
from tenantry.sql.syntax_tree import Position

_ANY_TIME: Final = datetime(2000, 1, 1, tzinfo=UTC)  # no default depends on the time


def default_value(
    source: Source, dialect: Dialect, tag: VariableTag, position: Position, parameters: Mapping[str, Parameter]
) -> Any:
    """Return the value to bind if the variable is absent. Return None if the tag has no ``default``, or if its
    ``default`` is the name of a choice.

    Raises TemplateError if the default is not a literal, or does not fit the position or the declared type.
    """
    default = tag.filter(DEFAULT)
    if default is None or position is Position.CHOICE:
        return None
    value: Any = tuple(_literal(source, dialect, argument) for argument in default.arguments)
    if position is not Position.LIST and tag.filter(ARRAY) is None:
        if len(value) > 1:
            raise source.error(default.offset, "only a list can have several default values", "give one value")
        (value,) = value
    parameter = find_parameter(parameters, tag.path)
    if parameter is not None and not parameter.is_range and not parameter.only_matches:
        value = _typed(source, dialect, default, parameter, value)
    if position is Position.LIMIT and (type(value) is not int or value < 0):
        problem = "`limit`, `offset` and their defaults must be whole numbers, 0 or greater"
        raise source.error(default.offset, problem, "write a number: default(100)")
    return value


def _typed(source: Source, dialect: Dialect, default: Filter, parameter: Parameter, value: Any) -> Any:
    zone = parameter.zone
    if isinstance(zone, PropertyReference):
        if parameter.type in INSTANTS:
            problem = f"{parameter.path} is a time in the group's zone, and a default in a tag cannot use that zone"
            raise source.error(default.offset, problem, "write the default in the parameter's declaration")
        zone = None
    try:
        typed = read_whole(parameter, value, Moment(zone or UTC_ZONE, _ANY_TIME))
    except REFUSALS:
        problem = f"this default does not fit {parameter.path}, which takes {parameter.takes}"
        fix = f"give one that fits, or declare a type other than {parameter.kind}"
        raise source.error(default.offset, problem, fix, variable=parameter.path) from None
    return bindable(parameter, typed, dialect.bind_as.get(parameter.scalar_type))


# --- literals ---------------------------------------------------------------------------------------------------------


_INTEGER = re.compile(r"[-+]?[0-9]{1,19}")
_FLOAT = re.compile(r"[-+]?[0-9]+\.[0-9]+(?:[eE][-+]?[0-9]+)?")
_BOOLEANS = {"true": True, "false": False}


def _literal(source: Source, dialect: Dialect, argument: Argument) -> str | int | float | bool:
    text = argument.text
    if not argument.key and len(argument.lexemes) == 1:
        lexeme = argument.lexemes[0]
        if lexeme.kind is LexemeKind.STRING and text[0] in "'\"":
            return quoted_text(source, dialect, lexeme)
        if _INTEGER.fullmatch(text) and abs(int(text)) <= MAX_INTEGER:
            return int(text)
        if _FLOAT.fullmatch(text) and math.isfinite(float(text)):
            return float(text)
        if text.lower() in _BOOLEANS:
            return _BOOLEANS[text.lower()]
    raise source.error(argument.start, "a default must be a literal", "write a quoted string, a number, true or false")
