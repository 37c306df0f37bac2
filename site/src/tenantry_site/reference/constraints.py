"""Constraints: the bounds of a schema in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

_COUNTED: Final = (
    ("minLength", "maxLength", "character", "characters"),
    ("minItems", "maxItems", "item", "items"),
    ("minProperties", "maxProperties", "name", "names"),
)


def constraints(facts: Mapping[str, Any]) -> tuple[str, ...]:
    """``{"minLength": 1, "maxLength": 255}`` -> ``("1 to 255 characters",)``. What is no number is passed over."""
    return (*_counts(facts), *_bounds(facts), *_others(facts))


def _counts(facts: Mapping[str, Any]) -> Iterator[str]:
    for least_key, most_key, one, many in _COUNTED:
        least, most = number(facts.get(least_key)), number(facts.get(most_key))
        if least == 0:
            least = None
        if least is not None and most is not None:
            yield f"{written(least)} {one if least == 1 else many}" if least == most else _range(least, most, many)
        elif least is not None:
            yield f"at least {written(least)} {one if least == 1 else many}"
        elif most is not None:
            yield f"at most {written(most)} {one if most == 1 else many}"


def _range(least: float, most: float, unit: str) -> str:
    return f"{written(least)} to {written(most)} {unit}"


def _bounds(facts: Mapping[str, Any]) -> Iterator[str]:
    least, above = _limit(facts, "minimum", "exclusiveMinimum")
    most, below = _limit(facts, "maximum", "exclusiveMaximum")
    if least is not None and most is not None:
        yield f"{written(least)} to {written(most)}"
    elif least is not None:
        yield f"at least {written(least)}"
    elif most is not None:
        yield f"at most {written(most)}"
    if above is not None:
        yield f"more than {written(above)}"
    if below is not None:
        yield f"less than {written(below)}"


def _limit(facts: Mapping[str, Any], bound: str, exclusive: str) -> tuple[float | None, float | None]:
    """The bound that may be reached and the one that may not: 3.0 says which by a truth value, 3.1 by a number."""
    limit, strict = number(facts.get(bound)), facts.get(exclusive)
    if strict is True:
        return None, limit
    return limit, number(strict)


def _others(facts: Mapping[str, Any]) -> Iterator[str]:
    step = number(facts.get("multipleOf"))
    if step is not None:
        yield f"a multiple of {written(step)}"
    if facts.get("uniqueItems") is True:
        yield "no item twice"


def number(value: Any) -> int | float | None:
    """The value if it is a number; a truth value is none."""
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def written(value: float) -> str:
    """A number as people write it: 3, not 3.0; large bounds as they are."""
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else str(value)


def least(facts: Mapping[str, Any]) -> int | float | None:
    """The least number that a schema allows where that is more than 0: an example is better off with it."""
    limit, above = _limit(facts, "minimum", "exclusiveMinimum")
    found = above + 1 if above is not None else limit
    return None if found is None or found <= 0 else found
