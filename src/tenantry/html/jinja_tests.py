"""Jinja's tests (``is none``, ``is string``) in a dashboard template: a missing variable is an error to nearly all.

Jinja answers "no" to most questions about a variable that is not there, so ``{% if limit is number %}`` would drop a
part of the page without a word. Only ``is defined`` and ``is undefined`` may ask about it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from jinja2 import Undefined
from jinja2.tests import TESTS

_ABOUT_WORDS = frozenset({"defined", "undefined", "filter", "test"})  # the last two take a name of the language


def dashboard_tests() -> dict[str, Any]:
    """A new table of all tests, by name."""
    return {name: test if name in _ABOUT_WORDS else _of_what_is_there(test) for name, test in TESTS.items()}


def _of_what_is_there(test: Any) -> Callable[..., Any]:
    @wraps(test)
    def asked(value: Any, *arguments: Any) -> Any:
        if isinstance(value, Undefined):
            str(value)  # raises, and names the variable
        return test(value, *arguments)

    return asked
