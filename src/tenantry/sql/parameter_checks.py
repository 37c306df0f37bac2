"""What a template may ask of its declared parameters: each of them by name, and each where its type can be."""

from __future__ import annotations

from collections.abc import Mapping

from tenantry.sql.parameters import Parameter
from tenantry.sql.syntax_tree import Position, Source, Tree, VariableReference
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
    problem = fix = ""
    if parameter.locked and reference.clauses:
        problem, fix = f"{parameter.path} is locked, and in an optional clause", "move it out of [[ ]]"
    elif parameter.is_range and (len(parts) != 1 or parts[0] not in _ENDS):
        problem = f"{parameter.path} is a range"
        fix = f"write {{{{ {parameter.path} | within(column) }}}}, or {parameter.path}.start and {parameter.path}.end"
    elif parts and not parameter.is_range:
        problem, fix = f"{parameter.path} is {parameter.type}, and has no parts", f"write {{{{ {parameter.path} }}}}"
    elif parameter.is_list and reference.position is not Position.LIST:
        problem, fix = f"{parameter.path} is a list", f"write in {{{{ {parameter.path} }}}}"
    elif not parameter.is_list and reference.position is Position.LIST:
        problem, fix = (
            f"{parameter.path} is no list",
            f"declare it: type: list of {parameter.type}; or write = instead of in",
        )
    elif reference.position is Position.LIMIT and parameter.type != "integer":
        problem, fix = f"{parameter.path} is {parameter.type}, where a count is needed", "declare it: type: integer"
    if problem:
        raise source.error(reference.offset, problem, fix)
