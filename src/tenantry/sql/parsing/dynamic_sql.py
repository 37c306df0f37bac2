"""Dynamic SQL: calls that run a string as SQL, and calls that read a table or server file whose name is in a string."""

# Such a call could run a bound value as SQL, so SQL with values must not contain one. Templates are checked when they
# are compiled; bound SQL is checked by the data source.

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from operator import itemgetter
from typing import Final, NamedTuple, TypeAlias

from tenantry.errors import TemplateError
from tenantry.sql.dialects import DIALECTS, Dialect
from tenantry.sql.dialects.dialect import FunctionNames, function_names
from tenantry.sql.lexing.lexemes import Lexeme, LexemeKind
from tenantry.sql.lexing.lexer import lex
from tenantry.sql.lexing.sql_tokens import CLAUSE_KEYWORDS
from tenantry.sql.source import Source
from tenantry.sql.text_cache import cached_by_text

# Matches words and signs. Beyond ASCII it matches only letters, because DuckDB reads every Unicode space as a space,
# even a space without width.
_WORD = re.compile(r"[^\W\d][\w$]*|[^\s\w\x80-\U0010ffff]")
_BRACE = re.compile(r"\{(?=[{%])")
ESCAPED_NAME: Final = "U&"
"""The ``name`` of a DynamicCall if the name of the function is written with escapes. Such a name could mean any
function."""
SETTINGS: Final = "settings"
"""The ``name`` of a DynamicCall for a ``settings`` clause, which can lift the limits of the database user."""


class DynamicCall(NamedTuple):
    """A call that runs, or may run, a string as SQL."""

    name: str
    """The function as ``name()``, keywords such as ``execute immediate``, ESCAPED_NAME or SETTINGS."""
    offset: int


class WordToken(NamedTuple):
    """A word in lower case, a sign, or a string with its opening quote."""

    text: str
    is_name: bool
    offset: int


_NO_WORD: Final = WordToken("", False, 0)
_Names: TypeAlias = frozenset[tuple[str, int]]  # names of functions with their offsets
_NO_NAMES: Final[_Names] = frozenset()


class _NamesAround(NamedTuple):
    before: _Names
    """The functions whose names may directly precede the clause or choice."""
    after: _Names
    """The functions whose names may directly precede the SQL after the clause or choice: those at the end of each
    choice so far and, because a clause may be left out, ``before``."""


_OTHERS = "getxml* newcontext identifier reflect java_method remote_query external_query"  # of Oracle, Spark, BigQuery

ALL_DYNAMIC_SQL_FUNCTIONS: Final = (
    *(dialect.dynamic_functions for dialect in DIALECTS.values()),
    function_names(_OTHERS, attributes=True),
)
"""Rules for an engine for which we have no dialect: the dynamic functions of all dialects, and those of a few other
engines."""


def check_dynamic_sql(source: Source, dialect: Dialect, lexemes: Sequence[Lexeme]) -> None:
    """Raise TemplateError if a template with variables contains a DynamicCall."""
    rules = (dialect.dynamic_functions,)
    if not _may_call(source.text, rules) or not any(
        lexeme.kind in {LexemeKind.TAG, LexemeKind.INTERPOLATED_STRING} for lexeme in lexemes
    ):
        return
    call = next(dynamic_calls(source.text, lexemes, rules), None)
    if call is None:
        return
    if call.name == ESCAPED_NAME:
        problem, fix = (
            "a name in escapes could be any function, so it cannot be next to variables",
            'write it plainly: "name"',
        )
    elif call.name == SETTINGS:
        problem = "a `settings` clause can lift the limits of the database user, so it cannot be next to variables"
        fix = "set it for the user or the connection"
    else:
        what = "runs a string as SQL, or reads a table or file by name"
        problem = f"{call.name} {what}: a variable next to it could become SQL"
        fix = "write the query itself in the template, with {{ name }} in it"
    raise source.error(call.offset, problem, fix)


