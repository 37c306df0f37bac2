"""The conditions of a select, for lints; and the lint of an ``or`` beside a guarded predicate."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tenantry.sql.checks.findings import Problem, Severity
from tenantry.sql.checks.from_clause import Join, joins_of
from tenantry.sql.checks.selects import Select, is_query
from tenantry.sql.parsing.outline import OutlineToken, TokenKind, Tokens, alternatives, conjuncts, split_at
from tenantry.sql.tenant_guard import Guard

_CONDITIONS = ("where", "prewhere", "having", "qualify")


def guarded_paths(tokens: Tokens, guard: Guard) -> frozenset[str]:
    """The guarded paths of tokens and of the groups in them, sub-selects apart."""
    found: set[str] = set()
    for token in tokens:
        found.update(reference.path for reference in token.references if guard.holds(reference))
        if token.kind is TokenKind.GROUP and not is_query(token):
            found |= guarded_paths(token.children, guard)
    return frozenset(found)


def conditions_of(select: Select) -> Iterator[Tokens]:
    """The conditions of a select: ``where``, ``having`` and their kin, each ``on``, and each ``filter (where …)``."""
    for name in _CONDITIONS:
        if name in select.clauses:
            yield select.clauses[name]
    yield from _on_conditions(joins_of(select.clauses.get("from", [])))
    for clause in select.clauses.values():
        yield from _inner_conditions(clause)


def _on_conditions(joins: Iterable[Join]) -> Iterator[list[OutlineToken]]:
    for join in joins:
        yield join.on
        yield from _on_conditions(join.inner)


def _inner_conditions(tokens: Tokens) -> Iterator[Tokens]:
    for token in tokens:
        if token.kind is TokenKind.GROUP and not is_query(token):
            if token.children and token.children[0].is_word("where"):
                yield token.children[1:]
            else:
                yield from _inner_conditions(token.children)


def without_cast(tokens: Tokens) -> Tokens:
    """``(x)``, ``x::type`` and ``cast(x as type)`` are ``x``."""
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


def or_beside_guarded(select: Select, guard: Guard) -> Iterator[Problem]:
    """``where region = {{ region }} and a or b``: the rows of ``b`` are those of every region."""
    for condition in conditions_of(select):
        yield from _or_beside(condition, guard)


def _or_beside(condition: Tokens, guard: Guard) -> Iterator[Problem]:
    paths = [guarded_paths(branch, guard) for branch in alternatives(condition)]
    left_out = sorted(frozenset.union(*paths) - frozenset.intersection(*paths))
    if left_out:
        operators = [token for token in condition if token.kind is TokenKind.OR]
        viewer = any(token.clauses for token in operators)
        yield Problem(
            "or-beside-guarded",
            Severity.ERROR if viewer or _mixes(condition) else Severity.WARNING,
            operators[0].start,
            f"this `{operators[0].text}` stands beside the predicate of {' and '.join(left_out)}: rows that only its "
            "other side takes are not filtered by it",
            "write the alternatives in parentheses: … and (a or b)",
            left_out[0],
        )
    for token in condition:  # what is in parentheses was meant; a case or a function is looked into all the same
        if token.kind is TokenKind.GROUP and token.text == "(" and not is_query(token) and _mixes(token.children):
            yield from _or_beside(token.children, guard)
        elif token.is_choice:
            yield from _or_in_choice(token, guarded_paths([each for each in condition if each is not token], guard))
            for choice in token.choices:
                yield from _or_beside(choice, guard)


def _or_in_choice(tag: OutlineToken, beside: frozenset[str]) -> Iterator[Problem]:
    """``where region = {{ region }} and {{ params.a | one_of(x: b or c) }}``."""
    path = min(beside, default="")
    for choice in tag.choices if path else ():
        where = next((each for each in choice if each.kind is TokenKind.OR), None)
        if where is not None:
            problem = f"where this text is chosen, its `{where.text}` stands beside the predicate of {path}"
            fix = "write the text in parentheses: (a or b)"
            yield Problem("or-beside-guarded", Severity.ERROR, where.start, problem, fix, path)


def _mixes(tokens: Tokens) -> bool:
    """Whether ``and`` and ``or`` stand beside each other without parentheses between them."""
    branches = alternatives(tokens)
    return len(branches) > 1 and any(len(conjuncts(branch)) > 1 for branch in branches)
