"""Lints of predicates: ``or`` beside a guarded one, ``not in`` with NULL, comparisons with what may be NULL."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tenantry.sql.checks.findings import Problem, Severity
from tenantry.sql.checks.from_clause import Join, joins_of
from tenantry.sql.checks.outline import (
    OutlineToken,
    Select,
    TokenKind,
    Tokens,
    is_query,
    split_at,
    written,
)
from tenantry.sql.dialects import Dialect
from tenantry.sql.tenant_guard import Guard

_COMPARISONS = ("=", "==", "<>", "!=", "<", ">", "<=", ">=")
_CONDITIONS = ("where", "prewhere", "having", "qualify")


def guarded_paths(tokens: Tokens, guard: Guard) -> frozenset[str]:
    """The guarded paths of tokens and of the groups in them, sub-selects apart."""
    found: set[str] = set()
    for token in tokens:
        found.update(reference.path for reference in token.references if guard.holds(reference))
        if token.kind is TokenKind.GROUP and not is_query(token):
            found |= guarded_paths(token.children, guard)
    return frozenset(found)


def conditions_of(select: Select) -> Iterator[list[OutlineToken]]:
    """The conditions of a select: ``where``, ``having`` and their kin, and each ``on``."""
    for name in _CONDITIONS:
        if name in select.clauses:
            yield select.clauses[name]
    yield from _on_conditions(joins_of(select.clauses.get("from", [])))


def _on_conditions(joins: Iterable[Join]) -> Iterator[list[OutlineToken]]:
    for join in joins:
        yield join.on
        yield from _on_conditions(join.inner)


# --- or ---------------------------------------------------------------------------------------------------------------


def or_beside_guarded(select: Select, guard: Guard) -> Iterator[Problem]:
    """``where region = {{ region }} and a or b``: the rows of ``b`` are those of every region."""
    for condition in conditions_of(select):
        yield from _or_beside(condition, guard)


def _or_beside(condition: Tokens, guard: Guard) -> Iterator[Problem]:
    yield from _or_in_choice(condition, guard)
    branches = split_at(condition, "or")
    paths = [guarded_paths(branch, guard) for branch in branches]
    left_out = sorted(frozenset.union(*paths) - frozenset.intersection(*paths))
    if len(branches) > 1 and left_out:
        viewer = any(token.clauses for token in condition if token.is_word("or"))
        where = next(token for token in condition if token.is_word("or"))
        names = " and ".join(left_out)
        yield Problem(
            "or-beside-guarded",
            Severity.ERROR if viewer or _mixes(condition) else Severity.WARNING,
            where.start,
            f"this `or` stands beside the predicate of {names}: rows that only its other side takes are not filtered "
            "by it",
            "write the alternatives in parentheses: … and (a or b)",
            left_out[0],
        )
    for token in condition:  # what is in parentheses was meant; a case or a function is looked into all the same
        if token.kind is TokenKind.GROUP and token.text == "(" and not is_query(token) and _mixes(token.children):
            yield from _or_beside(token.children, guard)


def _or_in_choice(condition: Tokens, guard: Guard) -> Iterator[Problem]:
    """``where region = {{ region }} and {{ params.a | one_of(x: b or c) }}``."""
    paths = sorted(guarded_paths(condition, guard))
    for token in condition if paths else ():
        for choice in token.choices:
            where = next((each for each in choice if each.is_word("or")), None)
            if where is not None and len(condition) > 1:
                problem = f"where this text is chosen, its `or` stands beside the predicate of {paths[0]}"
                fix = "write the text in parentheses: (a or b)"
                yield Problem("or-beside-guarded", Severity.ERROR, where.start, problem, fix, paths[0])


def _mixes(tokens: Tokens) -> bool:
    """Whether ``and`` and ``or`` stand beside each other without parentheses between them."""
    branches = split_at(tokens, "or")
    return len(branches) > 1 and any(len(split_at(branch, "and")) > 1 for branch in branches)


# --- NULL -------------------------------------------------------------------------------------------------------------


def comparisons_with_null(select: Select, dialect: Dialect) -> Iterator[Problem]:
    """``not in`` with something that may be NULL, and ``= {{ x | nullable }}``."""
    for condition in conditions_of(select):
        yield from _with_null(condition, written(condition), dialect)


def _with_null(tokens: Tokens, condition: str, dialect: Dialect) -> Iterator[Problem]:
    for index, token in enumerate(tokens):
        before = tokens[index - 1] if index else None
        after = tokens[index + 1] if index + 1 < len(tokens) else None
        if token.is_word("in") and before is not None and before.is_word("not") and after is not None:
            yield from _not_in(before, after)
        if token.kind is TokenKind.OTHER and token.text in _COMPARISONS:
            for side in (before, after):
                if side is not None and _is_nullable(side) and not _asks_for_null(side, condition):
                    yield _never_true(token, side, dialect)
        if token.kind is TokenKind.GROUP and not is_query(token):
            yield from _with_null(token.children, condition, dialect)


def _not_in(operator: OutlineToken, items: OutlineToken) -> Iterator[Problem]:
    if items.kind is not TokenKind.GROUP or items.text != "(":
        return
    problem, fix, severity = "", "", Severity.ERROR
    if is_query(items):
        words = written(items.children)
        if "is not null" not in words and "coalesce (" not in words:
            problem = "`not in` a sub-select takes no row at all as soon as one of its rows is NULL"
            fix, severity = "write `not exists (select … where … = …)`, or add `where … is not null`", Severity.WARNING
    elif any(item.is_word("null") for item in items.children):
        problem, fix = "`not in` a list that holds null takes no row at all", "take null out, and add `… is not null`"
    elif any(_is_nullable(item) for item in items.children):
        problem, fix = "`not in` a value that may be NULL takes no row at all then", "take | nullable out"
    if problem:
        yield Problem("not-in-null", severity, operator.start, problem, fix)


def _is_nullable(token: OutlineToken) -> bool:
    return token.has_filter("nullable")


def _asks_for_null(token: OutlineToken, condition: str) -> bool:
    """Whether the same condition also asks whether the value is NULL: then a comparison with it is meant."""
    asks = "is null" in condition or "is not null" in condition
    return asks and condition.count(written([token])) > 1


def _never_true(operator: OutlineToken, tag: OutlineToken, dialect: Dialect) -> Problem:
    path = tag.references[0].path if tag.references else ""
    return Problem(
        "compared-with-nullable",
        Severity.ERROR,
        operator.start,
        f"`{operator.text}` with {path} is true of no row where {path} is NULL",
        f"write `{dialect.null_safe_equal.format(left='…', right=tag.text)}`, or take | nullable out",
        path,
    )
