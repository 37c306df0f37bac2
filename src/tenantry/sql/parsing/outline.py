"""The outline: the tokens of a template as a tree, whose levels are brackets and ``case … end``."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import IntEnum, auto
from typing import TypeAlias

from tenantry.sql.dialects import Dialect
from tenantry.sql.lexing.lexemes import Lexeme, LexemeKind
from tenantry.sql.lexing.tags import DEFAULT, ONE_OF, VariableTag, read_tag
from tenantry.sql.parsing.clause_brackets import read_lexemes
from tenantry.sql.source import Source
from tenantry.sql.syntax_tree import VariableReference

_TOKEN = re.compile(r"[^\W\d][\w$]*|[0-9][\w.]*|<=>|<>|!=|>=|<=|==|:=|\|\||&&|::|\S")
_MAX_DEPTH = 100
"""Brackets that are nested deeper than this stay plain tokens."""


class TokenKind(IntEnum):
    """Kind of an OutlineToken. A NAME is quoted or follows a dot. AND and OR join conditions, but the ``and`` of
    ``between`` is a WORD. A GROUP contains the tokens in brackets or ``case … end``."""

    WORD = auto()
    NAME = auto()
    OTHER = auto()
    STRING = auto()
    TAG = auto()
    GROUP = auto()
    AND = auto()
    OR = auto()


@dataclass(slots=True)
class OutlineToken:
    kind: TokenKind
    text: str
    """The token's SQL. Words and names are in lower case. The text of a GROUP is the opening bracket or ``case``."""
    start: int
    end: int
    clauses: tuple[int, ...] = ()
    """Offsets of the optional clauses around the token, outermost first."""
    references: tuple[VariableReference, ...] = ()
    children: list[OutlineToken] = field(default_factory=list)
    tag: VariableTag | None = None
    choices: tuple[list[OutlineToken], ...] = ()
    """If the token is a tag: the tokens of each argument of the tag's filters. Arguments of ``default`` are left
    out."""

    def has_filter(self, name: str) -> bool:
        return self.tag is not None and self.tag.filter(name) is not None

    def is_word(self, *words: str) -> bool:
        return self.kind is TokenKind.WORD and self.text in words

    @property
    def is_name(self) -> bool:
        return self.kind is TokenKind.WORD or self.kind is TokenKind.NAME

    @property
    def is_choice(self) -> bool:
        """Whether the token is a ``one_of`` tag, which is replaced by one of ``choices``."""
        return self.has_filter(ONE_OF)


Tokens: TypeAlias = Sequence[OutlineToken]


def read_outline(source: Source, dialect: Dialect, references: Iterable[VariableReference] = ()) -> list[OutlineToken]:
    """Return the tokens of a template, without comments. Each of ``references`` is attached to the tag or string that
    contains it.

    Raises TemplateError for SQL that cannot be lexed, and for malformed tags.
    """
    ordered = sorted(references, key=lambda each: each.offset)
    return _nest(_OutlineReader(source, dialect, ordered).read(read_lexemes(source, dialect), ()))


# --- reading ----------------------------------------------------------------------------------------------------------


