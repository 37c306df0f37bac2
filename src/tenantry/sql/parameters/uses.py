from __future__ import annotations

from collections.abc import Mapping, Sequence

from tenantry.errors import did_you_mean, misspelt
from tenantry.sql.binding.conversions import ARRAY, JSON, PATTERNS
from tenantry.sql.lexing.tags import DEFAULT, NULLABLE
from tenantry.sql.parameters.declared import CALENDAR_NAMES, TEXTS, Parameter, ParameterType, find_parameter
from tenantry.sql.source import Source
from tenantry.sql.syntax_tree import Position, Tree, VariableReference
from tenantry.sql.tenant_guard import is_viewer_input

_IN_JSON = TEXTS | {ParameterType.INTEGER, ParameterType.BOOLEAN}


def check_parameters(source: Source, tree: Tree, parameters: Mapping[str, Parameter]) -> None:
    """Raise TemplateError for the first ``params.*`` that is not declared or does not fit its position."""
    for reference in tree.references:
        if is_viewer_input(reference.path):
            _check(source, reference, parameters)


def never_absent(parameter: Parameter, what: str) -> tuple[str, str]:
    """Return the problem and the fix for an error about a ``default`` or ``nullable`` that never has an effect."""
    why = "is required" if parameter.required else "has a default by its declaration"
    return f"{parameter.path} {why}, so this {what} is never used", f"remove | {what}, or change the declaration"


def _check(source: Source, reference: VariableReference, parameters: Mapping[str, Parameter]) -> None:
    _, name, *parts = reference.path.split(".")
    if name in CALENDAR_NAMES:
        return
    parameter = parameters.get(name)
    if parameter is None:
        near = did_you_mean(name, parameters, prefix="params.")
        fix = f"{near}Else declare {name}; declared are: {', '.join(parameters)}"
        edit = misspelt(name, parameters, prefix="params.")
        raise source.error(reference.offset, f"params.{name} is not declared", fix, edit=edit)
    end = find_parameter(parameters, reference.path) if parameter.is_range and parts else None
    found = _misuse(parameter, parts, reference) if end is None else None
    if found is None and reference.position is not Position.CHOICE:
        found = _unfit(end or parameter, reference)
    if found is not None:
        raise source.error(reference.offset, *found, variable=reference.path)


def _misuse(parameter: Parameter, parts: Sequence[str], reference: VariableReference) -> tuple[str, str] | None:
    path, chooses = parameter.path, reference.position is Position.CHOICE
    if parameter.is_range:
        if chooses and not parts:
            return None
        return f"{path} is a range", f"write {{{{ {path} | within(column) }}}}, or {path}.start and {path}.end"
    if parameter.only_matches:
        if parts == [parameter.part] or (chooses and not parts):
            return None
        return f"by its definition, {path} can only be used with `matches`", f"write {{{{ {path} | matches(column) }}}}"
    if parts:
        return f"{path} is {parameter.kind}, and has no parts", f"write {{{{ {path} }}}}"
    return None


def _unfit(parameter: Parameter, reference: VariableReference) -> tuple[str, str] | None:
    path, position, conversion = parameter.path, reference.position, reference.conversion
    if parameter.only_matches:
        return None  # `matches` fits every type
    as_list = position is Position.LIST or conversion == ARRAY
    if parameter.is_list and not as_list and conversion != JSON:
        return f"{path} is a list", f"write `in {{{{ {path} }}}}`, or {{{{ {path} | array }}}}"
    if as_list and not parameter.is_list:
        return f"{path} is not a list", f"declare it: `type: list of {parameter.type}`; or write `=` instead of `in`"
    if parameter.always_given and (reference.nullable or reference.default is not None):
        return never_absent(parameter, NULLABLE if reference.nullable else DEFAULT)
    return _no_count(parameter) if position is Position.LIMIT else _no_such_type(parameter, position, conversion)


def _no_such_type(parameter: Parameter, position: Position, conversion: str) -> tuple[str, str] | None:
    path = parameter.path
    if conversion in PATTERNS and parameter.type not in TEXTS:
        fix = f"declare it: `type: text`; or write `= {{{{ {path} }}}}`"
        return f"{conversion} is for strings, but {path} is {parameter.type}", fix
    if conversion == JSON and parameter.type not in _IN_JSON:
        return f"JSON has no {parameter.type}, but {path} is {parameter.kind}", "declare it: `type: text`"
    if position in {Position.TEXT, Position.PART} and parameter.type is ParameterType.INTERVAL:
        return f"{path} is an interval, which has no string form", f"write {{{{ {path} }}}} without quotes"
    return None


def _no_count(parameter: Parameter) -> tuple[str, str] | None:
    path = parameter.path
    if parameter.type is not ParameterType.INTEGER:
        return f"{path} is {parameter.kind}, where a count is needed", "declare it: `type: integer`"
    numbers = (parameter.max, parameter.default, *(parameter.choices or ()))
    if any(type(each) is int and each < 0 for each in numbers):
        return (
            f"{path} can be below 0, where a count is needed",
            "declare it with `min: 0`, and a default of at least 0",
        )
    return None
