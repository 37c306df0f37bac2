"""Constant expressions: finds variables in places where SQL needs a column or a condition, as in
``order by {{ x }}``."""

# For `order by $1`, an engine takes the bound value as a constant and does not sort. The words around a variable show
# whether it is such a constant. Parentheses around the variable are skipped and, in `order by` and `group by`, also
# casts and functions.

from __future__ import annotations

import re
from collections.abc import Set as AbstractSet
from enum import Enum, auto
from itertools import count

from tenantry.sql.lexing.lexemes import word_set
from tenantry.sql.lexing.sql_tokens import CLAUSE_KEYWORDS, TokenContext, Tokens

CONDITION_WORDS = frozenset({"where", "having", "on", "and", "or", "xor", "not", "when", "qualify", "prewhere"})
"""Words that precede a condition."""

_JOINING = frozenset({"and", "or", "xor"})
_BEFORE_OPERAND = frozenset({"(", ",", "then", "else"})

AROUND_AND = word_set("between and or xor where having on when then else select not")
"""The nearest of these words before an ``and`` decides whether the ``and`` joins conditions or belongs to
``between``."""
_WORD = re.compile(r"[^\W\d]")
_ENDS = frozenset({"", ")", ",", ";", "]", "}", "'", '"', "{{", "{", "$"})
_CONTINUING = word_set(
    """is isnull notnull in not between like ilike rlike regexp similar glob match div mod at sounds member overlaps
    contains operator global as"""
)
ITEM_ENDS = CLAUSE_KEYWORDS | word_set(
    """group order fetch union except intersect minus into for and or xor join cluster distribute sort lateral start
    connect option format"""
)
"""Words that end a select item or a condition, or join it to the next one."""
_NO_FUNCTION = CONDITION_WORDS | CLAUSE_KEYWORDS | {"distinct", "distinctrow", "all", "then", "else", "between"}
_GROUPS = frozenset({"rollup", "cube", "sets"})
_AFTER_SELECT = word_set(
    """distinct distinctrow all top percent with ties as struct value straight_join high_priority sql_no_cache sql_cache
    sql_calc_found_rows"""
) | {'"'}
_NO_CONSTANT = re.compile(r"rand|unnest|explode|arrayjoin|series|range|elements|table|each|flatten|split")
_TYPE_WORDS = frozenset({"precision", "varying", "unsigned", "with", "without", "time", "zone", "."})
_FAR = 64  # tokens: longer parentheses are not skipped


_OR_SIGN = "||"
_HOLDS = CLAUSE_KEYWORDS | {"when", "then", "else"}
"""The nearest of these words before a value decides whether the value is in a condition."""


class ConstantExpression(Enum):
    CONDITION = auto()
    ITEM = auto()
    ORDER = auto()


class _Around(Enum):
    PARENTHESES = auto()
    CAST = auto()
    FUNCTION = auto()
    ROW = auto()


def find_constant_expression(
    context: TokenContext, index: int, or_operators: AbstractSet[str]
) -> ConstantExpression | None:
    """Return where the variable at ``index`` is used as a constant, or None if the variable is a part of an
    expression."""
    return _Operand(context, index, or_operators).role()


def parentheses_around(before: Tokens, after: Tokens) -> int:
    return next(depth for depth in count() if before[depth].text != "(" or after[depth].text != ")")


