"""The filters of a dashboard template: a closed list.

Left out of Jinja's: what makes a value raw (``safe``, ``xmlattr``, ``urlize``), what opens an object (``attr``,
``pprint``), and what lets a small number ask for a large text (``center``, ``indent``, ``wordwrap``, ``batch``,
``slice``). ``random`` is left out so that a page is a function of its variables.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from jinja2 import Undefined
from jinja2.exceptions import SecurityError
from jinja2.filters import FILTERS, do_dictsort, do_format, do_items, do_round
from jinja2.utils import htmlsafe_json_dumps
from markupsafe import Markup

from tenantry.groups import Record
from tenantry.html.json_text import to_json

KEPT = frozenset(
    {
        "abs",
        "capitalize",
        "count",
        "d",
        "default",
        "e",
        "escape",
        "filesizeformat",
        "first",
        "float",
        "forceescape",
        "groupby",
        "int",
        "join",
        "last",
        "length",
        "list",
        "lower",
        "map",
        "max",
        "min",
        "reject",
        "rejectattr",
        "replace",
        "reverse",
        "select",
        "selectattr",
        "sort",
        "string",
        "striptags",
        "sum",
        "title",
        "trim",
        "truncate",
        "unique",
        "upper",
        "urlencode",
        "wordcount",
    }
)
"""Filters that are Jinja's own."""

_WIDE = re.compile(r"%(?:\([^)]*\))?[^a-zA-Z%]*(?:\d{3}|\*)")
"""A printf conversion whose width or precision has three digits, or comes from an argument."""


def check_format(text: object) -> None:
    """Raise SecurityError where a printf format asks for a width of 100 or more: one number would make any length."""
    if isinstance(text, bytes) or _WIDE.search(str(text)):
        raise SecurityError("a format may ask for at most 99 places")


def printf(value: str, *args: Any, **kwargs: Any) -> str:
    """``{{ "%.1f"|format(share) }}``: printf formatting, widths below 100."""
    check_format(value)
    return do_format(value, *args, **kwargs)


def rounded(value: float, precision: Any = 0, method: Any = "common") -> float:
    """``|round``: to at most 15 decimal places."""
    if not isinstance(precision, int) or abs(precision) > 15:
        raise SecurityError("|round takes at most 15 places")
    return do_round(value, precision, method)


def items(value: Any) -> Iterator[tuple[str, Any]]:
    """``|items``: the pairs of a dict or of a Record."""
    if isinstance(value, Undefined):
        str(value)  # raises, and names the variable: Jinja's own is an empty loop even on StrictUndefined
    if isinstance(value, Record):
        return iter([(name, value[name]) for name in value])
    return do_items(value)


def dictsort(value: Any, *args: Any, **kwargs: Any) -> list[tuple[str, Any]]:
    """``|dictsort``: the sorted pairs of a dict or of a Record."""
    return do_dictsort(dict(items(value)), *args, **kwargs)


def tojson(value: Any, indent: Any = None) -> Markup:
    """``|tojson``: JSON that is safe in HTML text, in a script element and in an attribute in *single* quotes."""
    if indent is not None and (not isinstance(indent, int) or not 0 <= indent <= 8):
        raise SecurityError("|tojson takes an indent of 0 to 8")
    return htmlsafe_json_dumps(value, dumps=to_json, indent=indent)


def dashboard_filters() -> dict[str, Any]:
    """A new table of all filters, by name."""
    own = {"dictsort": dictsort, "format": printf, "items": items, "round": rounded, "tojson": tojson}
    return {name: FILTERS[name] for name in KEPT} | own
