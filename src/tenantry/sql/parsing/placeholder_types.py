"""Types of placeholders: the cast that the placeholder of a declared parameter carries, ``$1::numeric``.

PostgreSQL and Redshift read a placeholder without a type as the type of its neighbour: 10.5 next to an integer column
is an error, and nothing next to ``now() -`` says that an interval follows. Where the neighbour knows better than the
declaration, a placeholder stays without a type:

- A text is of any type that is written as text: a text, a varchar, an enum. A cast would fit the first alone.
- A time that is compared is a clock time of UTC next to ``timestamp``, and an instant next to ``timestamptz``.
- A whole number is an argument of many functions (``left``, ``round``, ``make_interval``) as ``integer`` alone.
- Operators of documents, arrays and patterns (``->``, ``@>``, ``like``) have types of their own.
"""

from __future__ import annotations

import re
from enum import Enum, auto
from itertools import count
from typing import Final

from tenantry.sql.dialects import Dialect
from tenantry.sql.lexing.sql_tokens import AFTER_CHOICE, CLAUSE_KEYWORDS, SQLToken, TokenContext, Tokens
from tenantry.sql.parameters.declared import INSTANTS, TEXTS, Parameter, ParameterType
from tenantry.sql.parsing.bare_values import AROUND_AND, CONDITION_WORDS

_SIGNS: Final = frozenset("+-*/<>=~!@#%^&|?") | {"||", "&&"}
_COMPARISONS: Final = frozenset({"=", "<", ">", "<=", ">=", "<>", "!="})
_ARITHMETIC: Final = frozenset({"+", "-", "*", "/", "%", "^", "||"})
_PATTERNS: Final = frozenset({"like", "ilike"})
_COMPARES_LIST: Final = frozenset({"in", "any", "all", "some", "=", "<", ">"})
_ARGUMENT_BEGINS: Final = frozenset({"(", ","})
_ARGUMENT_ENDS: Final = frozenset({")", ","})
_POSITION_BEGINS: Final = frozenset({"from", "for", ","})
_TAKES_POSITIONS: Final = frozenset({"substring", "overlay"})
_TAKES_ANY: Final = frozenset(
    (
        *("json_build_object", "json_build_array", "jsonb_build_object", "jsonb_build_array", "to_json", "to_jsonb"),
        *("array_agg", "json_agg", "jsonb_agg", "json_object_agg", "jsonb_object_agg", "any_value", "min", "max"),
        *(
            "sum",
            "avg",
            "count",
            "abs",
            "sign",
            "to_char",
            "to_hex",
            "format",
            "first_value",
            "last_value",
            "pg_typeof",
        ),
    )
)
"""Functions of arguments of several types, where a placeholder without one is a text or an error."""
_NO_FUNCTION: Final = CONDITION_WORDS | CLAUSE_KEYWORDS | {"in", "then", "else", "between", "row", "distinct", "as", ""}
_WORD: Final = re.compile(r'[^\W\d]|"')
_INTEGER: Final = "integer"
_INTEGERS: Final = range(-(2**31), 2**31)
"""The values of PostgreSQL's ``integer``."""


class Neighbour(Enum):
    """The SQL next to a variable."""

    COMPARISON = auto()
    ARGUMENT = auto()
    OPERATOR = auto()
    """An operator that is no comparison and computes nothing: of documents, arrays, patterns."""
    POSITION = auto()
    """An argument of ``substring`` or ``overlay``: a placeholder without a type would be a pattern."""
    OTHER = auto()


def placeholder_type(dialect: Dialect, parameter: Parameter, at: Neighbour, *, is_array: bool = False) -> str:
    """The type to cast the placeholder of a parameter to; empty where it has none."""
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


def neighbour_of(context: TokenContext, index: int) -> Neighbour:
    """The SQL next to the tag at ``index``; brackets of clauses are passed by."""
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
    """Whether the declaration allows no number beyond 32 bits."""
    limits = parameter.choices or (parameter.min, parameter.max)
    return all(limit is not None and limit in _INTEGERS for limit in limits)


def _nearest(tokens: Tokens, bracket: str) -> list[SQLToken]:
    """The four nearest tokens that are no bracket of a clause."""
    found: list[SQLToken] = []
    for distance in count():
        if tokens[distance].text != bracket:
            found.append(tokens[distance])
        if len(found) == 4:
            return found
    raise AssertionError("tokens have no end")  # pragma: no cover


def _operator(tokens: list[SQLToken], *, backward: bool) -> str:
    """The operator that is made of the nearest signs; empty where the nearest token is no sign."""
    found: list[SQLToken] = []
    for token in tokens:
        edge = found[-1] if found else token
        is_next = not found or (token.end == edge.start if backward else token.start == edge.end)
        if token.text not in _SIGNS or not is_next:
            break
        found.append(token)
    return "".join(each.text for each in (reversed(found) if backward else found))


def _compares_by_word(context: TokenContext, index: int, before: list[SQLToken], after: list[SQLToken]) -> bool:
    """Whether a word or a choice compares the tag with something: ``between``, ``in``, ``is distinct from``."""
    word, earlier = before[0].text, before[1].text
    if word in {"between", "symmetric", "in", AFTER_CHOICE} or (word == "from" and earlier == "distinct"):
        return True
    if word == "and" and context.keyword_before(index, AROUND_AND, 1) == "between":
        return True
    following = [each.text for each in after]
    if following[0] == "is":
        return "distinct" in following[1:3]
    return following[following[0] == "not"] in {"in", "between"}
