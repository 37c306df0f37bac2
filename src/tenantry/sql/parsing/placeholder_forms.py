"""Forms of placeholders: what the dialect writes around one. The type of a declared parameter, and what keeps a value
of the group a text where the engine would read it as a number.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from tenantry.sql.binding.conversions import ARRAY
from tenantry.sql.dialects import Dialect
from tenantry.sql.lexing.lexemes import Lexeme
from tenantry.sql.lexing.sql_tokens import TokenContext
from tenantry.sql.lexing.tags import NOT_A_FILTER, VariableTag
from tenantry.sql.parameters.declared import Parameter, find_parameter, locked_paths
from tenantry.sql.parsing.placeholder_types import Neighbour, neighbour_of, placeholder_type
from tenantry.sql.parsing.positions import ReplacedSpan
from tenantry.sql.source import Source
from tenantry.sql.syntax_tree import Position
from tenantry.sql.tenant_guard import Guard, is_viewer_input

_VALUES: Final = frozenset({Position.VALUE, Position.LIST})
_BEFORE_LITERAL: Final = re.compile(r"(?<![\w$])(?:_\w{1,32}|separator|like)\s*+\Z", re.IGNORECASE)
"""The end of the SQL before a place that takes a literal and no other expression: ``_utf8mb4 'a'``, ``show tables like
'a%'``."""
_AFTER_LITERAL: Final = re.compile(r"\{\{[^{}]*+\}\}\s*+(?:preceding|following)\b", re.IGNORECASE)
"""A tag and the words after a literal: ``rows 3 preceding``."""
_NEAR: Final = 64  # characters


class PlaceholderForms:
    """The forms of one template's placeholders in one dialect, each with ``{placeholder}`` in it; empty where the
    placeholder stands alone."""

    def __init__(self, source: Source, dialect: Dialect, parameters: Mapping[str, Parameter]) -> None:
        self._source = source
        self._dialect = dialect
        self._parameters = parameters
        self._guard = Guard(locked=locked_paths(parameters))

    def of_tag(
        self, tag: VariableTag, span: ReplacedSpan, conversion: str, lexemes: Sequence[Lexeme], index: int
    ) -> str:
        """The form for the tag at ``index`` of some lexemes."""
        if span.position not in _VALUES or conversion not in {"", ARRAY}:
            return ""
        if self._parameters and self._dialect.types_placeholders and not span.cast and is_viewer_input(tag.path):
            context = TokenContext(self._source, lexemes, self._dialect.joining_signs)
            return self._typed(tag.path, neighbour_of(context, index), is_array=conversion == ARRAY)
        return self.of_guarded(tag)

    def of_compared(self, tag: VariableTag, path: str, position: Position) -> str:
        """The form for a variable that a helper compares with a column."""
        if position in _VALUES and self._dialect.types_placeholders and is_viewer_input(path):
            return self._typed(path, Neighbour.COMPARISON)
        return self.of_guarded(tag)

    def of_guarded(self, tag: VariableTag, string: int | None = None) -> str:
        """The form for a value of the group, which is not there where it filters nothing."""
        form = self._dialect.guarded_form
        if not form or self._guard.is_chosen(tag.path) or tag.filter(NOT_A_FILTER) is not None:
            return ""
        text = self._source.text
        start = tag.offset if string is None else string
        before = text[max(0, start - _NEAR) : start]
        return "" if _BEFORE_LITERAL.search(before) or _AFTER_LITERAL.match(text, tag.offset) else form

    def _typed(self, path: str, neighbour: Neighbour, *, is_array: bool = False) -> str:
        parameter = _declared(self._parameters, path)
        if parameter is None:
            return ""
        type_ = placeholder_type(self._dialect, parameter, neighbour, is_array=is_array)
        return f"{{placeholder}}::{type_}" if type_ else ""


def _declared(parameters: Mapping[str, Parameter], path: str) -> Parameter | None:
    """The declaration of a path; also of the value of one that is for ``matches`` alone."""
    owner, _, part = path.rpartition(".")
    found = find_parameter(parameters, path)
    if found is None and (whole := find_parameter(parameters, owner)) is not None:
        return whole if whole.only_matches and whole.match == "equals" and part == whole.part else None
    return found
