from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import islice
from types import MappingProxyType
from typing import NamedTuple

from tenantry.sql.lexing.lexemes import Lexeme, LexemeKind, word_set
from tenantry.sql.lexing.tags import is_choice
from tenantry.sql.source import Source

_TOKEN = re.compile(r"[A-Za-z_\x80-\U0010ffff][\w$\x80-\U0010ffff]*|[0-9][\w.]*|::|&&|\|\||\S")
_STRETCH = 32  # tokenize this many characters first, because most rules need only a word or two
_NEAR = 4  # characters: enough for an operator and a space
_PLAIN_END = re.compile(r"\s*+(?:[\w),;\]]|\Z)")
_SPACE = re.compile(r"\s")
AFTER_CHOICE = "{{ one_of"
_OPENING = frozenset({"(", "[", "{", "case"})
_CLOSING = frozenset({")", "]", "}", "end"})
_LOOKBACK = 300  # tokens: rules do not look further back
CLAUSE_KEYWORDS = word_set(
    "select from where having by limit offset on using values set returning window prewhere qualify sample settings"
)
"""Words that begin a clause of a statement."""
_TOKEN_TEXTS = {
    LexemeKind.STRING: "'",
    LexemeKind.INTERPOLATED_STRING: "'",
    LexemeKind.QUOTED: '"',
    LexemeKind.TAG: "{{",
    LexemeKind.CLAUSE_START: "[[",
    LexemeKind.CLAUSE_END: "]]",
    LexemeKind.LEFT_BRACKET: "[",
    LexemeKind.RIGHT_BRACKET: "]",
    LexemeKind.ESCAPE: "\\",
}


class SQLToken(NamedTuple):
    """A word in lower case, a number or a symbol. The token ``'`` represents a whole string, ``"`` a whole quoted name,
    and ``{{`` a whole tag."""

    text: str
    start: int
    end: int


_NO_TOKEN = SQLToken("", 0, 0)
_NO_SIGNS: Mapping[str, str] = MappingProxyType({})


class Tokens:
    """The tokens on one side of a lexeme, nearest first. An index beyond the last token gives an empty token."""

    def __init__(self, tokens: Iterator[SQLToken]) -> None:
        self._tokens = tokens
        self._read: list[SQLToken] = []

    def __getitem__(self, distance: int) -> SQLToken:
        while len(self._read) <= distance:
            self._read.append(next(self._tokens, _NO_TOKEN))
        return self._read[distance]


class TokenContext:
    """Finds the tokens around the lexeme at an ``index``. ``signs`` are the dialect's ``joining_signs``."""

    def __init__(self, source: Source, lexemes: Sequence[Lexeme], signs: Mapping[str, str] = _NO_SIGNS) -> None:
        self.lexemes = lexemes
        self._source = source
        self._text = source.text
        self._signs = signs
        self._enclosing: dict[tuple[int, int], str] = {}

    def preceding(self, index: int, count: int) -> list[SQLToken]:
        tokens = self._tokens_before(index)
        return [next(tokens, _NO_TOKEN) for _ in range(count)]

    def follows_comparison(self, index: int) -> bool:
        """Whether the lexeme, a tag, is the whole right side of ``=``, ``<`` or ``>``."""
        before = self.lexemes[index - 1]  # index 0 gives the last lexeme, which ends elsewhere
        lexeme = self.lexemes[index]
        if before.kind is not LexemeKind.CODE or before.end != lexeme.start:
            return False
        near = self._text[max(before.start, lexeme.start - _NEAR) : lexeme.start].rstrip()
        return near.endswith(("=", "<", ">")) and _PLAIN_END.match(self._text, lexeme.end) is not None

    def following(self, index: int) -> SQLToken:
        return next(self._tokens_after(index), _NO_TOKEN)

    def before(self, index: int) -> Tokens:
        return Tokens(self._tokens_before(index))

    def after(self, index: int) -> Tokens:
        return Tokens(self._tokens_after(index))

    def enclosing_function(self, index: int) -> str:
        """Return the name before the innermost parenthesis around the lexeme. In ``extract(year from …)`` it is
        ``extract``."""
        depth = 0
        tokens = self._tokens_before(index)
        for _, token in zip(range(_LOOKBACK), tokens, strict=False):
            depth += (token.text == ")") - (token.text == "(")
            if depth < 0:
                return next(tokens, _NO_TOKEN).text
        return ""

    def enclosing_clause(self, index: int, skip: int = 0) -> str:
        """Return the keyword that begins the clause around the lexeme, such as ``by`` or ``limit``."""
        if (index, skip) not in self._enclosing:  # cached: several rules need the keyword, and it can be far away
            self._enclosing[index, skip] = self.keyword_before(index, CLAUSE_KEYWORDS, skip)
        return self._enclosing[index, skip]

    def keyword_before(self, index: int, keywords: AbstractSet[str], skip: int) -> str:
        """Return the nearest of ``keywords`` before the lexeme, in the same brackets. If there is no such keyword,
        return the opening bracket, or an empty string outside of brackets. Ignore the nearest ``skip`` tokens."""
        depth = 0
        for token in islice(self._tokens_before(index), skip, skip + _LOOKBACK):
            depth += (token.text in _CLOSING) - (token.text in _OPENING)
            if depth < 0 or (depth == 0 and token.text in keywords):
                return token.text
        return ""

    def is_searched_case(self, index: int, skip: int = 0) -> bool:
        """Whether the lexeme is in a ``case when …``, and not in a ``case a when …``."""
        depth, after = 0, ""
        for token in islice(self._tokens_before(index), skip, skip + _LOOKBACK):
            if token.text == "case" and depth == 0:
                return after == "when"
            depth += (token.text in _CLOSING) - (token.text in _OPENING)
            after = token.text
        return False

    def _tokens_after(self, index: int) -> Iterator[SQLToken]:
        for at in range(index + 1, len(self.lexemes)):
            lexeme = self.lexemes[at]
            if lexeme.kind is LexemeKind.CODE:
                for match in _TOKEN.finditer(self._text, lexeme.start, lexeme.end):
                    yield self._token(match)
            else:
                yield from self._tokens_of(lexeme)

    def _tokens_before(self, index: int) -> Iterator[SQLToken]:
        for at in range(index - 1, -1, -1):
            lexeme = self.lexemes[at]
            if lexeme.kind is LexemeKind.CODE:
                end, stretch = lexeme.end, _STRETCH
                while end > lexeme.start:
                    start = max(lexeme.start, end - stretch)
                    stretch *= 4
                    if start > lexeme.start:  # never cut a word
                        space = _SPACE.search(self._text, start, end)
                        start = space.start() if space is not None else lexeme.start
                    for match in reversed(list(_TOKEN.finditer(self._text, start, end))):
                        yield self._token(match)
                    end = start
            elif lexeme.parts and is_choice(self._source, lexeme):
                yield SQLToken(AFTER_CHOICE, lexeme.start, lexeme.end)
            else:
                yield from self._tokens_of(lexeme)

    def _token(self, match: re.Match[str]) -> SQLToken:
        text = match.group().lower()
        return SQLToken(self._signs.get(text, text), match.start(), match.end())

    def _tokens_of(self, lexeme: Lexeme) -> Iterator[SQLToken]:
        if lexeme.kind is LexemeKind.LEFT_BRACKET:
            for offset in range(lexeme.start, lexeme.end):
                yield SQLToken("[", offset, offset + 1)
        elif lexeme.kind is not LexemeKind.COMMENT:
            yield SQLToken(_TOKEN_TEXTS[lexeme.kind], lexeme.start, lexeme.end)
