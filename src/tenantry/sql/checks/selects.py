"""Finds the clauses and conditions of each SELECT in a statement by looking at keywords only."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeAlias

from tenantry.sql.lexing.lexemes import word_set
from tenantry.sql.parsing.outline import OutlineToken, TokenKind, Tokens, split_at

_SET_OPERATORS = ("union", "intersect", "except", "minus")
_CLAUSES = word_set(
    "select from prewhere where group having order limit offset fetch window qualify settings format for lock option"
)
_NEEDS = {
    "group": ("by", "all"),
    "order": ("by", "all"),
    "for": ("update", "share", "no", "key", "json", "xml", "browse"),  # `for system_time` belongs to `from`
    "lock": ("in",),
}
_ALSO_COLUMNS = frozenset(("limit", "offset", "fetch", "window", "qualify", "settings", "format", "prewhere"))
_AFTER_COLUMN = word_set("= == <> != < > <= >= , :: is in not like")
_CONDITIONS = ("where", "prewhere", "having", "qualify")
_JOIN_WORDS = word_set(
    """join apply on using left right full semi anti inner cross outer natural asof global any all positional
    straight_join"""
)

Select: TypeAlias = Mapping[str, list[OutlineToken]]
"""First word of an SQL clause → the tokens of the clause. The first word of ``group by`` is ``group``."""


def selects_of(tokens: Tokens) -> Iterator[Select]:
    """Yield every select, including those in parentheses and in the SQL that a viewer can choose."""
    for piece in split_at(tokens, *_SET_OPERATORS):
        clauses = _clauses_of(piece)
        if "select" in clauses or "from" in clauses:
            yield clauses
        yield from _nested(piece)


def _nested(tokens: Tokens) -> Iterator[Select]:
    for token in tokens:
        for choice in token.choices:
            yield from selects_of(choice)
        if is_query(token):
            yield from selects_of(token.children)
        elif token.kind is TokenKind.GROUP:
            yield from _nested(token.children)


def is_query(token: OutlineToken) -> bool:
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


def _clauses_of(tokens: Tokens) -> Select:
    clauses: dict[str, list[OutlineToken]] = {}
    current: list[OutlineToken] = []
    before: OutlineToken | None = None
    for index, token in enumerate(tokens):
        following = tokens[index + 1] if index + 1 < len(tokens) else None
        if _begins_clause(token, before, following):
            current = clauses.setdefault(token.text, [])
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


def conditions_of(select: Select) -> Iterator[Tokens]:
    """Yield the conditions of a select: ``where``, ``having``, ``on``, ``filter (where …)`` and similar."""
    for name in _CONDITIONS:
        if name in select:
            yield select[name]
    yield from _on_conditions(select.get("from", []))
    for clause in select.values():
        yield from _inner_conditions(clause)


def _on_conditions(tokens: Tokens) -> Iterator[Tokens]:
    begin: int | None = None
    for index, token in enumerate([*tokens, None]):
        if token is None or token.text == "," or _is_join_word(token, tokens[index + 1 : index + 2]):
            if begin is not None:
                yield tokens[begin:index]
            begin = index + 1 if token is not None and token.is_word("on") else None
        elif begin is None and token.kind is TokenKind.GROUP and not is_query(token):
            yield from _on_conditions(token.children)


def _is_join_word(token: OutlineToken, following: Tokens) -> bool:
    is_call = bool(following) and following[0].kind is TokenKind.GROUP and token.text in {"left", "right"}
    return token.is_word(*_JOIN_WORDS) and not is_call  # left(a, 3) is a function


def _inner_conditions(tokens: Tokens) -> Iterator[Tokens]:
    for token in tokens:
        if token.kind is TokenKind.GROUP and not is_query(token):
            if token.children and token.children[0].is_word("where"):
                yield token.children[1:]
            else:
                yield from _inner_conditions(token.children)
