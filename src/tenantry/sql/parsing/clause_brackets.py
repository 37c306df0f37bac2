"""Decides whether ``[[`` opens an optional clause or a nested array."""

# `[[ … ]]` is a clause if it contains a variable outside inner clauses. Any other `[[` opens an array. An array is an
# error if the dialect has no arrays, or if the SQL after `[[` cannot be an array because it has no `]]`, begins with a
# word such as `and`, ends with an operator, or is a whole condition.

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from tenantry.errors import Edit
from tenantry.sql.dialects import Dialect
from tenantry.sql.lexing.lexemes import Lexeme, LexemeKind, word_set
from tenantry.sql.lexing.lexer import lex
from tenantry.sql.lexing.tags import map_arguments
from tenantry.sql.source import Source

_ARRAY = re.compile(r"(?<![\w$.])array\s*\Z", re.IGNORECASE)


@dataclass(slots=True)
class _Bracket:
    double: bool
    index: int = -1
    has_variable: bool = False


def read_lexemes(source: Source, dialect: Dialect) -> list[Lexeme]:
    """Return the lexemes of a template. A ``[[`` is a CLAUSE_START only if it opens an optional clause.

    Raises TemplateError as ``lex`` does, and for a ``[[`` or ``]]`` that belongs neither to a clause nor to an array.
    """
    lexemes = lex(source, dialect)
    has_brackets = "[[" in source.text or "]]" in source.text
    return _match_brackets(source, dialect, lexemes) if has_brackets else lexemes


def _match_brackets(source: Source, dialect: Dialect, lexemes: Sequence[Lexeme]) -> list[Lexeme]:
    matched = map_arguments(lexemes, lambda parts: _match_brackets(source, dialect, parts))
    matcher = _BracketMatcher(source, dialect, matched)
    matcher.run()
    return matcher.result()


class _BracketMatcher:
    def __init__(self, source: Source, dialect: Dialect, lexemes: list[Lexeme]) -> None:
        self._source = source
        self._dialect = dialect
        self._lexemes = lexemes
        self._stack: list[_Bracket] = []
        self._doubles: list[_Bracket] = []
        self._closes: dict[int, int] = {}  # index of the first ] of ]] -> index of its [[

    def run(self) -> None:
        skip = -1
        for index, lexeme in enumerate(self._lexemes):
            if lexeme.kind is LexemeKind.CODE or lexeme.kind is LexemeKind.STRING:
                continue
            if (lexeme.kind is LexemeKind.TAG or lexeme.kind is LexemeKind.INTERPOLATED_STRING) and self._doubles:
                self._doubles[-1].has_variable = True
            elif lexeme.kind is LexemeKind.LEFT_BRACKET:
                self._stack.append(_Bracket(double=False))
            elif self._is_array_in_array(index, lexeme):
                self._stack += [_Bracket(double=False), _Bracket(double=False)]
            elif lexeme.kind is LexemeKind.CLAUSE_START:
                self._doubles.append(_Bracket(double=True, index=index))
                self._stack.append(self._doubles[-1])
            elif lexeme.kind is LexemeKind.RIGHT_BRACKET and index != skip and self._close(index):
                skip = index + 1
        for bracket in self._stack:
            if bracket.index >= 0:
                self._not_a_clause(bracket, never_array=True)

    def _is_array_in_array(self, index: int, lexeme: Lexeme) -> bool:
        text = self._source.text
        if lexeme.kind is LexemeKind.ESCAPE:
            return text.startswith("[[", lexeme.start + 1)
        if lexeme.kind is not LexemeKind.CLAUSE_START or not self._may_be_array(index):
            return False
        return _ARRAY.search(text, max(0, lexeme.start - 12), lexeme.start) is not None

    def _close(self, index: int) -> bool:
        if not self._stack:
            if self._is_right_bracket(index + 1):
                fix = "open the clause with [[, or remove the ]]"
                start = self._lexemes[index].start
                raise self._source.error(start, "this ]] closes nothing", fix, edit=Edit("]]", ""))
            return False
        bracket = self._stack.pop()
        if not bracket.double:
            return False
        self._doubles.pop()
        if self._is_right_bracket(index + 1):
            if bracket.has_variable:
                self._closes[index] = bracket.index
            else:
                text, lexemes = self._source.text, self._lexemes
                is_alone = _is_condition(text, lexemes, bracket.index, index)
                self._not_a_clause(bracket, is_alone or _ends_unfinished(text, lexemes[index - 1]))
            return True
        self._not_a_clause(bracket)
        # `[[ 1 ], …` opened two arrays, and this `]` closes the inner array
        self._stack.append(_Bracket(double=False, index=bracket.index))
        if bracket.has_variable and self._doubles:
            self._doubles[-1].has_variable = True
        return False

    def _is_right_bracket(self, index: int) -> bool:
        return index < len(self._lexemes) and self._lexemes[index].kind is LexemeKind.RIGHT_BRACKET

    def _not_a_clause(self, bracket: _Bracket, never_array: bool = False) -> None:
        if never_array or not self._may_be_array(bracket.index):
            problem = "this [[ has no ]] that encloses a variable"
            fix = "close the clause with ]], and name in it the variable that it depends on; or remove [[ and ]]"
            raise self._source.error(self._lexemes[bracket.index].start, problem, fix, edit=Edit("[[", ""))

    def _may_be_array(self, index: int) -> bool:
        return self._dialect.arrays and not _begins_clause(self._source.text, self._lexemes, index)

    def result(self) -> list[Lexeme]:
        opens = set(self._closes.values())
        result: list[Lexeme] = []
        used = -1
        for index, lexeme in enumerate(self._lexemes):
            if index == used:
                continue
            if index in self._closes:
                result.append(Lexeme(LexemeKind.CLAUSE_END, lexeme.start, lexeme.start + 2))
                used = index + 1
            elif lexeme.kind is LexemeKind.CLAUSE_START and index not in opens:
                result.append(Lexeme(LexemeKind.LEFT_BRACKET, lexeme.start, lexeme.end))
            else:
                result.append(lexeme)
        return result


