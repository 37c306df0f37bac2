"""HTMLTemplate: names, paths, escaping, what is never printed."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from datetime import date
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest
from markupsafe import Markup

from tenantry.errors import MissingVariable, TemplateError, UnbindableValue
from tenantry.groups import Record
from tenantry.html import HTMLTemplate
from tenantry.testing import make_group
from tests.html.helpers import render

# --- names ------------------------------------------------------------------------------------------------------------


def test_user_group_and_bare_names_and_params() -> None:
    """The three ways to a value, and that they are values of different owners."""
    text = "{{ user_group.id }} {{ user_group.name }} {{ user_group.environment }} {{ region }} {{ params.q }}"
    assert render(text, {"region": "eu"}, {"q": "x"}) == "acme Acme production eu x"


@pytest.mark.parametrize(
    "name",
    ["items", "keys", "get", "values", "pop", "range", "dict", "lipsum", "namespace", "_values", "_path", "__class__"],
)
def test_any_name_is_the_property(name: str) -> None:
    """Red when the environment takes attributes of a Record before its items (``_values``, ``__class__``), and when
    Jinja's own globals stay (``range``)."""
    for text in (f"{{{{ {name} }}}}", f"{{{{ user_group.properties.{name} }}}}", f"{{{{ deep.{name} }}}}"):
        assert render(text, {name: "mine", "deep": {name: "mine"}}) == "mine"


def test_a_name_of_the_view_hides_a_property() -> None:
    """A property called ``title`` overwrites nothing of the page; it is still there under its full path."""
    assert render("{{ title }}|{{ user_group.properties.title }}", {"title": "theirs"}, title="ours") == "ours|theirs"


def test_a_name_that_the_view_set_to_null_is_set() -> None:
    """Red when the fallback asks for truth instead of presence."""
    assert render("[{{ title }}]", {"title": "theirs"}, title=None) == "[]"


def test_a_local_name_of_the_template_hides_a_property() -> None:
    """``set`` and loop variables are the template's own."""
    assert render("{% set a = 1 %}{{ a }}{% for b in [2] %}{{ b }}{% endfor %}{{ b }}", {"a": "A", "b": "B"}) == "12B"


@pytest.mark.parametrize("name", ["user_group", "params"])
def test_a_view_cannot_take_a_reserved_name(name: str) -> None:
    """Red when the view's names are laid over the variables: a view could pass on viewer input as the group."""
    with pytest.raises(TypeError, match=name):
        HTMLTemplate("{{ user_group.name }}").render(make_group().variables, **{name: {"name": "other"}})


def test_a_viewer_never_shadows_a_value_of_the_group() -> None:
    """Whatever the query parameters are called, they are under ``params`` only."""
    evil = {"region": "evil", "user_group": {"name": "evil"}, "params": "evil", "extra": "evil"}
    text = "{{ region }} {{ user_group.name }} {{ user_group.properties.region }}"
    assert render(text, {"region": "eu"}, evil) == "eu Acme eu"
    with pytest.raises(MissingVariable):
        render("{{ extra }}", {}, evil)


def test_properties_with_reserved_names_are_reached_in_full() -> None:
    """``params`` is viewer input even where a property has that name."""
    text = "{{ params.q }} {{ user_group.properties.params }} {{ user_group.properties.user_group }}"
    assert render(text, {"params": "p", "user_group": "g"}, {"q": "viewer"}) == "viewer p g"


def test_words_of_the_language_are_reached_by_subscript() -> None:
    """A property called ``not`` or ``a-b`` has no bare name in Jinja."""
    text = """{{ user_group.properties["not"] }}{{ user_group.properties["a-b"] }}{{ user_group.properties.self }}"""
    assert render(text, {"not": 1, "a-b": 2, "self": 3}) == "123"


def test_any_mapping_will_do() -> None:
    """Plain dicts, without a group: for tests and for programs without the middleware."""
    assert HTMLTemplate("{{ region }} {{ keys.get }}").render({"region": "eu", "keys": {"get": 1}}) == "eu 1"


def test_included_blocks_and_macros_see_the_variables() -> None:
    """A macro and a block of the same page find a bare name as the page does."""
    text = "{% macro m() %}{{ region }}{% endmacro %}{{ m() }}{% block b %}{{ region }}{% endblock %}"
    assert render(text, {"region": "eu"}) == "eueu"


