"""The filter ``one_of``: the author writes the SQL of each choice, and the viewer sends the name of a choice.

Example: ``order by {{ params.sort | one_of(newest: created_at desc, amount) | default(newest) }}``
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from tenantry.errors import did_you_mean, misspelt
from tenantry.sql.filters.choice_names import name_of, name_of_value, with_names, yaml_name
from tenantry.sql.filters.switch_context import SwitchContext
from tenantry.sql.lexing.lexemes import Lexeme, LexemeKind
from tenantry.sql.lexing.tags import DEFAULT, Argument
from tenantry.sql.parameters.declared import TEXTS, Parameter, ParameterType, PropertyReference
from tenantry.sql.parameters.uses import never_absent
from tenantry.sql.syntax_tree import Node, Switch

_UNFINISHED = re.compile(r"(?:\.|(?<![\w$.])(?:in|is|not))\s*\Z", re.IGNORECASE)
_NO_TEXT = frozenset({LexemeKind.COMMENT, LexemeKind.CLAUSE_START, LexemeKind.CLAUSE_END})
_FIX = "write one_of(name: sql, name: sql), or one_of(column, column)"
_LACKS = "is not in one_of"


def one_of(context: SwitchContext) -> Switch:
    branches: dict[str, tuple[Node, ...]] = {}
    for argument in context.filter.arguments:
        key = _key(context, argument)
        if key in branches:
            raise context.error(f"one_of contains {key} twice", "give each choice its own name", offset=argument.start)
        if not key:
            raise context.error("a choice of one_of has an empty name", "give the choice a name", offset=argument.start)
        branches[key] = context.compile(argument)
    if not branches:
        raise context.error("one_of has nothing to choose from", _FIX)
    check_names_fit(context, "a name", _LACKS, branches)
    return switch_by_name(context, _LACKS, branches)


def _key(context: SwitchContext, argument: Argument) -> str:
    if not argument.lexemes:
        raise context.error("a choice of one_of is empty", "write its SQL", offset=argument.start)
    name = name_of(context.source, context.dialect, argument)
    if not argument.key and not name:
        what = "value" if argument.lexemes[0].kind is LexemeKind.STRING else "choice that is not a column"
        fix = f"write one_of({with_names(context.source, context.dialect, context.filter.arguments)})"
        raise context.error(f"a {what} needs a name: requests send this name to choose it", fix, offset=argument.start)
    if _is_unfinished(context.source.text, argument.lexemes):
        problem = "a choice of one_of must not end with a dot, `in`, `is` or `not`"
        raise context.error(problem, "move the SQL after the tag into each choice", offset=argument.start)
    return name


def _is_unfinished(text: str, lexemes: Sequence[Lexeme]) -> bool:
    for lexeme in reversed(lexemes):
        if lexeme.kind is LexemeKind.CODE and not text[lexeme.start : lexeme.end].isspace():
            return _UNFINISHED.search(text, lexeme.start, lexeme.end) is not None
        if lexeme.kind is not LexemeKind.CODE and lexeme.kind not in _NO_TEXT:
            return False
    return False


# --- choices by a name ------------------------------------------------------------------------------------------------


_SHOWN: Final = 5  # how many names a fix shows
_BOOLEANS: Final = frozenset({"true", "false"})
_WHOLE_NUMBER: Final = re.compile(r"0|-?[1-9][0-9]*")


def check_names_fit(context: SwitchContext, takes: str, lacks: str, names: Iterable[str]) -> None:
    """Raise TemplateError if one of ``names`` cannot be a value of the declared parameter, or if a declared choice or
    default is not in ``names``.

    ``takes`` and ``lacks`` are phrases for the message.
    """
    parameter = context.parameter
    if parameter is None:
        return
    names = tuple(names)
    if not _has_names(parameter, names) or parameter.is_list or parameter.only_matches:
        kind = "only for the filter `matches`" if parameter.only_matches else parameter.kind
        fix = f"declare it: `{{type: choice, choices: [{', '.join(map(yaml_name, names[:_SHOWN]))}]}}`"
        raise context.error(f"{context.filter.name} takes {takes}, but {parameter.path} is {kind}", fix)
    for value in map(name_of_value, _declared_values(parameter)):
        if value not in names:
            fix = f"{did_you_mean(value, names)}Give one of {', '.join(names)}"
            raise context.error(f"{parameter.path} can be {value}, but {value} {lacks}", fix)
    default = context.tag.filter(DEFAULT)
    if default is not None and parameter.always_given:
        raise context.error(*never_absent(parameter, DEFAULT), offset=default.offset)


def switch_by_name(context: SwitchContext, lacks: str, branches: Mapping[str, tuple[Node, ...]]) -> Switch:
    """Build a Switch that chooses a branch by name. Raises TemplateError if the default names no branch."""
    numbers: dict[Any, int] = {name: number for number, name in enumerate(branches)}

    def choose(value: Any) -> int:
        return numbers[name_of_value(value)]

    listed = ", ".join(branches)
    default = context.default
    if default is not None:
        if default not in numbers:
            fix = f"{did_you_mean(default, branches)}Give one of {listed}"
            raise context.error(f"the default {default} {lacks}", fix, edit=misspelt(default, branches))
        numbers[None] = numbers[default]
    return Switch(context.reference, choose, tuple(branches.values()), f"one of {listed}")


def _has_names(parameter: Parameter, names: Iterable[str]) -> bool:
    if parameter.type is ParameterType.BOOLEAN:
        return _BOOLEANS.issuperset(names)
    return parameter.type in TEXTS or (
        parameter.type is ParameterType.INTEGER and all(map(_WHOLE_NUMBER.fullmatch, names))
    )


def _declared_values(parameter: Parameter) -> tuple[Any, ...]:
    if parameter.choices is not None:
        return parameter.choices
    if parameter.type is ParameterType.BOOLEAN:
        return (True, False)
    default = parameter.default
    return () if default is None or isinstance(default, PropertyReference) else (default,)
