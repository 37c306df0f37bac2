"""What a template may ask of its declared parameters: each of them by name, and each where its type can be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tenantry.sql.binding.conversions import ARRAY, JSON
from tenantry.sql.parameters.declared import Parameter
from tenantry.sql.source import Source
from tenantry.sql.syntax_tree import Position, Tree, VariableReference
from tenantry.sql.tenant_guard import is_viewer_input
from tenantry.suggestions import did_you_mean

_ENDS = ("start", "end")


def check_parameters(source: Source, tree: Tree, parameters: Mapping[str, Parameter]) -> None:
    """Raises TemplateError for the first ``params.*`` that is not declared, or that cannot be where it is."""
    for reference in tree.references:
        if is_viewer_input(reference.path):
            _check(source, reference, parameters)


def _check(source: Source, reference: VariableReference, parameters: Mapping[str, Parameter]) -> None:
    _, name, *parts = reference.path.split(".")
    parameter = parameters.get(name)
    if parameter is None:
        near = did_you_mean(f"params.{name}", [each.path for each in parameters.values()])
        fix = f"{near}Else declare {name}; declared are: {', '.join(parameters)}"
        raise source.error(reference.offset, f"params.{name} is not declared", fix)
    found = _misuse(parameter, parts, reference)
    if found is not None:
        raise source.error(reference.offset, *found)


def _misuse(parameter: Parameter, parts: Sequence[str], reference: VariableReference) -> tuple[str, str] | None:
    """The problem and its fix."""
    path, position = parameter.path, reference.position
    if parameter.is_range:
        if (len(parts) == 1 and parts[0] in _ENDS) or (not parts and position is Position.CHOICE):
            return None
        return f"{path} is a range", f"write {{{{ {path} | within(column) }}}}, or {path}.start and {path}.end"
    if parameter.only_matches:
        if position is Position.CHOICE or parts == [parameter.part]:
            return None
        return f"{path} is for matches alone, by its definition", f"write {{{{ {path} | matches(column) }}}}"
    if parts:
        return f"{path} is {parameter.type}, and has no parts", f"write {{{{ {path} }}}}"
    if position is Position.CHOICE:
        return None
    as_list = position is Position.LIST or reference.conversion == ARRAY
    if parameter.is_list and not as_list and reference.conversion != JSON:
        return f"{path} is a list", f"write in {{{{ {path} }}}}, or {{{{ {path} | array }}}}"
    if as_list and not parameter.is_list:
        return f"{path} is no list", f"declare it: type: list of {parameter.type}; or write = instead of in"
    if position is Position.LIMIT and parameter.type != "integer":
        return f"{path} is {parameter.type}, where a count is needed", "declare it: type: integer"
    return None