# --- signs of a clause ------------------------------------------------------------------------------------------------


_NEVER = word_set(
    """and or xor where having on using group order limit fetch union except intersect join inner cross natural from
    into with returning qualify prewhere as in is between like ilike when then else end asc desc by select distinct
    lateral tablesample"""
)
"""Words that never begin an expression, so a ``[[`` before one of them opens no array."""
_BEFORE_OPERAND = word_set(
    """left right full outer offset window minus values set for settings format sample asof semi anti any all global
    paste positional grouping within at pivot unpivot cluster distribute sort start connect collate filter over
    similar rlike regexp glob escape nulls rows range match option top ignore"""
)
"""Words that begin a clause if an operand follows, otherwise an expression: ``[[ left join …`` is a clause, and
``[[left(a, 1)], [b]]`` is an array."""
_OPERATORS = word_set("and or is in not like ilike between as collate at div mod")
_NO_EXPRESSION = re.compile(r"[,;)=<>/%&!]|\|\|")
_AFTER_NOT = frozenset({"in", "like", "ilike", "between", "similar", "rlike", "regexp", "glob"})
_OF_NAME = re.compile(r"[,.]|::")
_OPERAND = re.compile(r"[0-9'\"`{]")
_TOKEN = re.compile(r"[^\W\d][\w$]*|\|\||::|\S")
_WORD = re.compile(r"[^\W\d][\w$]*")
_UNFINISHED = re.compile(r"(?:(?<![\w$.])(?:and|or|xor|not|in|is|like|between)|[-=<>+/%|])\s*\Z", re.IGNORECASE)
_BEFORE_CONDITION = re.compile(r"(?<![\w$.])(?:where|having|on|qualify|prewhere|and|or|not)\s*\Z", re.IGNORECASE)
_AFTER_CONDITION = word_set(
    ") ; [[ and or group order having limit offset fetch qualify window union except intersect"
) | {""}


def _begins_clause(text: str, lexemes: Sequence[Lexeme], index: int) -> bool:
    code = _code(text, map(lexemes.__getitem__, range(index + 1, len(lexemes))))
    start = next(code, "")
    if not _WORD.match(start):
        return _NO_EXPRESSION.match(start) is not None
    word, after = start.lower(), next(code, "").lower()
    if word in _NEVER:
        return not _OF_NAME.match(after)
    is_operand = after not in _OPERATORS if _WORD.match(after) else _OPERAND.match(after) is not None
    return (word in _BEFORE_OPERAND and is_operand) or (word == "not" and after in _AFTER_NOT)


def _ends_unfinished(text: str, before: Lexeme) -> bool:
    return before.kind is LexemeKind.CODE and _UNFINISHED.search(text, before.start, before.end) is not None


def _is_condition(text: str, lexemes: Sequence[Lexeme], start: int, end: int) -> bool:
    # In `where [[ … ]] group by`, the brackets contain a whole condition. After `between 1 and`, they may contain an
    # operand, so they do not count as a condition.
    preceding = map(lexemes.__getitem__, range(start - 1, -1, -1))
    code = (each for each in preceding if each.kind is not LexemeKind.COMMENT)
    before = next((each for each in code if not text[each.start : each.end].isspace()), None)
    if before is None or before.kind is not LexemeKind.CODE:
        return False
    word = _BEFORE_CONDITION.search(text, before.start, before.end)
    if word is None or (word[0].lower().startswith("and") and "between" in text[: word.start()].lower()):
        return False
    following = map(lexemes.__getitem__, range(end + 2, len(lexemes)))
    return next(_code(text, following), "").lower() in _AFTER_CONDITION


def _code(text: str, lexemes: Iterable[Lexeme]) -> Iterator[str]:
    for lexeme in lexemes:
        if lexeme.kind is LexemeKind.CODE:
            yield from (match.group() for match in _TOKEN.finditer(text, lexeme.start, lexeme.end))
        elif lexeme.kind is not LexemeKind.COMMENT:
            yield text[lexeme.start : lexeme.start + 2]
