"""HTMLTemplate: a variable that is missing is an error that names it, and never a gap in the page."""

from __future__ import annotations

import pytest
from jinja2 import UndefinedError
from jinja2.sandbox import SecurityError

from tenantry.errors import MissingVariable
from tenantry.html.proxies import Missing
from tests.html.helpers import render


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("{{ nope }}", "nope"),
        ("{{ user_group.properties.nope }}", "user_group.properties.nope"),
        ("{{ user_group.properties.nope.deeper }}", "user_group.properties.nope"),
        ("{{ user_group.nope }}", "user_group.nope"),
        ("{{ deep.er.nope }}", "deep.er.nope"),
        ("{{ list[7] }}", "list[7]"),
        ("{{ list[-2] }}", "list[-2]"),
        ("{{ list[0].nope }}", "list[0].nope"),
        ("{% for x in list %}{{ x.nope }}{% endfor %}", "list[0].nope"),
        ("{{ list[0:1][0].nope }}", "list[0].nope"),
        ('{{ deep["a b"] }}', 'deep["a b"]'),
        ("{{ params.nope }}", "params.nope"),
        ("{% if nope %}{% endif %}", "nope"),
        ("{% if nope == 'x' %}{% endif %}", "nope"),
        ("{% if 'x' in nope %}{% endif %}", "nope"),
        ("{% for x in nope %}{% endfor %}", "nope"),
        ("{{ nope|upper }}", "nope"),
        ("{{ nope|length }}", "nope"),
        ("{{ nope|tojson }}", "nope"),
        ("{{ [nope]|tojson }}", "nope"),
        ("{{ nope|join }}", "nope"),
        ("{{ nope|int }}", "nope"),
        ("{{ nope|first }}", "nope"),
        ("{% for k, v in nope|items %}{% endfor %}", "nope"),
        ("{% for k, v in nope|dictsort %}{% endfor %}", "nope"),
        ("{{ nope|round }}", "nope"),
        ("{{ nope|abs }}", "nope"),
        ("{{ text[:nope] }}", "nope"),
        ("{{ list[nope:] }}", "nope"),
        ("{% if nope is none %}{% endif %}", "nope"),
        ("{% if nope is number %}{% endif %}", "nope"),
        ("{% if nope is not string %}{% endif %}", "nope"),
        ("{% if nope is sameas true %}{% endif %}", "nope"),
        ("{% for x in list if x.nope is mapping %}{% endfor %}", "list[0].nope"),
        ("{{ list|selectattr('nope', 'none')|list|length }}", "list[0].nope"),
        ("{{ 'a' ~ nope }}", "nope"),
        ("{{ nope + 1 }}", "nope"),
        ("{{ 2 * nope }}", "nope"),
        ("{{ nope() }}", "nope"),
        ("{{ nope['x'] }}", "nope"),
        ("{{ range(3) }}", "range"),
        ("{{ lipsum() }}", "lipsum"),
        ("{{ text.code }}", "code"),
        ("{{ null.code }}", "code"),
    ],
)
def test_a_missing_variable_is_an_error_that_names_it(text: str, path: str) -> None:
    """Red with Jinja's default Undefined for most rows: the page would show nothing, or an empty loop.

    Red for ``items``, ``dictsort`` and the tests (``is none``) even with its StrictUndefined: Jinja asks only its type.
    """
    with pytest.raises(MissingVariable) as caught:
        render(text, {"deep": {"er": {}}, "list": [{"a": 1}], "text": "eu", "null": None})
    assert caught.value.names == (path,)
    assert path in caught.value.message
    assert caught.value.message.endswith("(line 1)")


def test_the_line_is_that_of_the_template() -> None:
    """Of the line of the page where the name is."""
    with pytest.raises(MissingVariable, match=r"\(line 3\)$"):
        render("a\nb\n{{ nope }}\n")


def test_a_template_may_ask_first() -> None:
    """``is defined`` and ``|default`` are the author's explicit choice."""
    text = (
        "{{ nope is defined }} {{ nope|d('-') }} {{ user_group.properties.nope|d('-') }} {{ null|default('-', true) }}"
    )
    assert render(text, {"null": None}) == "false - - -"


@pytest.mark.parametrize(
    "text", ["{{ {'a': 1}[secret] }}", "{{ user_group.properties[secret] }}", "{{ list[7 + 1] }}", "{{ 'x'[secret] }}"]
)
def test_a_computed_name_is_not_shown(text: str) -> None:
    """Red when a subscript is named in the error: it may be a property's value, and errors are logged."""
    with pytest.raises(MissingVariable) as caught:
        render(text, {"secret": "hunter2", "list": []})
    assert "hunter2" not in str(caught.value)
    assert "[…]" in str(caught.value)


def test_a_computed_name_finds_its_value() -> None:
    """A subscript by a variable works on a dict of the view, on a Record, on a list."""
    text = "{{ labels[region] }} {{ by_region[region] }} {{ list[index] }} {{ list[-1] }} {{ list[:1][0] }}"
    properties = {"region": "eu", "by_region": {"eu": "E"}, "list": ["a", "b"], "index": 1}
    assert render(text, properties, labels={"eu": "Europe"}) == "Europe E b b a"


def test_a_given_exception_or_reason_is_kept() -> None:
    """Jinja says what a sandbox refuses, and which name a template does not export. Red when each of them becomes a
    missing variable."""
    with pytest.raises(SecurityError):
        str(Missing(name="x", exc=SecurityError))
    with pytest.raises(UndefinedError, match="it has no macro x"):
        str(Missing("it has no macro x", name="x"))
