"""What a ``from`` names: tables, sub-selects and functions, and how each is joined to those before it."""

from __future__ import annotations

from dataclasses import dataclass, field

from tenantry.sql.checks.selects import is_query
from tenantry.sql.parsing.outline import OutlineToken, TokenKind, Tokens, written


@dataclass(slots=True)
class TableReference:
    """What ``from`` or ``join`` names: the parts of its name, its alias (the last part where there is none), and its
    offset. ``name`` is empty for a sub-select, which is in ``query``, and for a function; of a table that a viewer
    chooses it is the variable's, and ``choices`` are the names to choose from."""

    name: tuple[str, ...]
    alias: str
    start: int
    choices: tuple[str, ...] = ()
    query: OutlineToken | None = None


@dataclass(slots=True)
class Join:
    """One source of rows in a ``from``: how it is joined (``inner``, ``left``, ``right``, ``full``), the tables that it
    brings, how many come before them, and its condition: ``on``, or the columns of ``using`` (``*``: natural)."""

    kind: str
    tables: list[TableReference]
    on: list[OutlineToken] = field(default_factory=list)
    using: frozenset[str] = frozenset()
    inner: list[Join] = field(default_factory=list)
    """The joins of a ``from`` in parentheses."""


_KINDS = {"left": "left", "right": "right", "full": "full", "semi": "left", "anti": "left"}
_MODIFIERS = frozenset(
    ("inner", "cross", "outer", "natural", "asof", "global", "any", "all", "positional", "straight_join")
)
_BEFORE_TABLE = frozenset(("lateral", "only", "table"))
_AFTER_TABLE = frozenset(
    ("final", "tablesample", "sample", "for", "use", "ignore", "force", "partition", "at", "pivot")
)
_JOINS = ("join", "apply")
_JOIN_WORDS = frozenset((*_KINDS, *_MODIFIERS, *_JOINS, "on", "using"))


def joins_of(tokens: Tokens) -> list[Join]:
    """The sources of rows that a ``from`` names, in its order."""
    return _JoinReader(tokens).read()


class _JoinReader:
    def __init__(self, tokens: Tokens) -> None:
        self._tokens = tokens
        self._at = 0

    def read(self) -> list[Join]:
        """Reads them all."""
        joins: list[Join] = []
        kind, natural = "inner", False
        while self._at < len(self._tokens):
            token = self._tokens[self._at]
            if token.text in _KINDS and token.kind is TokenKind.WORD:
                kind = _KINDS[token.text]
            elif token.is_word("natural"):
                natural = True
            elif token.is_word("on", "using") and joins:
                self._condition(joins[-1], token)
                continue
            elif self._begins_array_join():
                self._at += 2
                self._skip_to_next(stop_at=_JOIN_WORDS, commas=False)
                continue
            elif token.text != "," and not token.is_word(*_JOINS, *_MODIFIERS):
                joins.append(self._source(kind))
                joins[-1].using = frozenset("*") if natural else frozenset()
                kind, natural = "inner", False
                continue
            self._at += 1
        return joins

    def _condition(self, join: Join, token: OutlineToken) -> None:
        self._at += 1
        begin = self._at
        self._skip_to_next(stop_at=_JOIN_WORDS)
        found = list(self._tokens[begin : self._at])
        if token.text == "on":
            join.on += found
        elif found and found[0].kind is TokenKind.GROUP:
            join.using |= {each.text for each in found[0].children if each.is_name}

    def _source(self, kind: str) -> Join:
        while self._at < len(self._tokens) and self._tokens[self._at].is_word(*_BEFORE_TABLE):
            self._at += 1
        begin = self._at
        self._skip_to_next(stop_at=_JOIN_WORDS)
        self._at = max(self._at, begin + 1)  # whatever it is, it is read
        found = self._tokens[begin : self._at]
        if not found:
            return Join(kind, [])
        first = found[0]
        if first.kind is TokenKind.GROUP and not is_query(first):
            inner = joins_of(first.children)
            return Join(kind, [table for join in inner for table in join.tables], inner=inner)
        return Join(kind, [_table(found)])

    def _skip_to_next(self, stop_at: frozenset[str], *, commas: bool = True) -> None:
        while self._at < len(self._tokens):
            token = self._tokens[self._at]
            following = self._tokens[self._at + 1] if self._at + 1 < len(self._tokens) else None
            call = following is not None and following.kind is TokenKind.GROUP and token.text in {"left", "right"}
            if (token.text == "," and commas) or self._begins_array_join() or (token.is_word(*stop_at) and not call):
                return  # left(a, 3) is a function
            self._at += 1

    def _begins_array_join(self) -> bool:
        """``array join tags`` of ClickHouse: what it names is a column."""
        first, *following = self._tokens[self._at : self._at + 2]
        return first.is_word("array") and any(token.is_word("join") for token in following)


def _table(tokens: Tokens) -> TableReference:
    """``schema.name [as] alias``; a name before parentheses is a function."""
    name: list[str] = []
    index = 0
    choices: tuple[str, ...] = ()
    if tokens[0].has_filter("one_of"):
        index, choices = 1, tuple(written(choice).replace(" ", "") for choice in tokens[0].choices)
        name = [reference.path for reference in tokens[0].references[:1]]
    while index < len(tokens) and tokens[index].is_name:
        name += tokens[index].text.split(".")  # BigQuery writes a whole path in one pair of quotes
        index += 1
        if index >= len(tokens) or tokens[index].text != ".":
            break
        index += 1
    if index < len(tokens) and tokens[index].kind is TokenKind.GROUP:
        name = []  # a function, or a sub-select
    rest = [token for token in tokens[max(index, 1) :] if not token.is_word("as") and token.text not in _AFTER_TABLE]
    alias = rest[0].text if rest and rest[0].is_name else (name[-1] if name else "")
    return TableReference(tuple(name), alias, tokens[0].start, choices, tokens[0] if is_query(tokens[0]) else None)
