"""Vanishing filters: filters such as ``matches``, whose condition becomes ``1 = 1`` if the parameter has no value."""

# `1 = 1` is harmless only after `where`, `on`, `having`, `qualify` or `prewhere`, and only if no operator other than
# `and` joins it to other conditions. A filter whose parameter always has a value is allowed anywhere.

from __future__ import annotations

from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from tenantry.errors import TemplateError
from tenantry.sql.dialects import Dialect
from tenantry.sql.lexing.tags import CONDITIONS, Filter
from tenantry.sql.parameters.declared import Parameter, ParameterType, find_parameter
from tenantry.sql.parsing.constant_expressions import ITEM_ENDS, continues
from tenantry.sql.parsing.outline import OutlineToken, TokenKind, Tokens, read_outline
from tenantry.sql.source import Source

_STARTS = ("where", "on", "having", "qualify", "prewhere")
_OTHER_STARTS = frozenset({"select", "by", "when", "then", "else"})
_ALL_STARTS = _OTHER_STARTS.union(_STARTS)
_BEFORE, _AFTER = -1, 1
_CHOICE, _ARGUMENT = "choice", "argument"


def check_vanishing(source: Source, dialect: Dialect, parameters: Mapping[str, Parameter]) -> None:
    """Raise TemplateError for the first filter whose ``1 = 1`` would change the meaning of the conditions around it."""
    if not any(name in source.text for name in CONDITIONS):
        return
    for level, index in _tags(_Level(read_outline(source, dialect), "")):
        token = level.tokens[index]
        parameter = None if token.tag is None else find_parameter(parameters, token.tag.path)
        if token.tag is None or parameter is None or parameter.always_given:
            continue
        condition = next((each for each in token.tag.filters if each.name in CONDITIONS), None)
        what = None if condition is None else _misplaced(level, index, frozenset(token.clauses))
        if condition is not None and what is not None:
            raise _error(source, condition, parameter, what)


@dataclass(frozen=True, slots=True)
class _Level:
    # The tokens in one pair of brackets, or in one argument of a tag.
    tokens: Tokens
    bracket: str
    outer: _Level | None = None
    index: int = 0
    """Index in ``outer.tokens`` of the token that contains this level: brackets or a tag."""


def _tags(level: _Level) -> Iterator[tuple[_Level, int]]:
    for index, token in enumerate(level.tokens):
        if token.kind is TokenKind.GROUP:
            yield from _tags(_Level(token.children, token.text, level, index))
        elif token.tag is not None:
            yield level, index
            bracket = _CHOICE if token.is_choice else _ARGUMENT
            for text in token.choices:
                yield from _tags(_Level(text, bracket, level, index))


def _misplaced(level: _Level, index: int, kept: AbstractSet[int]) -> str | None:
    # Return why `1 = 1` is wrong here, as a key of _CHANGES, or None. `kept`: offsets of the clauses around the tag.
    for token in _neighbours(level, index, _BEFORE, kept):
        if token is not None and token.kind is not TokenKind.AND and not token.is_word(*_STARTS):
            return "not" if token.text in {"not", "!"} else "or" if token.kind is TokenKind.OR else "other"
    for token in _neighbours(level, index, _AFTER, kept):
        if token is not None and token.kind is not TokenKind.AND and _goes_on(token):
            return "or" if token.kind is TokenKind.OR else "other"
    (begins, around), (ends, _) = (_condition_bound(level, index, step, kept) for step in (_BEFORE, _AFTER))
    if "or" in {begins, ends}:
        return "or"
    if begins:
        return None if begins in _STARTS else "other"
    if around.bracket == "(" and around.outer is not None:
        what = _misplaced(around.outer, around.index, kept)
        return "other" if what == "not" else what
    return "other" if around.bracket else None


def _goes_on(token: OutlineToken) -> bool:
    if token.kind is TokenKind.NAME or token.kind is TokenKind.STRING:
        return False
    return token.kind in {TokenKind.TAG, TokenKind.OR} or token.text == "collate" or continues(token.text)