class _Operand:
    def __init__(self, context: TokenContext, index: int, or_operators: AbstractSet[str]) -> None:
        self._context = context
        self._index = index
        self._or_signs = or_operators & {_OR_SIGN}
        self._before = context.before(index)
        self._after = context.after(index)
        self._left = self._right = 0
        self._around: set[_Around] = set()
        while self._step_outward():
            pass

    def role(self) -> ConstantExpression | None:
        before, after = self._before[self._left].text, self._after[self._right].text
        if before in self._or_signs and (after in self._or_signs or not continues(after)):
            return ConstantExpression.CONDITION if self._holds_condition() else None
        if after in self._or_signs and before in {"(", *CONDITION_WORDS}:
            return ConstantExpression.CONDITION if self._holds_condition() else None
        if continues(after):
            return None
        if self._is_ordered():
            return ConstantExpression.ORDER
        if self._around - {_Around.PARENTHESES}:
            return None
        if self._begins_item():
            return None if self._has_alias() else ConstantExpression.ITEM
        return ConstantExpression.CONDITION if self._is_condition() else None

    def _step_outward(self) -> bool:
        left, right = self._before[self._left].text, self._after[self._right].text
        if right == "::":
            return self._take(_Around.CAST, 0, self._type_length())
        if right == "collate":
            return self._take(_Around.CAST, 0, 2)
        if left == "(" and right == ")":
            return self._parentheses(0, 0, _Around.PARENTHESES)
        if left == "(" and right == "as":
            return self._parentheses(0, self._closing(), _Around.CAST)
        if left in {"(", ","} and right in {",", ")"}:
            return self._parentheses(self._opening(), self._closing(), _Around.ROW)
        return False

    def _take(self, around: _Around, left: int, right: int) -> bool:
        self._around.add(around)
        self._left += left
        self._right += right
        return True

    def _parentheses(self, opening: int | None, closing: int | None, around: _Around) -> bool:
        if opening is None or closing is None:
            return False
        name = self._before[self._left + opening + 1].text
        if name in _GROUPS:
            return self._take(_Around.FUNCTION, opening + (3 if name == "sets" else 2), closing + 1)
        if not self._is_function(opening + 1):
            return self._take(around, opening + 1, closing + 1)
        if around is _Around.ROW or _NO_CONSTANT.search(name):
            return False
        around = _Around.FUNCTION if around is _Around.PARENTHESES else around
        length = 2
        while self._before[self._left + opening + length].text == ".":
            length += 2  # skip a schema
        return self._take(around, opening + length, closing + 1)

    def _is_function(self, distance: int) -> bool:
        name = self._before[self._left + distance].text
        if name == ")":
            return not self._begins_item(distance)  # distinct on (a) (b)
        return name not in _NO_FUNCTION and (name == '"' or _WORD.match(name) is not None)

    def _opening(self) -> int | None:
        depth = 0
        for distance in range(_FAR):
            text = self._before[self._left + distance].text
            depth += (text == ")") - (text == "(")
            if depth < 0:
                return distance
            if not text or (depth == 0 and text in CLAUSE_KEYWORDS):
                return None
        return None

    def _closing(self) -> int | None:
        depth = 0
        for distance in range(_FAR):
            text = self._after[self._right + distance].text
            depth += (text == "(") - (text == ")")
            if depth < 0:
                return distance
            if not text:
                return None
        return None

    def _type_length(self) -> int:
        length, depth = 2, 0
        while True:
            text = self._after[self._right + length].text
            depth += (text in {"(", "["}) - (text in {")", "]"})
            if depth < 0 or not text or not (depth or text in {")", "]"} or text in _TYPE_WORDS):
                return length
            length += 2 if text == "." else 1

    def _is_ordered(self) -> bool:
        word = self._before[self._left].text
        if word == ",":
            return self._context.enclosing_clause(self._index, self._left) == "by"
        return word == "by" or (word == "on" and self._before[self._left + 1].text == "distinct")

    def _begins_item(self, distance: int = 0) -> bool:
        at = self._left + distance
        if self._before[at].text == ",":
            return self._context.enclosing_clause(self._index, at) == "select"
        while True:
            text = self._before[at].text
            if text == "select":
                return True
            if text == ")":
                at = self._before_parentheses(at)
                if self._before[at].text not in {"on", "top"}:
                    return False
            elif text not in _AFTER_SELECT and not (text.isdigit() and self._before[at + 1].text == "top"):
                return False
            at += 1

    def _before_parentheses(self, distance: int) -> int:
        depth = 0
        for at in range(distance, distance + _FAR):
            depth += (self._before[at].text == ")") - (self._before[at].text == "(")
            if depth == 0:
                return at + 1
        return distance + _FAR

    def _has_alias(self) -> bool:
        word, following = self._after[self._right].text, self._after[self._right + 1].text
        if word in {"'", '"'}:
            return True
        ends = following in _ENDS or following in ITEM_ENDS
        return _WORD.match(word) is not None and word not in ITEM_ENDS and ends

    def _holds_condition(self) -> bool:
        # In arguments of functions and in `select` items, `||` may concatenate strings.
        opening = self._opening()
        if opening is not None:
            return not self._is_function(opening + 1)
        return self._context.keyword_before(self._index, _HOLDS, self._left) in CONDITION_WORDS

    def _is_condition(self) -> bool:
        word = self._before[self._left].text
        if word in _BEFORE_OPERAND:
            return self._after[self._right].text in _JOINING
        if word not in CONDITION_WORDS:
            return False
        if word == "not":
            return self._before[self._left + 1].text != "is"
        if word == "and":
            return self._context.keyword_before(self._index, AROUND_AND, self._left + 1) != "between"
        return word != "when" or self._context.is_searched_case(self._index, self._left)


def continues(following: str) -> bool:
    if _WORD.match(following):
        return following in _CONTINUING
    return following not in _ENDS and not following[0].isdigit()
