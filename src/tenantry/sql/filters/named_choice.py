"""Choices by a name: what ``one_of`` and ``trunc`` ask of the variable that decides, and the Switch that they make."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from tenantry.sql.filters.choice_names import name_of_value, yaml_name
from tenantry.sql.filters.switch_context import SwitchContext
from tenantry.sql.lexing.tags import DEFAULT
from tenantry.sql.parameters.checks import never_absent
from tenantry.sql.parameters.declared import TEXTS, Parameter, ParameterType, PropertyReference
from tenantry.sql.syntax_tree import Node, Switch
from tenantry.suggestions import did_you_mean

_SHOWN: Final = 5  # names in a fix
_BOOLEANS: Final = frozenset({"true", "false"})
_WHOLE_NUMBER: Final = re.compile(r"0|-?[1-9][0-9]*")


def check_names_fit(context: SwitchContext, takes: str, lacks: str, names: Iterable[str]) -> None:
    """Raises TemplateError where the parameter is declared so that a viewer could never choose one of the names, or
    could choose another: no value of its type is a name, or a value that its declaration has is none of these.

    ``takes`` and ``lacks`` are for the message: "a name", "is not in one_of".
    """
    parameter = context.parameter
    if parameter is None:
        return
    names = tuple(names)
    if not _has_names(parameter, names) or parameter.is_list or parameter.only_matches:
        kind = "for matches alone" if parameter.only_matches else parameter.kind
        fix = f"declare it: {{type: choice, choices: [{', '.join(map(yaml_name, names[:_SHOWN]))}]}}"
        raise context.error(f"{context.filter.name} takes {takes}, and {parameter.path} is {kind}", fix)
    for value in map(name_of_value, _declared_values(parameter)):
        if value not in names:
            fix = f"{did_you_mean(value, names)}Give one of {', '.join(names)}"
            raise context.error(f"{parameter.path} can be {value}, and {value} {lacks}", fix)
    default = context.tag.filter(DEFAULT)
    if default is not None and parameter.always_given:
        raise context.error(*never_absent(parameter, DEFAULT), offset=default.offset)


def switch_by_name(
    context: SwitchContext, lacks: str, branches: Mapping[str, tuple[Node, ...]], *, uniform: bool = False
) -> Switch:
    """The Switch whose value is the name of a branch; without a value, the tag's default is. Raises TemplateError for a
    default that is no name."""
    numbers: dict[Any, int] = {name: number for number, name in enumerate(branches)}

    def choose(value: Any) -> int:
        return numbers[name_of_value(value)]

    listed = ", ".join(branches)
    default = context.default
    if default is not None:
        if default not in numbers:
            fix = f"{did_you_mean(default, branches)}Give one of {listed}"
            raise context.error(f"the default {default} {lacks}", fix)
        numbers[None] = numbers[default]
    return Switch(context.reference, choose, tuple(branches.values()), f"one of {listed}", uniform)


def _has_names(parameter: Parameter, names: Iterable[str]) -> bool:
    """Whether the values of the parameter's type can be these names: those of a boolean are ``true`` and ``false``, and
    those of a whole number its digits."""
    if parameter.type is ParameterType.BOOLEAN:
        return _BOOLEANS.issuperset(names)
    return parameter.type in TEXTS or (
        parameter.type is ParameterType.INTEGER and all(map(_WHOLE_NUMBER.fullmatch, names))
    )


def _declared_values(parameter: Parameter) -> tuple[Any, ...]:
    """What a declaration says that a value can be; that of a property is not known."""
    if parameter.choices is not None:
        return parameter.choices
    if parameter.type is ParameterType.BOOLEAN:
        return (True, False)
    default = parameter.default
    return () if default is None or isinstance(default, PropertyReference) else (default,)