# --- values -----------------------------------------------------------------------------------------------------------

HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "' onmouseover='alert(1)",
    "{{ 7 * 7 }}",
    "{% for x in y %}",
    "{{ user_group.name }}",
    "{{ ''.__class__.__mro__ }}",
    "${7*7} #{7*7} <%= 7*7 %>",
    "\\{{ 1 }} {# comment #}",
    "&lt;already&gt; &amp;",
]


@pytest.mark.parametrize("hostile", HOSTILE)
def test_a_value_is_escaped_text_and_never_a_template(hostile: str) -> None:
    """Red with autoescape=False, and red when a value is rendered again: 49 or a group's name would appear."""
    expected = str(Markup.escape(hostile))
    assert render(
        "{{ v }}|{{ list[0] }}|{{ params.v }}", {"v": hostile, "list": [hostile]}, {"v": hostile}
    ) == "|".join([expected] * 3)
    assert render('<a title="{{ v }}">', {"v": hostile}) == f'<a title="{expected}">'


def test_a_mark_of_safe_html_counts_in_the_view_only() -> None:
    """Markup that the view made is the view's; a Markup among the variables is a value like any other."""
    assert render("{{ chart }}", chart=Markup("<svg>")) == "<svg>"
    assert HTMLTemplate("{{ v }}").render({"v": Markup("<svg>")}) == "&lt;svg&gt;"


def test_corpus_strings_stay_one_escaped_text(corpus: Any) -> None:
    """19,867 strings that people attack with: none opens a tag, closes an attribute or runs as a template."""
    template = HTMLTemplate("{{ v }}")
    for hostile in (corpus / "sqli_payloads.txt").read_text("utf-8", "replace").splitlines():
        page = template.render({"v": hostile})
        assert not {"<", ">", '"', "'"} & set(page)
        assert Markup(page).unescape() == Markup(str(Markup.escape(hostile))).unescape()


@pytest.mark.parametrize(
    ("value", "printed"),
    [(None, ""), (True, "true"), (False, "false"), (0, "0"), (1.5, "1.5"), ("", ""), (10**15, f"{10**15}")],
)
def test_scalars_print_as_people_expect(value: Any, printed: str) -> None:
    """null is nothing, booleans are as in JSON: no Python repr in a page."""
    assert render("{{ v }}", {"v": value}) == printed


@pytest.mark.parametrize(
    "text", ["{{ v }}", "{{ v ~ 'x' }}", "{{ v|string }}", "{{ v|upper }}", "{{ 'x'|replace('x', v) }}"]
)
@pytest.mark.parametrize("value", [{"a": "secret"}, ["secret"]], ids=["object", "list"])
def test_an_object_or_list_is_never_printed_whole(text: str, value: Any) -> None:
    """An error that names it and says what to do, without its values."""
    with pytest.raises(UnbindableValue, match=r"^v is .* name one of its values, or use \|tojson") as caught:
        render(text, {"v": value})
    assert caught.value.name == "v"
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("value", [["a"], ("a",), {"a": 1}, {"a"}], ids=["list", "tuple", "dict", "set"])
def test_a_container_of_the_view_is_never_printed_whole(value: Any) -> None:
    """Red when only Records refuse: a page would show ``['a']``, or ``[Undefined]`` for a variable that is missing."""
    with pytest.raises(UnbindableValue, match="cannot be printed"):
        render("{{ v }}", v=value)


def test_printing_all_properties_names_the_path() -> None:
    """``{{ user_group.properties }}`` and ``{{ user_group }}``."""
    for path in ("user_group.properties", "user_group"):
        with pytest.raises(UnbindableValue, match=f"^{path} is an object"):
            render(f"{{{{ {path} }}}}", {"a": 1})


