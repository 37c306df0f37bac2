# A clause or choice must close each bracket, `case` and `between` that it opens, must not end a statement, and must not
# leave two strings next to each other, which engines read as one.

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple, NoReturn

from tenantry.sql.lexing.lexemes import Lexeme, LexemeKind
from tenantry.sql.source import Source

# The lookahead makes the search three times as fast.
_DELIMITER = re.compile(r"(?=[(){};CcEeBbAa])(?:[(){};]|(?<![\w$.])(?i:case|end|between|and)(?![\w$]))")
# A tag counts as a string, because some drivers write values as strings into the SQL.
_STRINGS = frozenset({LexemeKind.STRING, LexemeKind.INTERPOLATED_STRING, LexemeKind.TAG})
_OPENED_BY = {")": "(", "]": "[", "}": "{", "end": "case", "and": "between"}
_ALSO_ALONE = frozenset({"end", "and"})  # these may also be a column's name (`end`) or join conditions (`and`)
_OPERATOR_FIX = "put an operator between the two strings, outside the clause or choice"
_CHOICE = "choice"
_ARTICLES = {_CHOICE: "a choice", "optional clause": "an optional clause"}
_CLOSED_BY = {opening: closing for closing, opening in _OPENED_BY.items()}


class _Delimiter(NamedTuple):
    text: str
    offset: int


@dataclass(slots=True)
class _OpenClause:
    after_string: bool = False
    """Whether a string directly precedes the clause or choice."""
    what: str = "optional clause"
    at_end: bool = False
    """Whether an earlier choice of the same tag ends with a string."""
    opened: list[_Delimiter] = field(default_factory=list)
    """Delimiters that are not closed yet."""


def check_clauses(source: Source, lexemes: Sequence[Lexeme]) -> None:
    """Raise TemplateError for the first optional clause or filter argument that can change the meaning of the SQL
    around it."""
    checker = _ClauseChecker(source)
    for lexeme in lexemes:
        checker.read(lexeme)


class _ClauseChecker:
    def __init__(self, source: Source) -> None:
        self._source = source
        self._clauses = [_OpenClause()]
        self._after_string = False  # whether a string directly precedes this point, for at least one choice
        self._crossed = False  # whether a bracket of a clause or choice follows that string

    def read(self, lexeme: Lexeme) -> None:
        if lexeme.kind is LexemeKind.CLAUSE_START:
            self._clauses.append(_OpenClause(self._after_string))
            self._crossed = True
        elif lexeme.kind is LexemeKind.CLAUSE_END:
            clause = self._close()
            self._after_string |= clause.after_string
        elif lexeme.kind is LexemeKind.CHOICE_START:
            self._clauses.append(_OpenClause(self._after_string, _CHOICE))
            self._crossed = True
        elif lexeme.kind is LexemeKind.CHOICE_NEXT or lexeme.kind is LexemeKind.CHOICE_END:
            self._end_of_choice(lexeme)
        else:
            if lexeme.kind in _STRINGS:
                if lexeme.kind is not LexemeKind.TAG and self._after_string and self._crossed:
                    between = "an optional clause or a choice"
                    problem = f"this string would directly follow another string, with only {between} between the two"
                    raise self._source.error(lexeme.start, problem, _OPERATOR_FIX)
                self._after_string, self._crossed = True, False
            elif lexeme.kind is not LexemeKind.COMMENT and not self._source.text[lexeme.start : lexeme.end].isspace():
                self._after_string = False
            for text, offset in _delimiters(self._source.text, lexeme):
                self._delimiter(text, offset)

    def _close(self) -> _OpenClause:
        clause = self._clauses.pop()
        if clause.opened:
            delimiter = clause.opened[-1]
            self._reject(delimiter, f"this {clause.what} ends before its {_CLOSED_BY[delimiter.text]}", delimiter)
        self._crossed = True
        return clause

    def _end_of_choice(self, lexeme: Lexeme) -> None:
        choice = self._close()
        at_end = choice.at_end or self._after_string
        if lexeme.kind is LexemeKind.CHOICE_NEXT:
            self._after_string = choice.after_string
            self._clauses.append(_OpenClause(choice.after_string, _CHOICE, at_end))
        else:
            self._after_string = at_end

    def _delimiter(self, text: str, offset: int) -> None:
        opened = self._clauses[-1].opened
        inside = len(self._clauses) > 1
        if text in _CLOSED_BY:
            opened.append(_Delimiter(text, offset))
        elif opened and opened[-1].text == _OPENED_BY.get(text):
            opened.pop()
        elif inside and text == ";":
            problem = f"a statement cannot end in {_ARTICLES[self._clauses[-1].what]}"
            self._reject(_Delimiter(text, offset), problem)
        elif inside:
            innermost = next((clause.opened[-1].text for clause in reversed(self._clauses) if clause.opened), None)
            if text in _ALSO_ALONE and innermost != _OPENED_BY[text]:
                return
            problem = f"this {text} closes nothing that its {self._clauses[-1].what} opens"
            around = [clause.opened[-1] for clause in self._clauses if clause.opened]
            self._reject(_Delimiter(text, offset), problem, around[-1] if around else None)

    def _reject(self, delimiter: _Delimiter, problem: str, opening: _Delimiter | None = None) -> NoReturn:
        what = "put a whole condition or item in [[ ]] or in a choice"
        fix = f"{what}, with both ends of each bracket, of `case … end` and of `between … and`"
        if opening is not None and opening.text == "between":
            fix = _whole_between(self._source.text, opening.offset)
        raise self._source.error(delimiter.offset, problem, fix)


