"""Placeholder forms: the SQL that some placeholders need around them, such as a cast to the declared type."""

# PostgreSQL and Redshift infer a placeholder's type from the context, so a declared parameter is cast: `$1::numeric`.
# Four kinds of placeholders are not cast: strings (an enum column would refuse a cast string), instants that are
# compared with a column (the column's type determines the time zone), integer arguments of functions, and operands of
# document, array and pattern operators.

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from enum import Enum, auto
from itertools import count
from typing import Final

from tenantry.sql.binding.conversions import ARRAY
from tenantry.sql.dialects import Dialect
from tenantry.sql.lexing.lexemes import Lexeme, word_set
from tenantry.sql.lexing.sql_tokens import AFTER_CHOICE, CLAUSE_KEYWORDS, SQLToken, TokenContext, Tokens
from tenantry.sql.lexing.tags import NOT_A_FILTER, VariableTag
from tenantry.sql.parameters.declared import INSTANTS, TEXTS, Parameter, ParameterType, find_parameter, locked_paths
from tenantry.sql.parsing.constant_expressions import AROUND_AND, CONDITION_WORDS
from tenantry.sql.parsing.positions import ReplacedSpan
from tenantry.sql.source import Source
from tenantry.sql.syntax_tree import Position
from tenantry.sql.tenant_guard import TenantGuard, is_viewer_input

_VALUES: Final = frozenset({Position.VALUE, Position.LIST})
_BEFORE_LITERAL: Final = re.compile(r"(?<![\w$])(?:_\w{1,32}|separator|like)\s*+\Z", re.IGNORECASE)
"""SQL that needs a literal after it, as in ``_utf8mb4 'a'`` and ``show tables like 'a%'``. A placeholder there stays
as it is."""
_AFTER_LITERAL: Final = re.compile(r"\{\{[^{}]*+\}\}\s*+(?:preceding|following)\b", re.IGNORECASE)
"""A tag before a word that needs a literal, as in ``rows 3 preceding``. A placeholder there stays as it is."""
_NEAR: Final = 64  # characters


class PlaceholderForms:
    """Returns the form of each placeholder: the SQL to write for it, such as ``{placeholder}::date``, or an empty
    string."""

    def __init__(self, source: Source, dialect: Dialect, parameters: Mapping[str, Parameter]) -> None:
        self._source = source
        self._dialect = dialect
        self._parameters = parameters
        self._guard = TenantGuard(locked=locked_paths(parameters))

    def of_tag(
        self, tag: VariableTag, span: ReplacedSpan, conversion: str, lexemes: Sequence[Lexeme], index: int
    ) -> str:
        if span.position not in _VALUES or conversion not in {"", ARRAY}:
            return ""
        if self._parameters and self._dialect.types_placeholders and not span.cast and is_viewer_input(tag.path):
            context = TokenContext(self._source, lexemes, self._dialect.joining_signs)
            return self._typed(tag.path, _neighbour_of(context, index), is_array=conversion == ARRAY)
        return self.of_guarded(tag)

    def of_compared(self, tag: VariableTag, path: str, position: Position) -> str:
        """Return the form of a variable that a filter such as ``matches`` compares with a column."""
        if position in _VALUES and self._dialect.types_placeholders and is_viewer_input(path):
            return self._typed(path, Neighbour.COMPARISON)
        return self.of_guarded(tag)

    def of_guarded(self, tag: VariableTag, string: int | None = None) -> str:
        """Return the form of a tag with a value of the group. ``string``: if the tag is in a string literal, the offset
        of the literal."""
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
        type_ = _placeholder_type(self._dialect, parameter, neighbour, is_array=is_array)
        return f"{{placeholder}}::{type_}" if type_ else ""


def _declared(parameters: Mapping[str, Parameter], path: str) -> Parameter | None:
    owner, _, part = path.rpartition(".")
    found = find_parameter(parameters, path)
    if found is None and (whole := find_parameter(parameters, owner)) is not None:
        return whole if whole.only_matches and whole.match == "equals" and part == whole.part else None
    return found


# --- types ------------------------------------------------------------------------------------------------------------