def check_column_names(source: Source, dialect: Dialect, lexemes: Sequence[Lexeme]) -> None:
    """Raise TemplateError for a variable in DuckDB's ``columns(…)``."""
    if not dialect.columns_expression or "columns" not in source.text.lower():
        return
    before = _NO_NAMES  # each `columns` that may directly precede this word
    depth = 0
    brackets: list[_NamesAround] = []
    for word, is_name, offset in words_of(source.text, lexemes):
        if word in _BRACKETS:
            before = _at_bracket(word, before, brackets)
            continue
        if depth and word == "{{":
            problem = "a variable within columns(…) would name a column"
            raise source.error(offset, problem, "write the columns in the template itself; a value is never a name")
        if depth or (word == "(" and before):
            depth += (word == "(") - (word == ")")
        before = frozenset({(word, offset)}) if is_name and word == "columns" else _NO_NAMES


@cached_by_text
def has_dynamic_sql(sql: str, dialect: str | None) -> bool:
    """Whether SQL contains a DynamicCall. Pass None as ``dialect`` for an engine for which we have no dialect."""
    if dialect is None:
        return calls_any(sql, DIALECTS["duckdb"], ALL_DYNAMIC_SQL_FUNCTIONS)
    rules = DIALECTS[dialect]
    return calls_any(sql, rules, (rules.dynamic_functions,))


def calls_any(sql: str, dialect: Dialect, rules: tuple[FunctionNames, ...]) -> bool:
    """Whether SQL contains a DynamicCall according to ``rules``. Also true for SQL that cannot be lexed, if it contains
    a name in ``rules``."""
    if not _may_call(sql, rules):
        return False
    try:
        source = Source(_BRACE.sub("{ ", sql))  # `{{` is the author's SQL here
        return next(dynamic_calls(source.text, lex(source, dialect), rules), None) is not None
    except TemplateError:
        return True


def _may_call(text: str, rules: tuple[FunctionNames, ...]) -> bool:
    lower = text.lower()
    return "immediate" in lower or "prepare" in lower or any(rule.may_appear_in(lower) for rule in rules)


def dynamic_calls(text: str, lexemes: Sequence[Lexeme], rules: tuple[FunctionNames, ...]) -> Iterator[DynamicCall]:
    # If a clause or choice is left out, the words around it become neighbours. So every rule accepts a bracket of a
    # clause or choice in place of any word or sign.
    words = list(words_of(text, lexemes, escapes=any(rule.escaped_names == "\\" for rule in rules)))
    yield from _function_calls(words, rules)
    yield from _table_calls(words, frozenset[str]().union(*(rule.tables for rule in rules)))
    # `execute immediate` and `prepare … from` take an expression in MariaDB and Oracle.
    prepares = any(rule.prepares for rule in rules)
    settings = any(rule.settings for rule in rules)
    before_these = [_NO_WORD, _NO_WORD, *words]
    for (first, *_), (before, *_), (word, _, offset) in zip(before_these, before_these[1:], words, strict=False):
        if word == "immediate" and before in {"execute", *_BRACKETS}:
            yield DynamicCall("execute immediate", offset)
        if prepares and ((word == "from" and first == "prepare") or (word == "[[" and before == "prepare")):
            yield DynamicCall("prepare … from", offset)
        if settings and word == "=" and first == "settings":
            yield DynamicCall(SETTINGS, offset)


