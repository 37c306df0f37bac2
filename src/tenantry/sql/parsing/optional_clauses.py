"""Optional clauses: which ``[[`` opens one, and what one must hold so that its absence changes nothing around it.
Which variables may be in one is the rule of ``tenant_guard``.

``[[`` opens a clause only if its ``]]`` encloses a variable at its own level. Some dialects write arrays with the same
characters: there what is no clause stays as it is, unless it begins with a word or a sign that no expression begins
with, such as ``and``, has no end, or is a whole condition; elsewhere it is an error. So is a ``]]`` that closes
nothing.

A clause closes every bracket, ``case`` and ``between`` that it opens, and none that it does not; it ends no statement;
and no string comes directly after another one when clauses or their brackets go, for engines read two strings with a
new line between as one. Characters never grow together: the parser puts a space where a clause was. Which operators and
keywords become neighbours is not checked: that is the meaning of SQL.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, NoReturn

from tenantry.sql.dialects import Dialect
from tenantry.sql.lexing.lexemes import Lexeme, LexemeKind
from tenantry.sql.lexing.lexer import lex
from tenantry.sql.lexing.tags import map_arguments
from tenantry.sql.parsing.clause_words import begins_clause, ends_unfinished, is_condition
from tenantry.sql.parsing.whole_between import whole_between
from tenantry.sql.source import Source

_ARRAY = re.compile(r"(?<![\w$.])array\s*\Z", re.IGNORECASE)
# What it can begin with is looked for first: that is three times as fast.
_DELIMITER = re.compile(r"(?=[(){};CcEeBbAa])(?:[(){};]|(?<![\w$.])(?i:case|end|between|and)(?![\w$]))")
# Some drivers send a variable as a string, too.
_STRINGS = frozenset({LexemeKind.STRING, LexemeKind.INTERPOLATED_STRING, LexemeKind.TAG})
_OPENED_BY = {")": "(", "]": "[", "}": "{", "end": "case", "and": "between"}
_ALSO_ALONE = frozenset({"end", "and"})  # a column's name, and a condition's `and`
_CHOICE = "text of a choice"
_ARTICLES = {_CHOICE: "a text of a choice", "optional clause": "an optional clause"}
_CLOSED_BY = {opening: closing for closing, opening in _OPENED_BY.items()}


@dataclass(slots=True)
class _Bracket:
    double: bool
    index: int = -1
    has_variable: bool = False


def read_lexemes(source: Source, dialect: Dialect) -> list[Lexeme]:
    """The lexemes of a template, of its optional clauses and of the texts in its tags.

    Raises TemplateError for what has no end, and for a ``[[`` that opens no clause.
    """
    lexemes = lex(source, dialect)
    has_brackets = "[[" in source.text or "]]" in source.text
    return _match_brackets(source, dialect, lexemes) if has_brackets else lexemes


def _match_brackets(source: Source, dialect: Dialect, lexemes: Sequence[Lexeme]) -> list[Lexeme]:
    """The lexemes with CLAUSE_START and CLAUSE_END only where a clause starts and ends; other brackets are plain."""
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
        """Finds the clauses. Raises TemplateError for a ``[[`` that opens none, where arrays are not written so."""
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
        """``\\[[``, and ``array[[`` where the dialect has arrays."""
        text = self._source.text
        if lexeme.kind is LexemeKind.ESCAPE:
            return text.startswith("[[", lexeme.start + 1)
        if lexeme.kind is not LexemeKind.CLAUSE_START or not self._may_be_array(index):
            return False
        return _ARRAY.search(text, max(0, lexeme.start - 12), lexeme.start) is not None

    def _close(self, index: int) -> bool:
        """Closes the innermost bracket; True if the next ``]`` was used up too. Raises TemplateError for a ``]]`` where
        no bracket is open."""
        if not self._stack:
            if self._is_right_bracket(index + 1):
                fix = "open the clause with [[, or take the ]] out"
                raise self._source.error(self._lexemes[index].start, "this ]] closes nothing", fix)
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
                is_alone = is_condition(text, lexemes, bracket.index, index)
                self._not_a_clause(bracket, is_alone or ends_unfinished(text, lexemes[index - 1]))
            return True
        self._not_a_clause(bracket)
        # [[ 1 ], …: two arrays, and one of them is closed
        self._stack.append(_Bracket(double=False, index=bracket.index))
        if bracket.has_variable and self._doubles:
            self._doubles[-1].has_variable = True
        return False

    def _is_right_bracket(self, index: int) -> bool:
        return index < len(self._lexemes) and self._lexemes[index].kind is LexemeKind.RIGHT_BRACKET

    def _not_a_clause(self, bracket: _Bracket, never_array: bool = False) -> None:
        if never_array or not self._may_be_array(bracket.index):
            problem = "this [[ has no ]] that encloses a variable"
            fix = "close the clause with ]], and name in it the variable that it depends on; or take [[ and ]] out"
            raise self._source.error(self._lexemes[bracket.index].start, problem, fix)

    def _may_be_array(self, index: int) -> bool:
        """Whether the ``[[`` at an index can open an array in an array."""
        return self._dialect.arrays and not begins_clause(self._source.text, self._lexemes, index)

    def result(self) -> list[Lexeme]:
        """The lexemes, with what was found."""
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


class _Delimiter(NamedTuple):
    """What opens: a bracket or a keyword in lower case, or what is refused; with its offset."""

    text: str
    offset: int


@dataclass(slots=True)
class _OpenClause:
    """The template itself, a clause or one text of a choice: what is open in it, and whether a string comes directly
    before it, or at the end of a text beside it."""

    after_string: bool = False
    what: str = "optional clause"
    at_end: bool = False
    opened: list[_Delimiter] = field(default_factory=list)


def check_clauses(source: Source, lexemes: Sequence[Lexeme]) -> None:
    """Raises TemplateError for the first optional clause whose absence would change how the text around it is read."""
    checker = _ClauseChecker(source)
    for lexeme in lexemes:
        checker.read(lexeme)


class _ClauseChecker:
    def __init__(self, source: Source) -> None:
        self._source = source
        self._clauses = [_OpenClause()]
        self._after_string = False  # nothing but space since a string, in one of the texts that this may become
        self._crossed = False  # and a clause or one of its brackets

    def read(self, lexeme: Lexeme) -> None:
        """Checks the next lexeme."""
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
                    problem = f"this string would come directly after another one, with only {between} between"
                    raise self._source.error(lexeme.start, problem, "put an operator between them, outside of it")
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
        """After one text of a choice: the next one has the same before it; after all of them, any can be before."""
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
        what = "let [[ ]], or a text to choose, hold a whole condition or item"
        fix = f"{what}, with both ends of each bracket, case … end and between … and"
        if opening is not None and opening.text == "between":
            fix = whole_between(self._source.text, opening.offset)
        raise self._source.error(delimiter.offset, problem, fix)


def _delimiters(text: str, lexeme: Lexeme) -> list[tuple[str, int]]:
    """The brackets, the keywords in lower case and the ``;`` of a lexeme, with their offsets."""
    if lexeme.kind is LexemeKind.CODE:
        return [(match[0].lower(), match.start()) for match in _DELIMITER.finditer(text, lexeme.start, lexeme.end)]
    if lexeme.kind is LexemeKind.LEFT_BRACKET or lexeme.kind is LexemeKind.RIGHT_BRACKET:
        return [(text[offset], offset) for offset in range(lexeme.start, lexeme.end)]
    if lexeme.kind is LexemeKind.ESCAPE:
        return [(text[at], at) for at in range(lexeme.start + 1, lexeme.end) if text[at] in _CLOSED_BY]
    return []
