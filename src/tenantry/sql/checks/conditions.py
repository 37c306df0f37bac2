from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final

from tenantry.errors import Edit
from tenantry.sql.checks.findings import Problem, Severity
from tenantry.sql.checks.selects import Select, conditions_of, is_query
from tenantry.sql.dialects import Dialect
from tenantry.sql.lexing.tags import NULLABLE
from tenantry.sql.parsing.outline import (
    OutlineToken,
    TokenKind,
    Tokens,
    alternatives,
    conjuncts,
    split_at,
    written,
)
from tenantry.sql.tenant_guard import TenantGuard

_JOINED: Final = re.compile(r"\{left\} ([^{}]+) \{right\}")
"""Matches ``Dialect.null_safe_equal`` if it is an operator between two sides."""


def _guarded_paths(tokens: Tokens, guard: TenantGuard) -> frozenset[str]:
    found: set[str] = set()
    for token in tokens:
        found.update(reference.path for reference in token.references if guard.guards_reference(reference))
        if token.kind is TokenKind.GROUP and not is_query(token):
            found |= _guarded_paths(token.children, guard)
    return frozenset(found)


def _without_cast(tokens: Tokens) -> Tokens:
    """Reduce ``(x)``, ``x::type`` and ``cast(x as type)`` to ``x``."""
    while True:
        if len(tokens) == 1 and tokens[0].kind is TokenKind.GROUP and tokens[0].text == "(" and not is_query(tokens[0]):
            tokens = tokens[0].children
        elif len(tokens) == 2 and tokens[0].is_word("cast") and tokens[1].kind is TokenKind.GROUP:
            tokens = split_at(tokens[1].children, "as")[0]
        elif any(token.text == "::" for token in tokens):
            tokens = split_at(tokens, "::")[0]
        else:
            return tokens


# --- or ---------------------------------------------------------------------------------------------------------------


def or_beside_guarded(select: Select, guard: TenantGuard) -> Iterator[Problem]:
    """Find conditions such as ``region = {{ region }} and a or b``, in which ``b`` selects rows of every region."""
    for condition in conditions_of(select):
        yield from _or_problems(condition, guard)


def _or_problems(condition: Tokens, guard: TenantGuard) -> Iterator[Problem]:
    paths = [_guarded_paths(branch, guard) for branch in alternatives(condition)]
    left_out = sorted(frozenset.union(*paths) - frozenset.intersection(*paths))
    if left_out:
        operators = [token for token in condition if token.kind is TokenKind.OR]
        viewer = any(token.clauses for token in operators)
        yield Problem(
            "or-beside-guarded",
            Severity.ERROR if viewer or _mixes(condition) else Severity.WARNING,
            operators[0].start,
            f"this `{operators[0].text}` is next to the predicate on {' and '.join(left_out)}: rows that match "
            "only the other side are not filtered by the predicate",
            "put the alternatives in parentheses: … and (a or b)",
            left_out[0],
        )
    for token in condition:  # parentheses are deliberate unless they mix `and` and `or`
        if token.kind is TokenKind.GROUP and token.text == "(" and not is_query(token) and _mixes(token.children):
            yield from _or_problems(token.children, guard)
        elif token.is_choice:
            yield from _or_in_choice(token, _guarded_paths([each for each in condition if each is not token], guard))
            for choice in token.choices:
                yield from _or_problems(choice, guard)


def _or_in_choice(tag: OutlineToken, guarded: frozenset[str]) -> Iterator[Problem]:
    path = min(guarded, default="")
    for choice in tag.choices if path else ():
        where = next((each for each in choice if each.kind is TokenKind.OR), None)
        if where is not None:
            problem = f"this choice contains `{where.text}`, which is next to the predicate on {path}"
            fix = "put the choice in parentheses: (a or b)"
            yield Problem("or-beside-guarded", Severity.ERROR, where.start, problem, fix, path)


def _mixes(tokens: Tokens) -> bool:
    branches = alternatives(tokens)
    return len(branches) > 1 and any(len(conjuncts(branch)) > 1 for branch in branches)


# --- NULL -------------------------------------------------------------------------------------------------------------


_UNEQUAL = ("<>", "!=")
_COMPARISONS = frozenset(("=", "==", "<", ">", "<=", ">=", *_UNEQUAL))
_COMPARING_WORDS = ("like", "ilike", "between", "and")  # the `and` of a `between`: any other `and` is not a WORD
_ITEMS = ("select", "group", "order")
_JOINING = frozenset((TokenKind.AND, TokenKind.OR))
_BEFORE_CONDITION = ("where", "when", "then", "else", "distinct", "all")


