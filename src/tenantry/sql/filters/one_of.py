"""``one_of``: the author supplies the texts, and the viewer chooses one by its name.

    order by {{ params.sort | one_of(newest: created_at desc, largest: amount desc) | default(newest) }}

A text can be a name, an operator, a keyword or an expression: it is the author's own SQL, compiled with the template. A
column's name is its own key: ``one_of(region, amount)``. A key in quotes can be any text: ``one_of('us-east-1': …)``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from tenantry.sql.filters.choice_names import name_of, with_names
from tenantry.sql.filters.named_choice import check_names_fit, switch_by_name
from tenantry.sql.filters.switch_context import SwitchContext
from tenantry.sql.lexing.lexemes import Lexeme, LexemeKind
from tenantry.sql.lexing.tags import Argument
from tenantry.sql.syntax_tree import Node, Switch

_UNFINISHED = re.compile(r"(?:\.|(?<![\w$.])(?:in|is|not))\s*\Z", re.IGNORECASE)
_NO_TEXT = frozenset({LexemeKind.COMMENT, LexemeKind.CLAUSE_START, LexemeKind.CLAUSE_END})
_FIX = "write one_of(name: text, name: text), or one_of(column, column)"
_LACKS = "is not in one_of"


def one_of(context: SwitchContext) -> Switch:
    """The Switch of a choice by name. A value that is no name chooses nothing."""
    branches: dict[str, tuple[Node, ...]] = {}
    for argument in context.filter.arguments:
        key = _key(context, argument)
        if key in branches:
            raise context.error(f"one_of has {key} twice", "give each text a name of its own", offset=argument.start)
        if not key:
            raise context.error("a name of one_of is empty", "give the text a name", offset=argument.start)
        branches[key] = context.compile(argument)
    if not branches:
        raise context.error("one_of has nothing to choose from", _FIX)
    check_names_fit(context, "a name", _LACKS, branches)
    return switch_by_name(context, _LACKS, branches)


def _key(context: SwitchContext, argument: Argument) -> str:
    if not argument.lexemes:
        raise context.error("a text of one_of is empty", "write its SQL", offset=argument.start)
    name = name_of(context.source, context.dialect, argument)
    if not argument.key and not name:
        what = "value" if argument.lexemes[0].kind is LexemeKind.STRING else "text of one_of that is no column"
        fix = f"write one_of({with_names(context.source, context.dialect, context.filter.arguments)})"
        raise context.error(f"a {what} has a name, which a viewer sends", fix, offset=argument.start)
    if _is_unfinished(context.source.text, argument.lexemes):
        problem = "a text of one_of does not end with a dot, `in`, `is` or `not`"
        raise context.error(problem, "write what follows into each text", offset=argument.start)
    return name


def _is_unfinished(text: str, lexemes: Sequence[Lexeme]) -> bool:
    """Whether the last code of a text, in a clause or before a comment too, goes on after it."""
    for lexeme in reversed(lexemes):
        if lexeme.kind is LexemeKind.CODE and not text[lexeme.start : lexeme.end].isspace():
            return _UNFINISHED.search(text, lexeme.start, lexeme.end) is not None
        if lexeme.kind is not LexemeKind.CODE and lexeme.kind not in _NO_TEXT:
            return False
    return False