def _function_calls(words: Sequence[WordToken], rules: tuple[FunctionNames, ...]) -> Iterator[DynamicCall]:
    before = ""
    names = _NO_NAMES  # names that would be called if the next token is `(`
    brackets: list[_NamesAround] = []
    for word, is_name, offset in words:
        if word in {"(", "[["}:
            yield from (DynamicCall(f"{name}()", at) for name, at in sorted(names, key=itemgetter(1)))
        if word in _BRACKETS:
            names = _at_bracket(word, names, brackets)
            before = word
            continue  # keep `names`, which may be next to the token after the bracket
        names = _NO_NAMES
        if word.startswith("'") and any(rule.matches(word[1:]) for rule in rules):
            names = frozenset({(word[1:], offset)})
        elif is_name:
            found = [rule for rule in rules if rule.matches(word)]
            if any(word in rule.words for rule in rules):
                yield DynamicCall(word, offset)
            if word == ESCAPED_NAME and any(rule.escaped_names for rule in rules):
                yield DynamicCall(word, offset)
            if before in {".", *_BRACKETS} and any(rule.attributes for rule in found):
                yield DynamicCall(f"{word}()", offset)
            names = frozenset({(word, offset)}) if found else _NO_NAMES
        before = word


def _table_calls(words: Sequence[WordToken], names: frozenset[str]) -> Iterator[DynamicCall]:
    if not names:
        return
    clauses = [""]  # in each open parenthesis, the keyword of the current clause
    for (word, is_name, offset), (following, *_) in pairwise([*words, _NO_WORD]):
        if word == "(":
            clauses.append(clauses[-1])
        elif word == ")" and len(clauses) > 1:
            clauses.pop()
        elif word == "join" or word in CLAUSE_KEYWORDS:
            clauses[-1] = "from" if word == "join" else word
        elif is_name and word in names and following in {"(", *_BRACKETS} and clauses[-1] in {"", "from"}:
            yield DynamicCall(f"{word}()", offset)


def _at_bracket(word: str, names: _Names, brackets: list[_NamesAround]) -> _Names:
    # Returns the names that may directly precede the token after the bracket.
    if word == "[[":
        brackets.append(_NamesAround(names, names))
        return names
    if not brackets:
        return names
    before, after = brackets.pop()
    after |= names
    if word == "][":
        brackets.append(_NamesAround(before, after))
        return before
    return after


_BRACKETS = ("[[", "][", "]]")
_LEXEME_SIGNS = {
    LexemeKind.CLAUSE_START: "[[",
    LexemeKind.CLAUSE_END: "]]",
    LexemeKind.CHOICE_START: "[[",
    LexemeKind.CHOICE_NEXT: "][",
    LexemeKind.CHOICE_END: "]]",
    LexemeKind.LEFT_BRACKET: "[",
    LexemeKind.RIGHT_BRACKET: "]",
    LexemeKind.TAG: "{{",
    LexemeKind.INTERPOLATED_STRING: "{{",
}


def words_of(text: str, lexemes: Sequence[Lexeme], *, escapes: bool = False) -> Iterator[WordToken]:
    """Yield the words and signs outside of comments. With ``escapes``, a quoted name with a backslash is yielded as
    ESCAPED_NAME."""
    # SQLite accepts a string as the name of a table, so strings are yielded too, with their opening quote.
    for lexeme in lexemes:
        if lexeme.kind is LexemeKind.CODE:
            for match in _WORD.finditer(text, lexeme.start, lexeme.end):
                word = match.group()
                yield WordToken(word.lower(), word[0].isalpha() or word[0] == "_", match.start())
        elif lexeme.kind is LexemeKind.QUOTED:
            first = text[lexeme.start]
            if first in "uU" or (escapes and "\\" in text[lexeme.start : lexeme.end]):
                yield WordToken(ESCAPED_NAME, True, lexeme.start)
            elif first == "$":
                size = text.index("$", lexeme.start + 1) + 1 - lexeme.start
                yield WordToken(f"'{text[lexeme.start + size : lexeme.end - size].lower()}", False, lexeme.start)
            elif first != "/":  # a hint is a comment
                yield WordToken(text[lexeme.start + 1 : lexeme.end - 1].lower(), True, lexeme.start)
        elif lexeme.kind is LexemeKind.STRING:
            yield WordToken(text[lexeme.start : lexeme.end - 1].lower(), False, lexeme.start)
        elif lexeme.kind is not LexemeKind.COMMENT:
            yield WordToken(_LEXEME_SIGNS.get(lexeme.kind, "'"), False, lexeme.start)