_SIGNS: Final = frozenset("+-*/<>=~!@#%^&|?") | {"||", "&&"}
_COMPARISONS: Final = frozenset({"=", "<", ">", "<=", ">=", "<>", "!="})
_ARITHMETIC: Final = frozenset({"+", "-", "*", "/", "%", "^", "||"})
_PATTERNS: Final = frozenset({"like", "ilike"})
_COMPARES_LIST: Final = frozenset({"in", "any", "all", "some", "=", "<", ">"})
_ARGUMENT_BEGINS: Final = frozenset({"(", ","})
_ARGUMENT_ENDS: Final = frozenset({")", ","})
_POSITION_BEGINS: Final = frozenset({"from", "for", ","})
_TAKES_POSITIONS: Final = frozenset({"substring", "overlay"})
_TAKES_ANY: Final = word_set(
    """json_build_object json_build_array jsonb_build_object jsonb_build_array to_json to_jsonb array_agg json_agg
    jsonb_agg json_object_agg jsonb_object_agg any_value min max sum avg count abs sign to_char to_hex format
    first_value last_value pg_typeof"""
)
"""Functions that take any type. PostgreSQL reads an untyped placeholder in them as text, or refuses it."""
_NO_FUNCTION: Final = CONDITION_WORDS | CLAUSE_KEYWORDS | {"in", "then", "else", "between", "row", "distinct", "as", ""}
_WORD: Final = re.compile(r'[^\W\d]|"')
_INTEGER: Final = "integer"
_INTEGERS: Final = range(-(2**31), 2**31)


class Neighbour(Enum):
    COMPARISON = auto()
    ARGUMENT = auto()
    OPERATOR = auto()
    """An operator on documents, arrays or patterns."""
    POSITION = auto()
    """An argument of ``substring`` or ``overlay`` that is a position or length. Without a cast, PostgreSQL would use
    it as a pattern."""
    OTHER = auto()


def _placeholder_type(dialect: Dialect, parameter: Parameter, at: Neighbour, *, is_array: bool = False) -> str:
    kind = parameter.scalar_type
    name = dialect.casts.get(kind, "")
    if at is Neighbour.OPERATOR or kind in TEXTS or name == dialect.casts["text"]:
        return ""
    if kind in INSTANTS and at is Neighbour.COMPARISON:
        return ""
    if kind is ParameterType.INTEGER:
        if at is Neighbour.POSITION or _fits_integer(parameter):
            name = _INTEGER
        elif at is Neighbour.ARGUMENT and not is_array:
            return ""
    return f"{name}[]" if name and is_array else name


def _neighbour_of(context: TokenContext, index: int) -> Neighbour:
    before, after = _nearest(context.before(index), "[["), _nearest(context.after(index), "]]")
    signs = _operator(before, backward=True), _operator(after, backward=False)
    if signs[0] == "=>":
        return Neighbour.ARGUMENT
    subscript = after[0].text == "["
    if (
        subscript
        or before[0].text in _PATTERNS
        or any(each and each not in _COMPARISONS | _ARITHMETIC for each in signs)
    ):
        return Neighbour.OPERATOR
    if any(each in _ARITHMETIC for each in signs):
        return Neighbour.OTHER
    if any(signs) or _compares_by_word(context, index, before, after):
        return Neighbour.COMPARISON
    if before[0].text in _POSITION_BEGINS and context.enclosing_function(index) in _TAKES_POSITIONS:
        return Neighbour.POSITION
    if before[0].text not in _ARGUMENT_BEGINS or after[0].text not in _ARGUMENT_ENDS:
        return Neighbour.OTHER
    function = context.enclosing_function(index)
    if function in _COMPARES_LIST:
        return Neighbour.COMPARISON
    is_function = function not in _NO_FUNCTION | _TAKES_ANY and _WORD.match(function) is not None
    return Neighbour.ARGUMENT if is_function else Neighbour.OTHER


def _fits_integer(parameter: Parameter) -> bool:
    limits = parameter.choices or (parameter.min, parameter.max)
    return all(limit is not None and limit in _INTEGERS for limit in limits)


def _nearest(tokens: Tokens, bracket: str) -> list[SQLToken]:
    found: list[SQLToken] = []
    for distance in count():
        if tokens[distance].text != bracket:
            found.append(tokens[distance])
        if len(found) == 4:
            return found
    raise AssertionError("tokens have no end")  # pragma: no cover


def _operator(tokens: list[SQLToken], *, backward: bool) -> str:
    found: list[SQLToken] = []
    for token in tokens:
        edge = found[-1] if found else token
        is_next = not found or (token.end == edge.start if backward else token.start == edge.end)
        if token.text not in _SIGNS or not is_next:
            break
        found.append(token)
    return "".join(each.text for each in (reversed(found) if backward else found))


def _compares_by_word(context: TokenContext, index: int, before: list[SQLToken], after: list[SQLToken]) -> bool:
    word, earlier = before[0].text, before[1].text
    if word in {"between", "symmetric", "in", AFTER_CHOICE} or (word == "from" and earlier == "distinct"):
        return True
    if word == "and" and context.keyword_before(index, AROUND_AND, 1) == "between":
        return True
    following = [each.text for each in after]
    if following[0] == "is":
        return "distinct" in following[1:3]
    return following[following[0] == "not"] in {"in", "between"}