def _outward(level: _Level, index: int, step: int) -> list[OutlineToken]:
    return list(level.tokens[index + 1 :]) if step > 0 else list(level.tokens[:index])[::-1]


def _neighbours(level: _Level, index: int, step: int, kept: AbstractSet[int]) -> Iterator[OutlineToken | None]:
    # Yield each token that can be next to the tag if other clauses are dropped. Yield None if the tag can be the first
    # or last token in its brackets.
    for token in _nearest(_outward(level, index, step), step, kept):
        if token is None and level.bracket == _CHOICE and level.outer is not None:
            yield from _neighbours(level.outer, level.index, step, kept)
        else:
            yield token


def _nearest(outward: Tokens, step: int, kept: AbstractSet[int]) -> Iterator[OutlineToken | None]:
    absent: set[int] = set()
    for token in outward:
        if not absent.isdisjoint(token.clauses):
            continue
        may_pass = False
        if token.is_choice:
            for text in token.choices:
                for nearest in _nearest(text[::step], step, kept):
                    may_pass |= nearest is None
                    if nearest is not None:
                        yield nearest
        else:
            yield token
        droppable = [clause for clause in token.clauses if clause not in kept]
        if droppable:
            absent.add(droppable[-1])
        elif not may_pass:
            return
    yield None


def _condition_bound(level: _Level, index: int, step: int, kept: AbstractSet[int]) -> tuple[str, _Level]:
    # Return the nearest word that bounds the tag's condition (or a nearer `or`), and the level of this word. The word
    # is "" if the brackets end first. `step`: -1 to look before the tag, 1 to look after it.
    outward = _outward(level, index, step)
    words = ITEM_ENDS if step > 0 else _ALL_STARTS
    for at, token in enumerate(outward):
        if _has_or(token):
            return "or", level
        if token.kind is not TokenKind.WORD or token.text not in words:
            continue
        if token.text in _OTHER_STARTS:
            return token.text, level
        if kept >= set(token.clauses):
            is_distinct = any(each.is_word("distinct") for each in outward[at + 1 : at + 2])
            return "distinct on" if is_distinct else token.text, level
    if level.bracket == _CHOICE and level.outer is not None:
        return _condition_bound(level.outer, level.index, step, kept)
    return "", level


def _has_or(token: OutlineToken) -> bool:
    if token.kind is TokenKind.TAG and token.is_choice:
        return any(_has_or(each) for text in token.choices for each in text)
    return token.kind is TokenKind.OR


# --- errors -----------------------------------------------------------------------------------------------------------

_CHANGES = {
    "not": "under `not` it matches no row",
    "or": "next to `or` it can let every row in",
    "other": "it is correct only as a condition joined by `and`, after `where`, `on`, `having` or `qualify`",
}


def _error(source: Source, condition: Filter, parameter: Parameter, what: str) -> TemplateError:
    path, column = parameter.path, condition.arguments[0].text
    problem = f"{path} may be absent, and then its condition is 1 = 1: {_CHANGES[what]}"
    fix = f"declare {parameter.name} with `required: true`, or with a default"
    if what == "not":
        opposite = "matches" if condition.name == "excludes" else "excludes"
        fix = f"write {{{{ {path} | {opposite}({column}) }}}} without the `not`; or {fix}"
    elif what == "or" and not parameter.only_matches and parameter.type is not ParameterType.DATE:
        fix = f"write [[ or {_plain(parameter, column)} ]], which is dropped together with its `or`; or {fix}"
    return source.error(condition.offset, problem, fix, variable=path)


def _plain(parameter: Parameter, column: str) -> str:
    path = parameter.path
    if parameter.is_range:
        return f"({column} >= {{{{ {path}.start }}}} and {column} < {{{{ {path}.end }}}})"
    return f"{column} {'in' if parameter.is_list else '='} {{{{ {path} }}}}"
