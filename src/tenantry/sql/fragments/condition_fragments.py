"""Condition fragments: fragments that begin with ``and``, which a template may include without parentheses."""

# Whatever the viewer chooses, a condition without `or` must precede the fragment in the expanded SQL, and `and` or the
# end of the whole condition must follow it.

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from tenantry.errors import TemplateError
from tenantry.sql.dialects import Dialect
from tenantry.sql.fragments.fragment_tags import ReplacedTag
from tenantry.sql.parsing.outline import OutlineToken, TokenKind, Tokens, read_outline
from tenantry.sql.source import Source

_BEGIN_CONDITION = (
    *("where", "prewhere", "having", "qualify", "on", "when", "then", "else", "not", "select", "by"),
    *("distinct", "all", "and"),  # here, `and` belongs to a `between`
)
_BOUNDARIES = ("where", "prewhere", "having", "qualify", "on", "when", "then", "else", "select", "by")
"""Words at which a condition certainly begins or ends, because they cannot be names. An ``or`` beyond such a word
belongs to another condition."""
_FOLLOWING = (
    *("where", "prewhere", "having", "qualify", "group", "order", "limit", "offset", "fetch", "window", "sample"),
    *("union", "intersect", "except", "minus", "on", "using", "join", "left", "right", "inner", "cross", "full"),
    *("natural", "asof", "semi", "anti", "global", "lateral", "straight_join", "array", "when", "then", "else", "from"),
    *("as", "for", "into", "settings", "format", "option", "lock", "returning", "with", "start", "connect"),
)
_NO_CONDITIONS = (
    *("union", "intersect", "except", "minus", "select", "into", "where", "group", "having", "order", "limit"),
    *("offset", "fetch", "qualify", "window", "returning"),
)


class ConditionFragment(NamedTuple):
    """``start`` and ``end`` are offsets in the expanded SQL."""

    start: int
    end: int
    tag: ReplacedTag
    outer: Source
    """The source that contains the tag."""


def check_condition_fragments(source: Source, dialect: Dialect, found: Sequence[ConditionFragment]) -> None:
    """Raise TemplateError for the first fragment that contains something other than conditions, or that could prevent
    the author's other conditions from applying to all rows."""
    outline = read_outline(source, dialect)
    for each in found:
        place = _place(outline, each)
        _check_content(place, source, each)
        first = place.own[0]
        before = next(place.outwards(forward=False), None)
        if first.kind is not TokenKind.AND or before is None or _begins_condition(before):
            raise _error(each, "a condition must precede it", f"write `where 1 = 1 {{{{> {each.tag.name} }}}}`")
        operator = _adjacent_operator(place)
        if operator is not None:
            fix = f"put the alternatives in parentheses: (a {operator.text} b)"
            raise _error(each, f"the condition around it must not contain `{operator.text}`", fix)
        if not all(_may_follow(token) for token in _following(place)):
            problem = "`and` or the end of the condition must follow it"
            raise _error(each, problem, "write `and` after it, and put the condition that follows in parentheses")


def _error(each: ConditionFragment, problem: str, fix: str) -> TemplateError:
    return each.outer.error(each.tag.start, f"{each.tag.name} begins with `and`: {problem}", fix)


def _check_content(place: _Surroundings, source: Source, each: ConditionFragment) -> None:
    wrong = next((token for token in _level(place.own) if _is_no_condition(token)), None)
    if wrong is not None or not place.whole:
        problem = "a fragment that begins with `and` must contain only conditions"
        offset = each.start if wrong is None else wrong.start
        raise source.error(offset, problem, "put alternatives in parentheses, and remove other clauses")


def _is_no_condition(token: OutlineToken) -> bool:
    return token.kind is TokenKind.OR or token.text == "," or token.is_word(*_NO_CONDITIONS)


def _begins_condition(token: OutlineToken) -> bool:
    joins = token.kind is TokenKind.AND or token.kind is TokenKind.OR
    return joins or token.text in {",", ";"} or token.is_word(*_BEGIN_CONDITION)


def _may_follow(token: OutlineToken) -> bool:
    return token.kind is TokenKind.AND or token.text in {",", ";"} or token.is_word(*_FOLLOWING)


# --- the SQL around a fragment ----------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Surroundings:
    before: Tokens
    own: Tokens
    after: Tokens
    outer: _Surroundings | None
    """The surroundings of the choice that contains the fragment, if any."""
    whole: bool
    """Whether the fragment closes the brackets that it opens, and no others."""
    clauses: tuple[int, ...]
    """Offsets of the optional clauses around the fragment."""

    def outwards(self, *, forward: bool) -> Iterator[OutlineToken]:
        place: _Surroundings | None = self
        while place is not None:
            yield from place.after if forward else reversed(place.before)
            place = place.outer


def _place(
    tokens: Tokens, each: ConditionFragment, outer: _Surroundings | None = None, closed: int = -1
) -> _Surroundings:
    for index, token in enumerate(tokens):
        if token.start >= each.start:
            stop = next((at for at in range(index, len(tokens)) if tokens[at].start >= each.end), len(tokens))
            own = tokens[index:stop]
            whole = own[-1].end <= each.end and not each.start < closed <= each.end
            clauses = tuple(offset for offset in token.clauses if offset < each.start)
            return _Surroundings(tokens[:index], own, tokens[stop:], outer, whole, clauses)
        if token.end > each.start and token.kind is TokenKind.GROUP:
            return _place(token.children, each, None, token.end)
        for choice in token.choices:
            if choice and choice[-1].end > each.start:
                around = _Surroundings(
                    tokens[:index], [token], tokens[index + 1 :], outer, whole=True, clauses=token.clauses
                )
                return _place(choice, each, around if token.is_choice else None)
    raise AssertionError("a fragment has tokens")  # pragma: no cover


def _level(tokens: Iterable[OutlineToken]) -> Iterator[OutlineToken]:
    for token in tokens:
        yield token
        if token.is_choice:
            for choice in token.choices:
                yield from _level(choice)


def _adjacent_operator(place: _Surroundings) -> OutlineToken | None:
    before, _ = _find_operator(place.outwards(forward=False), place.clauses, forward=False)
    return before or _find_operator(place.outwards(forward=True), place.clauses, forward=True)[0]


def _find_operator(
    tokens: Iterable[OutlineToken], around: tuple[int, ...], *, forward: bool
) -> tuple[OutlineToken | None, bool]:
    left: tuple[int, ...] = ()
    for token in tokens:
        if left and token.clauses[: len(left)] == left:
            continue  # skip the rest of a clause after a boundary in it
        if token.kind is TokenKind.OR:
            return token, True
        bounded = token.text in {",", ";"} or token.is_word(*_BOUNDARIES)
        if token.is_choice:
            texts = (choice if forward else reversed(choice) for choice in token.choices)
            found = [_find_operator(text, around, forward=forward) for text in texts]
            bounded = all(ends for _, ends in found)
            operator = next((each for each, _ in found if each is not None), None)
            if operator is not None:
                return operator, True
        if bounded and set(token.clauses) <= set(around):
            return None, True
        left = token.clauses if bounded else left
    return None, False


def _following(place: _Surroundings) -> Iterator[OutlineToken]:
    around = place.clauses
    left: tuple[int, ...] = ()
    for token in place.outwards(forward=True):
        if left and token.clauses[: len(left)] == left:
            continue
        yield from (choice[0] for choice in token.choices) if token.is_choice else (token,)
        if set(token.clauses) <= set(around):
            return
        left = token.clauses