def comparisons_with_null(select: Select, dialect: Dialect) -> Iterator[Problem]:
    """Find comparisons with a value that may be NULL: ``not in`` with a list that may contain NULL, and
    ``= {{ x | nullable }}``."""
    items = (item for name in _ITEMS for item in split_at(select.get(name, []), ","))
    for expression in (*conditions_of(select), *items):
        text = written(expression)
        yield from _with_null(expression, text if NULLABLE in text else "", dialect)


def _with_null(tokens: Tokens, expression: str, dialect: Dialect, *, negated: bool = False) -> Iterator[Problem]:
    for index, token in enumerate(tokens):
        if token.is_word("in") and negated != _is_negated(tokens[:index]):
            yield from _not_in(token, tokens[index + 1 :])
        if token.text in _UNEQUAL and [each.text for each in tokens[index + 1 : index + 2]] == ["all"]:
            yield from _not_in(token, tokens[index + 2 :])
        if expression and _compares(token):
            for side in _sides(tokens, index):
                if side.has_filter(NULLABLE) and not _asks_for_null(side, expression):
                    yield _never_true(token, side, dialect)
        if token.kind is TokenKind.GROUP and not is_query(token):
            alone = len(alternatives(token.children)) == len(conjuncts(token.children)) == 1
            inner = alone and (negated if len(tokens) == 1 else index > 0 and tokens[index - 1].is_word("not"))
            yield from _with_null(token.children, expression, dialect, negated=inner)


def _is_negated(before: Tokens) -> bool:
    own = _last_stretch(before, lambda token: token.kind in _JOINING or token.is_word(*_BEFORE_CONDITION))
    return bool(own) and (own[0].is_word("not") or own[-1].is_word("not"))


def _last_stretch(tokens: Tokens, is_separator: Callable[[OutlineToken], bool]) -> Tokens:
    start = next((index for index in range(len(tokens), 0, -1) if is_separator(tokens[index - 1])), 0)
    return tokens[start:]


def _not_in(operator: OutlineToken, after: Tokens) -> Iterator[Problem]:
    if not after or after[0].kind is not TokenKind.GROUP or after[0].text != "(":
        return
    items = after[0]
    problem, fix, severity = "", "", Severity.ERROR
    if is_query(items):
        words = written(items.children)
        if "is not null" not in words and "coalesce (" not in words:
            problem = "`not in` a sub-select returns no rows if one of its rows is NULL"
            fix, severity = "write `not exists (select … where … = …)`, or add `where … is not null`", Severity.WARNING
    elif any(item.is_word("null") for item in items.children):
        problem, fix = "`not in` a list with null matches no row", "remove null, and add `… is not null`"
    elif any(item.has_filter("nullable") for item in items.children):
        problem, fix = "`not in` a value that may be NULL matches no row if it is NULL", "remove | nullable"
    if problem:
        yield Problem("not-in-null", severity, operator.start, problem, fix)


def _compares(token: OutlineToken) -> bool:
    return (token.kind is TokenKind.OTHER and token.text in _COMPARISONS) or token.is_word(*_COMPARING_WORDS)


def _sides(tokens: Tokens, index: int) -> Iterator[OutlineToken]:
    left, right = tokens[:index], tokens[index + 1 :]
    yield from {id(each): each for each in (*left[-1:], *right[:1])}.values()
    end = next((number for number, token in enumerate(right) if _ends_side(token)), len(right))
    for side in (_last_stretch(left, _ends_side), right[:end]):
        plain = _without_cast(side)
        if len(side) > 1 and len(plain) == 1:
            yield plain[0]


def _ends_side(token: OutlineToken) -> bool:
    return token.kind in _JOINING or token.text == "," or _compares(token) or token.is_word(*_BEFORE_CONDITION, "not")


def _asks_for_null(token: OutlineToken, expression: str) -> bool:
    asks = "is null" in expression or "is not null" in expression
    return asks and expression.count(written([token])) > 1


def _never_true(operator: OutlineToken, tag: OutlineToken, dialect: Dialect) -> Problem:
    path = tag.references[0].path if tag.references else ""
    name = "between" if operator.text == "and" else operator.text
    equal = dialect.null_safe_equal.format(left="…", right=tag.text)
    fix, edit = f"({tag.text} is null or …)", None
    joined = _JOINED.fullmatch(dialect.null_safe_equal)
    if name in {"=", "=="}:
        fix, edit = equal, None if joined is None else Edit(name, joined[1])
    elif name in _UNEQUAL:
        fix = f"not ({equal})"
    return Problem(
        "compared-with-nullable",
        Severity.ERROR,
        operator.start,
        f"`{name}` with {path} matches no row where {path} is NULL",
        f"write `{fix}`, or remove | nullable",
        path,
        edit=edit,
    )
