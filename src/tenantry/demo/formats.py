"""Numbers and dates as the page is sent, in American English.

The page's script says them again in the group's locale.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import date

FORMATS: dict[str, Callable[[float], str]] = {
    "integer": "{:,.0f}".format,
    "decimal": "{:,.1f}".format,
    "percent": "{:.1%}".format,
    "money": "${:,.0f}".format,
}
"""Name (as in ``data-format``) -> text. dashboard.js has the same four."""


def number(value: float, style: str) -> str:
    """``number(0.8123, "percent")`` is ``81.2%``. Raises KeyError for another style."""
    return FORMATS[style](value)


def day(value: date) -> str:
    """July 1, 2013"""
    return f"{value:%B} {value.day}, {value.year}"
