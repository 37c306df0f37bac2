"""The filters and tests of dashboard templates. Jinja's filters are left out if they are unsafe (``safe``), access
attributes (``attr``), make text longer (``center``) or return a random item (``random``). A test such as
``is odd`` raises MissingVariable for a missing variable; ``is defined`` and ``is undefined`` do not."""

from __future__ import annotations

import datetime
import json
import math
import re
import uuid
from collections.abc import Callable, Iterator
from decimal import Decimal
from functools import wraps
from typing import Any

from jinja2 import Environment, Undefined
from jinja2.exceptions import SecurityError
from jinja2.filters import (
    FILTERS,
    do_dictsort,
    do_format,
    do_int,
    do_items,
    do_round,
    do_sum,
    do_truncate,
)
from jinja2.tests import TESTS
from jinja2.utils import htmlsafe_json_dumps, pass_environment
from markupsafe import Markup

from tenantry.errors import UnbindableValue
from tenantry.groups import Record, RecordList, thaw


def to_json(value: Any, *, indent: int | None = None) -> str:
    """Return a value as JSON. A Decimal becomes a number.

    Raises UnbindableValue for NaN, infinity and a value that contains itself. Raises TypeError for an unknown type."""
    try:
        return json.dumps(value, default=_plain, allow_nan=False, ensure_ascii=False, indent=indent)
    except ValueError as error:
        raise UnbindableValue(f"this value has no JSON form: {error}", name="tojson") from None


def install_tojson(environment: Environment) -> None:
    """Make the filter ``tojson`` of a Jinja environment accept Records and RecordLists."""
    earlier: Callable[..., str] | None = environment.policies["json.dumps_function"]

    def dumps(value: Any, **options: Any) -> str:
        if earlier is None:
            return json.dumps(value, **{"default": _plain, **options})
        return earlier(_thaw_within(value), **options)

    environment.policies["json.dumps_function"] = dumps


def _plain(value: Any) -> Any:
    if isinstance(value, Record | RecordList):
        return thaw(value)
    if isinstance(value, Undefined):
        return str(value)  # raises MissingVariable
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    if isinstance(value, Decimal):
        if value.is_finite() and value == value.to_integral_value() and abs(value.adjusted()) < 300:
            return int(value)
        return float(value) if value.is_finite() else math.nan
    if isinstance(value, uuid.UUID):
        return str(value)
    raise TypeError(f"a value of type {type(value).__name__} has no JSON form: convert it to a string or a number")


def _thaw_within(value: Any) -> Any:
    if isinstance(value, Record | RecordList):
        return thaw(value)
    if isinstance(value, dict):
        return {name: _thaw_within(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_thaw_within(item) for item in value]
    return str(value) if isinstance(value, Undefined) else value


JINJA_FILTERS = frozenset({
    "abs", "capitalize", "count", "d", "default", "e", "escape", "filesizeformat", "first", "float", "forceescape",
    "groupby", "join", "last", "length", "list", "lower", "map", "max", "min", "reject", "rejectattr", "replace",
    "reverse", "select", "selectattr", "sort", "string", "striptags", "title", "trim", "unique", "upper", "urlencode",
    "wordcount",
})  # fmt: skip
"""Jinja's filters that are used unchanged."""

_WIDE = re.compile(r"%(?:\([^)]*\))?[^a-zA-Z%]*(?:\d{3}|\*)")
"""A printf conversion whose width or precision has at least three digits, or is an argument."""
_TAKE_UNDEFINED = frozenset(
    {"defined", "undefined", "filter", "test"}
)  # ``is filter`` and ``is test`` take the name of a filter or test


def check_format(text: object) -> None:
    if isinstance(text, bytes) or _WIDE.search(text if type(text) is str else str(text)):
        raise SecurityError("the width and precision in a format must be numbers up to 99, as in %5.1f")


def printf(value: str, *args: Any, **kwargs: Any) -> str:
    """Format like printf, with widths below 100: ``{{ "%.1f"|format(share) }}``."""
    check_format(value)
    return do_format(value, *args, **kwargs)


def rounded(value: float, precision: Any = 0, method: Any = "common") -> float:
    if not isinstance(precision, int) or abs(precision) > 15:
        raise SecurityError("the precision of |round must be a whole number from -15 to 15")
    return do_round(value, precision, method)


@pass_environment
def total(environment: Any, value: Any, attribute: str | int | None = None, start: Any = 0) -> Any:
    if not isinstance(start, int | float | Decimal):
        raise SecurityError("the start of |sum must be a number")
    return do_sum(environment, value, attribute, start)


def integer(value: Any, default: int = 0, base: int = 10) -> int:
    if isinstance(value, str) and len(value) > 400:
        raise SecurityError("|int reads at most 400 characters")
    return do_int(value, default, base)


@pass_environment
def truncate(
    environment: Any, s: str, length: Any = 255, killwords: bool = False, end: str = "...", leeway: int | None = None
) -> str:
    """Truncate like Jinja's filter, but refuse a ``length`` shorter than ``end``."""
    if not isinstance(length, int) or length < len(end):
        raise SecurityError(
            f"the length of |truncate must be a whole number, {len(end)} or greater, because it includes the end"
        )
    if leeway is not None and leeway < 0:
        raise SecurityError("the leeway of |truncate must be 0 or greater")
    return do_truncate(environment, s, length, killwords, end, leeway)


def items(value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Undefined):
        str(value)  # raises MissingVariable; StrictUndefined would give an empty loop
    if isinstance(value, Record):
        return iter([(name, value[name]) for name in value])
    return do_items(value)


def dictsort(value: Any, *args: Any, **kwargs: Any) -> list[tuple[str, Any]]:
    return do_dictsort(dict(items(value)), *args, **kwargs)


def tojson(value: Any, indent: Any = None) -> Markup:
    """JSON that is safe in HTML text, a script element and a *single*-quoted attribute."""
    if indent is not None and (not isinstance(indent, int) or not 0 <= indent <= 8):
        raise SecurityError("the indent of |tojson must be a whole number from 0 to 8")
    return htmlsafe_json_dumps(value, dumps=to_json, indent=indent)


def dashboard_filters() -> dict[str, Any]:
    own = {
        "dictsort": dictsort,
        "format": printf,
        "int": integer,
        "items": items,
        "round": rounded,
        "sum": total,
        "tojson": tojson,
        "truncate": truncate,
    }
    return {name: FILTERS[name] for name in JINJA_FILTERS} | own


def dashboard_tests() -> dict[str, Any]:
    return {name: test if name in _TAKE_UNDEFINED else _defined_only(test) for name, test in TESTS.items()}


def _defined_only(test: Any) -> Callable[..., Any]:
    @wraps(test)
    def defined_only(value: Any, *arguments: Any) -> Any:
        if isinstance(value, Undefined):
            str(value)  # raises MissingVariable
        return test(value, *arguments)

    return defined_only