def _delimiters(text: str, lexeme: Lexeme) -> list[tuple[str, int]]:
    if lexeme.kind is LexemeKind.CODE:
        return [(match[0].lower(), match.start()) for match in _DELIMITER.finditer(text, lexeme.start, lexeme.end)]
    if lexeme.kind is LexemeKind.LEFT_BRACKET or lexeme.kind is LexemeKind.RIGHT_BRACKET:
        return [(text[offset], offset) for offset in range(lexeme.start, lexeme.end)]
    if lexeme.kind is LexemeKind.ESCAPE:
        return [(text[at], at) for at in range(lexeme.start + 1, lexeme.end) if text[at] in _CLOSED_BY]
    return []


# --- the fix for half a `between` -----------------------------------------------------------------------------------


_OPERAND: Final = r"\{\{[^{}]*\}\}|'[^']*'|[-+]?[\w.]+(?:\([^()]*\))?(?:::\w+)?"
_BRACKETS: Final = r"(?:\s*(?:\[\[|\]\]))*\s*"
_ENDS: Final = re.compile(
    rf"between{_BRACKETS}(?P<low>{_OPERAND}){_BRACKETS}and{_BRACKETS}(?P<high>{_OPERAND})"
    r"(?=\s*(?:\]\]|[),;]|\Z|(?:and|or|group|order|limit)\b))",
    re.IGNORECASE,
)
_NAME: Final = r"(?:[^\W\d]\w*|\"[^\"]+\"|`[^`]+`)"
_COLUMN: Final = re.compile(
    r"(?:[(,]|\[\[|\]\]|(?<![\w$.])(?:where|and|or|on|having|when|(?P<not>not)))\s*"
    rf"(?P<name>{_NAME}(?:\.{_NAME})*(?:\([^()]*\))?)\s+(?P<negated>not\s+)?{_BRACKETS}\Z",
    re.IGNORECASE,
)
_NEAR: Final = 200  # characters before the `between`


def _whole_between(text: str, offset: int) -> str:
    column = _COLUMN.search(text, max(0, offset - _NEAR), offset)
    ends = _ENDS.match(text, offset)
    if column is None or ends is None:
        return "put all of the `between` into one clause: [[ and column between {{ params.a }} and {{ params.b }} ]]"
    name, negated, low, high = column["name"], column["not"] or column["negated"], ends["low"], ends["high"]
    whole = f"[[ and {name} {'not ' if negated else ''}between {low} and {high} ]]"
    if negated or "]]" in ends[0]:
        return f"put all of the `between` into one clause: {whole}"
    return f"write {name} >= {low} [[ and {name} <= {high} ]]; or put all of the `between` into one clause: {whole}"
