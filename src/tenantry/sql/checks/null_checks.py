"""The lints of NULL: ``not in`` with something that may be NULL, and comparisons that are true of no row then."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tenantry.sql.checks.findings import Problem, Severity
from tenantry.sql.checks.predicates import conditions_of, without_cast
from tenantry.sql.checks.selects import Select, is_query
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

_UNEQUAL = ("<>", "!=")
_COMPARISONS = frozenset(("=", "==", "<", ">", "<=", ">=", *_UNEQUAL))
_COMPARING_WORDS = ("like", "ilike", "between", "and")  # the `and` of `between`: every other one is no word
_ITEMS = ("select", "group", "order")
_JOINING = frozenset((TokenKind.AND, TokenKind.OR))
_BEFORE_CONDITION = ("where", "when", "then", "else", "distinct", "all")


def comparisons_with_null(select: Select, dialect: Dialect) -> Iterator[Problem]:
    """``not in`` with something that may be NULL, and ``= {{ x | nullable }}``."""
    items = (item for name in _ITEMS for item in split_at(select.clauses.get(name, []), ","))
    for expression in (*conditions_of(select), *items):
        text = written(expression)
        yield from _with_null(expression, text if NULLABLE in text else "", dialect)


def _with_null(tokens: Tokens, expression: str, dialect: Dialect, *, negated: bool = False) -> Iterator[Problem]:
    """``expression`` is the text of all of it, empty where nothing in it may be NULL; ``negated``: all of these tokens
    are in the parentheses of a ``not``."""
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
    """Whether an operator after these tokens is ``not in``, or its condition begins with ``not``."""
    own = _last_stretch(before, lambda token: token.kind in _JOINING or token.is_word(*_BEFORE_CONDITION))
    return bool(own) and (own[0].is_word("not") or own[-1].is_word("not"))


def _last_stretch(tokens: Tokens, is_separator: Callable[[OutlineToken], bool]) -> Tokens:
    """What comes after the last separator."""
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
            problem = "`not in` a sub-select takes no row at all as soon as one of its rows is NULL"
            fix, severity = "write `not exists (select … where … = …)`, or add `where … is not null`", Severity.WARNING
    elif any(item.is_word("null") for item in items.children):
        problem, fix = "`not in` a list that holds null takes no row at all", "take null out, and add `… is not null`"
    elif any(item.has_filter("nullable") for item in items.children):
        problem, fix = "`not in` a value that may be NULL takes no row at all then", "take | nullable out"
    if problem:
        yield Problem("not-in-null", severity, operator.start, problem, fix)


def _compares(token: OutlineToken) -> bool:
    """Whether it compares the tokens beside it: the ``and`` of ``between`` does too."""
    return (token.kind is TokenKind.OTHER and token.text in _COMPARISONS) or token.is_word(*_COMPARING_WORDS)


def _sides(tokens: Tokens, index: int) -> Iterator[OutlineToken]:
    """What an operator compares, where it is one token; casts are left out."""
    left, right = tokens[:index], tokens[index + 1 :]
    yield from {id(each): each for each in (*left[-1:], *right[:1])}.values()
    end = next((number for number, token in enumerate(right) if _ends_side(token)), len(right))
    for side in (_last_stretch(left, _ends_side), right[:end]):
        plain = without_cast(side)
        if len(side) > 1 and len(plain) == 1:
            yield plain[0]


def _ends_side(token: OutlineToken) -> bool:
    return token.kind in _JOINING or token.text == "," or _compares(token) or token.is_word(*_BEFORE_CONDITION, "not")


def _asks_for_null(token: OutlineToken, expression: str) -> bool:
    """Whether the same expression also asks whether the value is NULL: then a comparison with it is meant."""
    asks = "is null" in expression or "is not null" in expression
    return asks and expression.count(written([token])) > 1


def _never_true(operator: OutlineToken, tag: OutlineToken, dialect: Dialect) -> Problem:
    path = tag.references[0].path if tag.references else ""
    name = "between" if operator.text == "and" else operator.text
    equal = dialect.null_safe_equal.format(left="…", right=tag.text)
    fix = f"({tag.text} is null or …)"
    if name in {"=", "=="}:
        fix = equal
    elif name in _UNEQUAL:
        fix = f"not ({equal})"
    return Problem(
        "compared-with-nullable",
        Severity.ERROR,
        operator.start,
        f"`{name}` with {path} is true of no row where {path} is NULL",
        f"write `{fix}`, or take | nullable out",
        path,
    )