def test_tojson_takes_records_anywhere_and_is_safe_in_a_script() -> None:
    """Red when ``|tojson`` is plain json.dumps: ``</script>`` in a value would end the element."""
    value = {"b": ["</script><script>", None, True], "a": {"keys": 1}}
    page = render(
        "{{ user_group.properties|tojson }}|{{ {'rows': rows, 'all': v}|tojson }}",
        {"v": value},
        rows=[Record({"x": 1})],
    )
    assert "<" not in page
    first, second = page.split("|")
    assert json.loads(first) == {"v": value}
    assert json.loads(second) == {"rows": [{"x": 1}], "all": value}
    assert list(json.loads(first)["v"]) == ["b", "a"]


def test_tojson_writes_what_rows_hold() -> None:
    """Dates in ISO 8601, a UUID as text, a Decimal as a number."""
    rows = [{"day": date(2013, 1, 2), "id": UUID(int=1), "price": Decimal("1.50"), "count": Decimal(3)}]
    assert json.loads(render("{{ rows|tojson }}", rows=rows)) == [
        {"day": "2013-01-02", "id": str(UUID(int=1)), "price": 1.5, "count": 3}
    ]


@pytest.mark.parametrize("number", [float("nan"), float("inf"), Decimal("NaN")])
def test_tojson_refuses_what_json_does_not_have(number: Any) -> None:
    """NaN in a page is a script that does not parse."""
    with pytest.raises(UnbindableValue):
        render("{{ v|tojson }}", v=[number])


def test_items_and_dictsort_take_a_record() -> None:
    """A template can iterate over an object."""
    text = (
        "{% for k, i in v|items %}{{ k }}{{ i }}{% endfor %} {{ (v|dictsort)[0][0] }} {{ {'x': 1}|items|list|count }}"
    )
    assert render(text, {"v": {"b": 1, "a": 2}}) == "b1a2 a 1"


def test_lists_are_walked_with_records_inside() -> None:
    """Loops, filters by attribute, slices and indexes reach nested values."""
    text = "{% for c in v[1:] %}{{ c.items }}{% endfor %} {{ v|map(attribute='items')|join(',') }} {{ v.0['items'] }}"
    assert render(text, {"v": [{"items": "a"}, {"items": "<b>"}]}) == "&lt;b&gt; a,&lt;b&gt; a"


# --- errors of the author ---------------------------------------------------------------------------------------------


def test_a_template_that_does_not_compile_says_where() -> None:
    """Line, the line's text and Jinja's reason, as a TemplateError."""
    with pytest.raises(TemplateError, match=r"line 2: .*\n    \{\{ b") as caught:
        HTMLTemplate("{{ a }}\n{{ b")
    assert str(caught.value.location) == "2:1"
    assert caught.value.__suppress_context__


def test_repr_does_not_show_the_page() -> None:
    """A template in a log line is its size."""
    assert repr(HTMLTemplate("{{ a }}")) == "<HTMLTemplate of 7 characters>"


def test_what_the_view_raises_passes() -> None:
    """A mistake of the view is the view's, not a template error."""

    def broken() -> str:
        raise LookupError("view")

    with pytest.raises(LookupError, match="view"):
        render("{{ broken() }}", broken=broken)


# --- async ------------------------------------------------------------------------------------------------------------


async def test_render_async_awaits_what_the_view_gives() -> None:
    """Coroutine functions and asynchronous iterators; the same names, escaping and errors."""

    async def total() -> str:
        return "<3>"

    async def rows() -> AsyncIterator[int]:
        for number in (1, 2):
            yield number

    template = HTMLTemplate("{{ total() }} {% for r in rows() %}{{ r }}{% endfor %} {{ keys.get }}{{ by['g' ~ 'et'] }}")
    variables = {"keys": {"get": "k"}, "by": {"get": "b"}}
    assert await template.render_async(variables, total=total, rows=rows) == "&lt;3&gt; 12 kb"
    assert await template.render_async(variables, total=total, rows=rows) == "&lt;3&gt; 12 kb"


@pytest.mark.parametrize("text", ["{% for x in nope %}{% endfor %}", "{{ nope }}", "{{ nope.a }}", "{{ nope|list }}"])
async def test_render_async_misses_nothing(text: str) -> None:
    """Red without Missing.__aiter__: Jinja's StrictUndefined is an empty asynchronous loop."""
    with pytest.raises(MissingVariable) as caught:
        await HTMLTemplate(text).render_async({})
    assert caught.value.names == ("nope",)
