"""Whatever goes wrong in a rendering is one of our errors, with a line."""

from __future__ import annotations

from typing import Any

import pytest

from tenantry.errors import MissingVariable, TemplateError, TenantryError
from tenantry.html import MAX_OUTPUT, HTMLTemplate
from tenantry.testing import make_group

VARIABLES = make_group(properties={"v": "<b>", "n": 3, "list": [1, 2]}).variables


def attempt(text: str, **view: Any) -> str:
    return HTMLTemplate(text).render(VARIABLES, **view)


def test_the_bound_of_a_page_is_that_of_the_docs() -> None:
    """docs/templates.md states it."""
    assert MAX_OUTPUT == 8 * 1024 * 1024


WRONG = [
    "{{ (1e400)|int }}",
    "{{ {'a': 1e400}|tojson }}",
    "{{ v|truncate(1) }}",
    "{{ v|truncate(9, leeway=-1) }}",
    "{{ '%d' % v }}",
    "{{ '%' % n }}",
    "{{ 1 / 0 }}",
    "{{ 1 % 0 }}",
    "{{ v + 1 }}",
    "{{ -v }}",
    "{{ [1]|sum(start=v) }}",
    "{{ none|sort }}",
    "{{ [1, v]|sort }}",
    "{{ v.split('') }}",
    "{{ v|filesizeformat }}",
    "{{ v|replace('a') }}",
    "{{ v|round }}",
    "{{ n|length }}",
    "{{ v in n }}",
    "{{ n < v }}",
    "{{ {[]: 1} }}",
    "{{ [[]]|unique|list }}",
    "{{ f|tojson }}",
    "{{ '%c'|format(-1) }}",
    "{{ '\ud800'|urlencode }}",
    "{{ (1e308 * 10)|int }}",
    "{{ ('9' * 1)|int }}",
    "{{ long|int }}",
    "{{ long|int(base=16) }}",
    "{% for a, b in [1] %}{% endfor %}",
    "{% for a in n %}{% endfor %}",
    "{% for a in [1] recursive %}{{ loop(5) }}{% endfor %}",
    "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
    "{{ " + "9" * 5_000 + " }}",
    "{{ " + "(" * 3_000 + "1" + ")" * 3_000 + " }}",
    "{% for a in [1] %}" * 25 + "{% endfor %}" * 25,
]


@pytest.mark.parametrize("text", WRONG, ids=range(len(WRONG)))
def test_whatever_goes_wrong_is_an_error_of_ours_with_its_line(text: str) -> None:
    """NameError, AssertionError, TypeError, SyntaxError and the like came out of Jinja as they were. No value is shown.
    Red when handle_exception passes on what is no error of Jinja's, and for the last three without ``_parse``."""
    with pytest.raises(TenantryError) as caught:
        attempt("one\ntwo\n" + text, f=lambda: 1, long="f" * 500)
    assert isinstance(caught.value, TemplateError)
    assert "line 3" in caught.value.message
    assert caught.value.location is not None
    assert caught.value.location.line == 3
    assert "<b>" not in caught.value.message
    assert caught.value.__cause__ is None


def test_expressions_too_deep_for_the_compiler() -> None:
    """Where no line is known."""
    with pytest.raises(TemplateError, match="cannot be compiled"):
        HTMLTemplate("{{ " + "not " * 500 + "x }}")


def test_what_the_view_raises_passes_as_it_is() -> None:
    """Functions, methods and iterators of the view; and errors of ours that they raise. Red when every exception is
    made one of the template's."""

    class Money:
        def __str__(self) -> str:
            raise ValueError("of the view")

        def text(self) -> str:
            raise KeyError("of the view")

    def broken() -> Any:
        yield 1
        raise ZeroDivisionError("of the view")

    def missing() -> None:
        raise MissingVariable("of the view", names=["x"])

    for text, kind in (
        ("{{ money }}", ValueError),
        ("{{ money.text() }}", KeyError),
        ("{% for x in broken() %}{% endfor %}", ZeroDivisionError),
        ("{{ broken()|list }}", ZeroDivisionError),
        ("{{ missing() }}", MissingVariable),
        ("{{ open('/nowhere/at/all') }}", FileNotFoundError),
    ):
        with pytest.raises(kind, match=r"of the view|nowhere"):
            attempt(text, money=Money(), broken=broken, missing=missing, open=open)
