"""Clause words: how a text in ``[[ ]]`` begins or ends that is no array, where the dialect has such arrays.

An array holds expressions. None begins with ``and``, ``where`` or a comma, and none ends with ``and``. A word that a
comma or a dot follows is a name; some words are one as well where an operator follows: ``[[left(a, 1)], [b]]`` is an
array, ``[[ left join …`` is none. And no array is a whole condition: ``where [[ deleted is null ]]``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from tenantry.sql.lexing.lexemes import Lexeme, LexemeKind

_NEVER = frozenset(
    (
        *("and", "or", "xor", "where", "having", "on", "using", "group", "order", "limit", "fetch", "union", "except"),
        *("intersect", "join", "inner", "cross", "natural", "from", "into", "with", "returning", "qualify", "prewhere"),
        *("as", "in", "is", "between", "like", "ilike", "when", "then", "else", "end", "asc", "desc", "by"),
        *("select", "distinct", "lateral", "tablesample"),
    )
)
"""Words that no expression begins with."""
_BEFORE_OPERAND = frozenset(
    (
        *("left", "right", "full", "outer", "offset", "window", "minus", "values", "set", "for", "settings", "format"),
        *("sample", "asof", "semi", "anti", "any", "all", "global", "paste", "positional", "grouping", "within", "at"),
        *("pivot", "unpivot", "cluster", "distribute", "sort", "start", "connect", "collate", "filter", "over"),
        *("similar", "rlike", "regexp", "glob", "escape", "nulls", "rows", "range", "match", "option", "top", "ignore"),
    )
)
"""Words that begin a part of a statement if an operand follows them, and are a name if an operator does."""
_OPERATORS = frozenset(
    {"and", "or", "is", "in", "not", "like", "ilike", "between", "as", "collate", "at", "div", "mod"}
)
_NO_EXPRESSION = re.compile(r"[,;)=<>/%&!]|\|\|")
_AFTER_NOT = frozenset({"in", "like", "ilike", "between", "similar", "rlike", "regexp", "glob"})
_OF_NAME = re.compile(r"[,.]|::")
_OPERAND = re.compile(r"[0-9'\"`{]")
_TOKEN = re.compile(r"[^\W\d][\w$]*|\|\||::|\S")
_WORD = re.compile(r"[^\W\d][\w$]*")
_UNFINISHED = re.compile(r"(?:(?<![\w$.])(?:and|or|xor|not|in|is|like|between)|[-=<>+/%|])\s*\Z", re.IGNORECASE)
_BEFORE_CONDITION = re.compile(r"(?<![\w$.])(?:where|having|on|qualify|prewhere|and|or|not)\s*\Z", re.IGNORECASE)
_AFTER_CONDITION = frozenset(
    (
        *("", ")", ";", "[[", "and", "or", "group", "order", "having", "limit", "offset", "fetch", "qualify", "window"),
        *("union", "except", "intersect"),
    )
)


def begins_clause(text: str, lexemes: Sequence[Lexeme], index: int) -> bool:
    """Whether what follows the ``[[`` at an index begins no expression."""
    code = _code(text, map(lexemes.__getitem__, range(index + 1, len(lexemes))))
    start = next(code, "")
    if not _WORD.match(start):
        return _NO_EXPRESSION.match(start) is not None
    word, after = start.lower(), next(code, "").lower()
    if word in _NEVER:
        return not _OF_NAME.match(after)
    is_operand = after not in _OPERATORS if _WORD.match(after) else _OPERAND.match(after) is not None
    return (word in _BEFORE_OPERAND and is_operand) or (word == "not" and after in _AFTER_NOT)


def ends_unfinished(text: str, before: Lexeme) -> bool:
    """Whether the lexeme before a ``]]`` ends with an operator, as no expression does."""
    return before.kind is LexemeKind.CODE and _UNFINISHED.search(text, before.start, before.end) is not None


def is_condition(text: str, lexemes: Sequence[Lexeme], start: int, end: int) -> bool:
    """Whether what is between the ``[[`` at one index and the ``]]`` at another is a condition by itself. Next to a
    ``between`` an ``and`` may come before an operand."""
    preceding = map(lexemes.__getitem__, range(start - 1, -1, -1))
    before = next((each for each in preceding if not _is_blank(text, each)), None)
    if before is None or before.kind is not LexemeKind.CODE:
        return False
    word = _BEFORE_CONDITION.search(text, before.start, before.end)
    if word is None or (word[0].lower().startswith("and") and "between" in text[: word.start()].lower()):
        return False
    following = map(lexemes.__getitem__, range(end + 2, len(lexemes)))
    return next(_code(text, following), "").lower() in _AFTER_CONDITION


def _is_blank(text: str, lexeme: Lexeme) -> bool:
    return lexeme.kind is LexemeKind.COMMENT or text[lexeme.start : lexeme.end].isspace()


def _code(text: str, lexemes: Iterable[Lexeme]) -> Iterator[str]:
    """The words and signs of some lexemes, without comments; of what is no code the first two characters."""
    for lexeme in lexemes:
        if lexeme.kind is LexemeKind.CODE:
            yield from (match.group() for match in _TOKEN.finditer(text, lexeme.start, lexeme.end))
        elif lexeme.kind is not LexemeKind.COMMENT:
            yield text[lexeme.start : lexeme.start + 2]
