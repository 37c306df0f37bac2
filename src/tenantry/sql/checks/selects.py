"""Selects of a statement: finds their clauses, CTEs, tables and joins by keywords, not by grammar."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from tenantry.sql.parsing.outline import OutlineToken, TokenKind, Tokens, split_at, written

_SET_OPERATORS = ("union", "intersect", "except", "minus")
_CLAUSES = frozenset(
    (
        *("select", "from", "prewhere", "where", "group", "having", "order", "limit", "offset", "fetch", "window"),
        *("qualify", "settings", "format", "for", "lock", "option"),
    )
)
_NEEDS = {
    "group": ("by", "all"),
    "order": ("by", "all"),
    "for": ("update", "share", "no", "key", "json", "xml", "browse"),  # `for system_time` belongs to `from`
    "lock": ("in",),
}
_ALSO_COLUMNS = frozenset(("limit", "offset", "fetch", "window", "qualify", "settings", "format", "prewhere"))
_AFTER_COLUMN = frozenset((*("=", "==", "<>", "!=", "<", ">", "<=", ">=", ",", "::"), *("is", "in", "not", "like")))
_STATEMENTS = ("select", "from", "insert", "update", "delete", "merge", "table")


KnownNames: TypeAlias = Mapping[str, "OutlineToken | None"]
"""Name of a CTE → the GROUP token of the CTE's query, or None if no query was found."""
_NO_NAMES: KnownNames = {}


@dataclass(slots=True)
class Select:
    """A select. ``outer`` is the select around it."""

    clauses: dict[str, list[OutlineToken]]
    """First word of a clause, such as ``group`` for ``group by`` → the clause's tokens."""
    known_names: KnownNames
    """The CTEs that the select can read."""
    outer: Select | None = None


def selects_of(tokens: Tokens, known_names: KnownNames = _NO_NAMES, outer: Select | None = None) -> Iterator[Select]:
    """Yield every select, outer selects before inner ones."""
    body, own = _common_tables(tokens)
    known_names = {**known_names, **own}
    for query in own.values():
        if query is not None:
            yield from selects_of(query.children, known_names, outer)
    for piece in split_at(body, *_SET_OPERATORS):
        clauses = _clauses_of(piece)
        here = Select(clauses, known_names, outer) if "select" in clauses or "from" in clauses else outer
        if here is not outer and here is not None:
            yield here
        yield from _nested(piece, known_names, here)


def _nested(tokens: Tokens, known_names: KnownNames, outer: Select | None) -> Iterator[Select]:
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
    """Return whether the token is a select in parentheses."""
    if token.kind is not TokenKind.GROUP or token.text != "(":
        return False
    for child in token.children:
        if not is_query(child):
            begins = child.is_word("select", "with") or _names_table(token.children)
            return begins or (child.is_word("from") and any(each.is_word("select") for each in token.children))
        return len(token.children) == 1 or token.children[1].is_word(*_SET_OPERATORS)
    return False


def _names_table(tokens: Tokens) -> bool:
    return len(tokens) > 1 and tokens[0].is_word("table") and tokens[1].is_name


def _common_tables(tokens: Tokens) -> tuple[Tokens, KnownNames]:
    known: dict[str, OutlineToken | None] = {}
    if not tokens or not tokens[0].is_word("with"):
        return tokens, known
    name, query = "", None  # in either order: ClickHouse also writes `with (select …) as name`
    for index, token in enumerate(tokens[1:], start=1):
        before = tokens[index - 1]
        begins = before.is_word("with", "recursive") or before.text == ","
        if begins:
            name, query = "", None
        if is_query(token) and (begins or before.is_word("as", "materialized")):
            query = token
        elif token.is_word(*_STATEMENTS) or is_query(token):
            return tokens[index:], known
        elif (
            token.is_name and (begins or before.is_word("as")) and not token.is_word("recursive", "not", "materialized")
        ):
            name = token.text
        if name:
            known[name] = query
    return [], known


def _clauses_of(tokens: Tokens) -> dict[str, list[OutlineToken]]:
    clauses: dict[str, list[OutlineToken]] = {}
    current: list[OutlineToken] = []
    before: OutlineToken | None = None
    for index, token in enumerate(tokens):
        following = tokens[index + 1] if index + 1 < len(tokens) else None
        if _begins_clause(token, before, following):
            current = clauses.setdefault(token.text, [])
        elif index == 0 and _names_table(tokens):
            current = clauses.setdefault("from", [])
        elif not (token.is_word("by") and before is not None and before.text in _NEEDS):
            current.append(token)
        before = token
    return clauses


def _begins_clause(token: OutlineToken, before: OutlineToken | None, following: OutlineToken | None) -> bool:
    if not token.is_word(*_CLAUSES):
        return False
    if token.text == "from" and before is not None and before.is_word("distinct"):
        return False  # `is distinct from`
    if token.text == "option":
        return following is not None and following.kind is TokenKind.GROUP
    if token.text in _ALSO_COLUMNS and (following is None or following.text in _AFTER_COLUMN):
        return False
    if token.text == "format":
        return following is not None and following.kind is not TokenKind.GROUP  # a function
    needed = _NEEDS.get(token.text)
    return needed is None or (following is not None and following.is_word(*needed))


# --- from -------------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class TableReference:
    """A table, sub-select or function after ``from`` or ``join``."""

    name: tuple[str, ...]
    """Parts of the table's name. Empty for a function and a sub-select."""
    alias: str
    start: int
    choices: tuple[str, ...] = ()
    """The tables between which a ``one_of`` chooses."""
    query: OutlineToken | None = None
    """The sub-select."""


@dataclass(slots=True)
class Join:
    """A source of rows: its kind, its tables, and what follows ``on`` or ``using`` (``*`` for a natural join)."""

    kind: str
    tables: list[TableReference]
    on: list[OutlineToken] = field(default_factory=list)
    using: frozenset[str] = frozenset()
    inner: list[Join] = field(default_factory=list)
    """The joins inside parentheses in a ``from``."""


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
    """Return the sources of rows in the tokens of a ``from``."""
    return _JoinReader(tokens).read()


class _JoinReader:
    def __init__(self, tokens: Tokens) -> None:
        self._tokens = tokens
        self._at = 0

    def read(self) -> list[Join]:
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
        self._at = max(self._at, begin + 1)  # always advance
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
        first, *following = self._tokens[self._at : self._at + 2]
        return first.is_word("array") and any(token.is_word("join") for token in following)


def _table(tokens: Tokens) -> TableReference:
    name: list[str] = []
    index = 0
    choices: tuple[str, ...] = ()
    if tokens[0].has_filter("one_of"):
        index, choices = 1, tuple(written(choice).replace(" ", "") for choice in tokens[0].choices)
        name = [reference.path for reference in tokens[0].references[:1]]
    while index < len(tokens) and tokens[index].is_name:
        name += tokens[index].text.split(".")  # BigQuery quotes a whole path
        index += 1
        if index >= len(tokens) or tokens[index].text != ".":
            break
        index += 1
    if index < len(tokens) and tokens[index].kind is TokenKind.GROUP:
        name = []  # a function, or a sub-select
    rest = [token for token in tokens[max(index, 1) :] if not token.is_word("as") and token.text not in _AFTER_TABLE]
    alias = rest[0].text if rest and rest[0].is_name else (name[-1] if name else "")
    return TableReference(tuple(name), alias, tokens[0].start, choices, tokens[0] if is_query(tokens[0]) else None)
