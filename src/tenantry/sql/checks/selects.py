"""The selects of a statement, for lints: the clauses of each, and which common table expressions it sees.

It is no parser of SQL. It knows the keywords that begin a clause; whoever asks it for more gets nothing, never a guess.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from tenantry.sql.parsing.outline import OutlineToken, TokenKind, Tokens, split_at

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
    "for": ("update", "share", "no", "key", "json", "xml", "browse"),  # of system time: a part of `from`
    "lock": ("in",),
}
_ALSO_COLUMNS = frozenset(("limit", "offset", "fetch", "window", "qualify", "settings", "format", "prewhere"))
_AFTER_COLUMN = frozenset((*("=", "==", "<>", "!=", "<", ">", "<=", ">=", ",", "::"), *("is", "in", "not", "like")))
_STATEMENTS = ("select", "from", "insert", "update", "delete", "merge", "table")


KnownNames: TypeAlias = Mapping[str, "OutlineToken | None"]
"""Common table expressions by name: the group of its query, or None where that is not known."""
_NO_NAMES: KnownNames = {}


@dataclass(slots=True)
class Select:
    """One select: its clauses by the word that begins each (``group``, ``order`` without ``by``), without that word;
    the common table expressions that it sees; and the select that it stands in."""

    clauses: dict[str, list[OutlineToken]]
    known_names: KnownNames
    outer: Select | None = None


def selects_of(tokens: Tokens, known_names: KnownNames = _NO_NAMES, outer: Select | None = None) -> Iterator[Select]:
    """Every select of a statement or a group, an outer one before those in it."""
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
    """Whether a group is a select in parentheses, or several."""
    if token.kind is not TokenKind.GROUP or token.text != "(":
        return False
    for child in token.children:
        if not is_query(child):
            begins = child.is_word("select", "with") or _names_table(token.children)
            return begins or (child.is_word("from") and _reads_first(token.children))
        return len(token.children) == 1 or token.children[1].is_word(*_SET_OPERATORS)
    return False


def _reads_first(tokens: Tokens) -> bool:
    """``(from t select a)`` of DuckDB; ``trim(from a)`` is none."""
    return any(token.is_word("select") for token in tokens)


def _names_table(tokens: Tokens) -> bool:
    """``table orders``: all of it."""
    return len(tokens) > 1 and tokens[0].is_word("table") and tokens[1].is_name


def _common_tables(tokens: Tokens) -> tuple[Tokens, KnownNames]:
    """What follows ``with name as (…), …``, and the names that are known then."""
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
