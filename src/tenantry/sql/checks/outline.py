"""The outline of a statement, for lints: its tokens, nested as its parentheses are, and the selects with their clauses.

It is no parser of SQL. It knows parentheses, ``case … end``, the keywords that begin a clause, and what ``from`` names;
whoever asks it for more gets nothing, never a guess. It reads the template, so a tag is one token, whatever it becomes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import IntEnum, auto
from typing import TypeAlias

from tenantry.sql.dialects import Dialect
from tenantry.sql.lexing.lexemes import Lexeme, LexemeKind
from tenantry.sql.lexing.lexer import lex
from tenantry.sql.lexing.tags import VariableTag, read_tag
from tenantry.sql.parsing.optional_clauses import match_brackets
from tenantry.sql.source import Source
from tenantry.sql.syntax_tree import Tree, VariableReference

_TOKEN = re.compile(
    r"[^\W\d][\w$]*|[0-9][\w.]*|<=>|<>|!=|>=|<=|==|:=|\|\||::|\S",
)
_MAX_DEPTH = 100
"""Parentheses within one another; what is deeper is left out."""


class TokenKind(IntEnum):
    """What a token is. A GROUP is all between two parentheses, between ``[`` and ``]``, or of a ``case … end``."""

    WORD = auto()
    QUOTED_NAME = auto()
    OTHER = auto()
    STRING = auto()
    TAG = auto()
    GROUP = auto()


@dataclass(slots=True)
class OutlineToken:
    """A word (lower case), a name without its quotes, a sign or number, a string, a tag, or a group.

    ``text`` of a group is ``(``, ``[`` or ``case``, of a tag its own text. ``references`` are the variables of a tag,
    ``tag`` is what it says, and ``choices`` are the SQL texts in it of which a value chooses one. ``clauses``: how many
    optional clauses are around it.
    """

    kind: TokenKind
    text: str
    start: int
    end: int
    clauses: int = 0
    references: tuple[VariableReference, ...] = ()
    children: list[OutlineToken] = field(default_factory=list)
    tag: VariableTag | None = None
    choices: tuple[list[OutlineToken], ...] = ()

    def has_filter(self, name: str) -> bool:
        """Whether it is a tag with this filter."""
        return self.tag is not None and self.tag.filter(name) is not None

    def is_word(self, *words: str) -> bool:
        """Whether it is one of these words, not in quotes."""
        return self.kind is TokenKind.WORD and self.text in words

    @property
    def is_name(self) -> bool:
        """Whether it can be the name of a table or column."""
        return self.kind is TokenKind.WORD or self.kind is TokenKind.QUOTED_NAME


Tokens: TypeAlias = Sequence[OutlineToken]

# --- tokens -----------------------------------------------------------------------------------------------------------

_OPENED_BY = {")": "(", "]": "[", "end": "case"}
_OPENING = frozenset(_OPENED_BY.values())


def read_tokens(source: Source, dialect: Dialect, tree: Tree) -> list[OutlineToken]:
    """The tokens of a template that compiles, comments left out, with groups in groups."""
    lexemes = lex(source, dialect)
    if "[[" in source.text:
        lexemes = match_brackets(source, dialect, lexemes)
    return _nest(_flat(source, lexemes, tree))


def _nest(tokens: Iterable[OutlineToken]) -> list[OutlineToken]:
    top: list[OutlineToken] = []
    open_groups = [OutlineToken(TokenKind.GROUP, "", 0, 0, children=top)]
    for token in tokens:
        current = open_groups[-1]
        if token.kind in {TokenKind.WORD, TokenKind.OTHER} and token.text in _OPENING and len(open_groups) < _MAX_DEPTH:
            group = OutlineToken(TokenKind.GROUP, token.text, token.start, token.end, token.clauses)
            current.children.append(group)
            open_groups.append(group)
        elif token.kind in {TokenKind.WORD, TokenKind.OTHER} and _OPENED_BY.get(token.text) == current.text != "":
            current.end = token.end
            open_groups.pop()
        else:
            current.children.append(token)
    return top


def _flat(source: Source, lexemes: Sequence[Lexeme], tree: Tree, clauses: int = 0) -> Iterator[OutlineToken]:
    text = source.text
    references = sorted(tree.references, key=lambda each: each.offset)
    for lexeme in lexemes:
        kind, start, end, *_ = lexeme
        if kind is LexemeKind.CODE:
            for match in _TOKEN.finditer(text, start, end):
                word = match.group()
                named = word[0].isalpha() or word[0] == "_"
                token_kind = TokenKind.WORD if named else TokenKind.OTHER
                yield OutlineToken(token_kind, word.lower(), match.start(), match.end(), clauses)
        elif kind is LexemeKind.CLAUSE_START or kind is LexemeKind.CLAUSE_END:
            clauses += 1 if kind is LexemeKind.CLAUSE_START else -1
        elif kind is not LexemeKind.COMMENT:
            token = _token_of(text, lexeme, clauses)
            token.references = tuple(each for each in references if start <= each.offset < end)
            if token.kind is TokenKind.TAG:
                token.tag = read_tag(source, lexeme if kind is LexemeKind.TAG else lexeme.parts[0])
                texts = [argument.lexemes for each in token.tag.filters for argument in each.arguments]
                token.choices = tuple(_nest(_flat(source, each, tree, clauses)) for each in texts)
            yield token


def _token_of(text: str, lexeme: Lexeme, clauses: int) -> OutlineToken:
    kind, start, end, parts, *_ = lexeme
    raw = text[start:end]
    alone = kind is LexemeKind.INTERPOLATED_STRING and len(parts) == 1
    if kind is LexemeKind.TAG or alone:
        return OutlineToken(TokenKind.TAG, raw.strip("'\""), start, end, clauses)
    if kind is LexemeKind.QUOTED and raw[0] in '"`[':
        return OutlineToken(TokenKind.QUOTED_NAME, raw[1:-1].lower(), start, end, clauses)
    if kind in {LexemeKind.LEFT_BRACKET, LexemeKind.RIGHT_BRACKET}:
        return OutlineToken(TokenKind.OTHER, raw, start, end, clauses)
    return OutlineToken(TokenKind.STRING, raw, start, end, clauses)


def written(tokens: Tokens) -> str:
    """Tokens as one text with a space between each two: equal for what differs in white space and case alone."""
    return " ".join(_written(token) for token in tokens)


def _written(token: OutlineToken) -> str:
    if token.kind is TokenKind.GROUP:
        return f"{token.text} {written(token.children)} )"
    return "".join(token.text.split()) if token.kind is TokenKind.TAG else token.text


def split_at(tokens: Tokens, *words: str) -> list[list[OutlineToken]]:
    """The stretches between some words or signs. The ``and`` of a ``between`` is none."""
    parts: list[list[OutlineToken]] = [[]]
    between = 0
    for token in tokens:
        if token.kind is TokenKind.WORD and token.text == "between":
            between += 1
        elif token.kind is TokenKind.WORD and token.text == "and" and between:
            between -= 1
        elif token.kind in {TokenKind.WORD, TokenKind.OTHER} and token.text in words:
            parts.append([])
            continue
        parts[-1].append(token)
    return parts


# --- selects ----------------------------------------------------------------------------------------------------------

_SET_OPERATORS = ("union", "intersect", "except", "minus")
_CLAUSES = frozenset(
    ("select", "from", "prewhere", "where", "group", "having", "order", "limit", "offset", "fetch", "window", "qualify")
) | {"settings", "format"}
_TWO_WORDS = {"group": "by", "order": "by"}
_STATEMENTS = ("select", "from", "insert", "update", "delete", "merge")


@dataclass(slots=True)
class Select:
    """One select: its clauses by the word that begins each (``group``, ``order`` without ``by``), without that word;
    the names of the common table expressions that it sees; and the select that it stands in."""

    clauses: dict[str, list[OutlineToken]]
    known_names: frozenset[str]
    outer: Select | None = None


def selects_of(
    tokens: Tokens, known_names: frozenset[str] = frozenset(), outer: Select | None = None
) -> Iterator[Select]:
    """Every select of a statement or a group, an outer one before those in it."""
    body, known_names, queries = _common_tables(tokens, known_names)
    for query in queries:
        yield from selects_of(query.children, known_names, outer)
    for piece in split_at(body, *_SET_OPERATORS):
        clauses = _clauses_of(piece)
        here = Select(clauses, known_names, outer) if "select" in clauses or "from" in clauses else outer
        if here is not outer and here is not None:
            yield here
        yield from _nested(piece, known_names, here)


def _nested(tokens: Tokens, known_names: frozenset[str], outer: Select | None) -> Iterator[Select]:
    for token in tokens:
        for choice in token.choices:
            yield from selects_of(choice, known_names, outer)
        if token.kind is not TokenKind.GROUP:
            continue
        if is_query(token):
            yield from selects_of(token.children, known_names, outer)
        else:
            yield from _nested(token.children, known_names, outer)


def is_query(token: OutlineToken) -> bool:
    """Whether a group is a select in parentheses, or several."""
    if token.kind is not TokenKind.GROUP or token.text != "(":
        return False
    for child in token.children:
        if not is_query(child):
            return child.is_word("select", "with") or (child.is_word("from") and _reads_first(token.children))
        return len(token.children) == 1 or token.children[1].is_word(*_SET_OPERATORS)
    return False


def _reads_first(tokens: Tokens) -> bool:
    """``(from t select a)`` of DuckDB; ``trim(from a)`` is none."""
    return any(token.is_word("select") for token in tokens)


def _common_tables(tokens: Tokens, known: frozenset[str]) -> tuple[Tokens, frozenset[str], list[OutlineToken]]:
    """What follows ``with name as (…), …``, the names that are known then, and the queries behind them."""
    if not tokens or not tokens[0].is_word("with"):
        return tokens, known, []
    names: set[str] = set()
    queries: list[OutlineToken] = []
    for index, token in enumerate(tokens[1:], start=1):
        before = tokens[index - 1]
        begins = before.is_word("with", "recursive") or before.text == ","
        if is_query(token) and before.is_word("as", "materialized"):
            queries.append(token)
        elif token.is_word(*_STATEMENTS) or is_query(token):
            return tokens[index:], known | names, queries
        elif (begins and token.is_name and not token.is_word("recursive")) or (token.is_name and before.is_word("as")):
            names.add(token.text)
    return [], known | names, queries


def _clauses_of(tokens: Tokens) -> dict[str, list[OutlineToken]]:
    clauses: dict[str, list[OutlineToken]] = {}
    current: list[OutlineToken] = []
    before: OutlineToken | None = None
    for index, token in enumerate(tokens):
        following = tokens[index + 1] if index + 1 < len(tokens) else None
        if _begins_clause(token, before, following):
            current = clauses.setdefault(token.text, [])
        elif not (token.is_word("by") and before is not None and before.text in _TWO_WORDS):
            current.append(token)
        before = token
    return clauses


def _begins_clause(token: OutlineToken, before: OutlineToken | None, following: OutlineToken | None) -> bool:
    if not token.is_word(*_CLAUSES):
        return False
    if before is not None and (before.text == "." or (token.text == "from" and before.is_word("distinct"))):
        return False  # a column of that name; `is distinct from`
    needed = _TWO_WORDS.get(token.text)
    return needed is None or (following is not None and (following.is_word(needed) or following.is_word("all")))