class _OutlineReader:
    def __init__(self, source: Source, dialect: Dialect, references: Sequence[VariableReference]) -> None:
        self._source = source
        self._dialect = dialect
        self._references = references

    def read(self, lexemes: Iterable[Lexeme], clauses: tuple[int, ...]) -> Iterator[OutlineToken]:
        after_dot = False
        for lexeme in lexemes:
            if lexeme.kind is LexemeKind.CODE:
                for match in _TOKEN.finditer(self._source.text, lexeme.start, lexeme.end):
                    word = match.group().lower()
                    kind = TokenKind.NAME if after_dot and _begins_word(word) else self._kind(word)
                    yield OutlineToken(kind, word, match.start(), match.end(), clauses)
                    after_dot = word == "."
            elif lexeme.kind is LexemeKind.CLAUSE_START:
                clauses = (*clauses, lexeme.start)
            elif lexeme.kind is LexemeKind.CLAUSE_END:
                clauses = clauses[:-1]
            elif lexeme.kind is not LexemeKind.COMMENT:
                yield self._quoted_or_tag(lexeme, clauses)
                after_dot = False

    def _kind(self, word: str) -> TokenKind:
        if word in self._dialect.or_operators:
            return TokenKind.OR
        if word in self._dialect.and_operators:
            return TokenKind.AND
        return TokenKind.WORD if _begins_word(word) else TokenKind.OTHER

    def _quoted_or_tag(self, lexeme: Lexeme, clauses: tuple[int, ...]) -> OutlineToken:
        start, end = lexeme.start, lexeme.end
        raw = self._source.text[start:end]
        found = tuple(each for each in self._references if start <= each.offset < end)
        alone = lexeme.kind is LexemeKind.INTERPOLATED_STRING and len(lexeme.parts) == 1
        if lexeme.kind is LexemeKind.TAG or alone:
            tag = read_tag(self._source, lexeme.parts[0] if alone else lexeme)
            texts = (each.lexemes for every in tag.filters if every.name != DEFAULT for each in every.arguments)
            choices = tuple(_nest(self.read(each, clauses)) for each in texts)
            return OutlineToken(TokenKind.TAG, raw.strip("'\""), start, end, clauses, found, tag=tag, choices=choices)
        if lexeme.kind is LexemeKind.QUOTED and raw[0] in '"`[':
            return OutlineToken(TokenKind.NAME, raw[1:-1].lower(), start, end, clauses)
        if lexeme.kind in {LexemeKind.LEFT_BRACKET, LexemeKind.RIGHT_BRACKET}:
            return OutlineToken(TokenKind.OTHER, raw, start, end, clauses)
        return OutlineToken(TokenKind.STRING, raw, start, end, clauses, found)


def _begins_word(word: str) -> bool:
    return word[0].isalpha() or word[0] == "_"


_OPENED_BY = {")": "(", "]": "[", "}": "{", "end": "case"}
_OPENING = frozenset(_OPENED_BY.values())


def _nest(tokens: Iterable[OutlineToken]) -> list[OutlineToken]:
    groups = [OutlineToken(TokenKind.GROUP, "", 0, 0)]
    betweens = [0]  # for each open group: number of `between` that still need their `and`
    too_deep = 0
    for token in tokens:
        current = groups[-1]
        sign = token.text if token.kind is TokenKind.WORD or token.kind is TokenKind.OTHER else ""
        if sign in _OPENING and len(groups) < _MAX_DEPTH:
            groups.append(OutlineToken(TokenKind.GROUP, sign, token.start, token.end, token.clauses))
            betweens.append(0)
            current.children.append(groups[-1])
            continue
        if not too_deep and current.text and _OPENED_BY.get(sign) == current.text:
            current.end = token.end
            groups.pop()
            betweens.pop()
            continue
        if len(groups) == _MAX_DEPTH:
            too_deep = max(0, too_deep + (sign in _OPENING) - (sign in _OPENED_BY))
        if sign == "between":
            betweens[-1] += 1
        elif token.kind is TokenKind.AND and betweens[-1]:
            token.kind = TokenKind.WORD
            betweens[-1] -= 1
        current.children.append(token)
    for group in groups[1:]:  # never closed
        group.end = groups[-1].children[-1].end if groups[-1].children else group.end
    return groups[0].children


# --- reading tokens ---------------------------------------------------------------------------------------------------


def written(tokens: Tokens) -> str:
    """Return the tokens as SQL with normalized case and spaces, for comparison."""
    return " ".join(_written(token) for token in tokens)


def _written(token: OutlineToken) -> str:
    if token.kind is TokenKind.GROUP:
        return f"{token.text} {written(token.children)} )"
    return "".join(token.text.split()) if token.kind is TokenKind.TAG else token.text


def split_at(tokens: Tokens, *words: str) -> list[list[OutlineToken]]:
    return _split(tokens, lambda token: token.text in words and token.kind in {TokenKind.WORD, TokenKind.OTHER})


def alternatives(condition: Tokens) -> list[list[OutlineToken]]:
    """Split a condition at each ``or`` outside of groups."""
    return _split(condition, lambda token: token.kind is TokenKind.OR)


def conjuncts(condition: Tokens) -> list[list[OutlineToken]]:
    """Split a condition at each ``and`` outside of groups."""
    return _split(condition, lambda token: token.kind is TokenKind.AND)


def _split(tokens: Tokens, is_separator: Callable[[OutlineToken], bool]) -> list[list[OutlineToken]]:
    parts: list[list[OutlineToken]] = [[]]
    for token in tokens:
        if is_separator(token):
            parts.append([])
        else:
            parts[-1].append(token)
    return parts
