"""A rendering takes no more work than its budget, and whatever goes wrong in it is an error of ours with a line."""

from __future__ import annotations

import time
from decimal import Decimal
from typing import Any

import jinja2
import pytest

from tenantry.errors import MissingVariable, TemplateError, TenantryError
from tenantry.html import MAX_OUTPUT, MAX_STEPS, HTMLTemplate, budget, create_environment
from tenantry.testing import make_group

VARIABLES = make_group(properties={"v": "<b>", "n": 3, "list": [1, 2]}).variables
VIEW: dict[str, Any] = {
    "rows": list(range(3_000)),
    "table": {number: number for number in range(3_000)},
    "known": set(range(3_000)),
    "exact": Decimal("1E+1000000"),
    "text": "x" * 30_000,
    "deep": {"a": [{"b": 1}]},
}


def attempt(text: str, **view: Any) -> str:
    return HTMLTemplate(text).render(VARIABLES, **{**VIEW, **view})


def doubled(statement: str, times: int = 40) -> str:
    return "{% set x = 'ab' %}{% set l = [1] %}" + statement * times + "{{ x|length }}"


TWO_TREES = "{% set a = [1] %}{% set b = [1] %}" + "{% set a = [a, a] %}{% set b = [b, b] %}" * 40
"""Two lists that are equal, which takes a million million comparisons to find out."""

LONG = [
    "{% for a in rows %}{% for b in rows %}{% for c in rows %}{% endfor %}{% endfor %}{% endfor %}",
    "{% for a in rows %}{% for b in rows if false %}{% endfor %}{% endfor %}",
    "{% for a in rows %}{% for b in rows %}{% if a == b %}{{ a }}{% endif %}{% endfor %}{% endfor %}",
    "{% for a in rows %}{% for b in rows %}{% set x = a|string|upper %}{% endfor %}{% endfor %}",
    "{% for a in rows %}{% for b in rows %}{% if text == text ~ 'y' %}{% endif %}{% endfor %}{% endfor %}",
    "{% for a in rows %}{% for b in rows %}{% if 'y' in text %}{% endif %}{% endfor %}{% endfor %}",
    "{% for a in rows %}{% for b in rows %}{% if text is eq 'y' %}{% endif %}{% endfor %}{% endfor %}",
    "{% for a in rows %}{% for b in rows %}{% set x = text.upper() %}{% endfor %}{% endfor %}",
    "{% for a in rows %}{% for b in rows %}{% set x = text[::-1] %}{% endfor %}{% endfor %}",
    "{% for a in rows %}{% for b in rows %}{% set x %}{{ text }}{% endset %}{% endfor %}{% endfor %}",
    "{% macro m(n) %}{% if n %}{{ m(n - 1) }}{{ m(n - 1) }}{% endif %}{% endmacro %}{{ m(40) }}",
    "{% set l = [[], []] %}" + "{% set l = [l, l] %}" * 40 + "{% for a in l recursive %}{{ loop(a) }}{% endfor %}",
    doubled("{% set x = x ~ x %}"),
    doubled("{% set x = x + x %}"),
    doubled("{% set x = '%s%s' % (x, x) %}"),
    doubled("{% set x = '%s%s'|format(x, x) %}"),
    doubled("{% set x = [x, x]|join %}"),
    doubled("{% set x = x|replace('a', 'aa')|replace('b', 'bb') %}"),
    doubled("{% set x %}{{ x }}{{ x }}{% endset %}"),
    doubled("{% set x %}{% filter upper %}{{ x }}{{ x }}{% endfilter %}{% endset %}"),
    doubled("{% set l = l + l %}"),
    doubled("{% set l = [l, l] %}") + "{{ l|string|length }}",
    doubled("{% set l = [l, l] %}") + "{{ l|tojson }}",
    doubled("{% set l = [l, l] %}") + "{{ ('%s' % (l,))|length }}",
    doubled("{% set l = [l, l] %}") + "{{ l ~ '' }}",
    doubled("{% set l = [l, l] %}{% set k = [k, k] %}").replace(
        "{% set l = [1] %}", "{% set l = [1] %}{% set k = [1] %}"
    )
    + "{{ 1 if l == k else 2 }}",
    doubled("{% set l = {'a': l, 'b': l} %}") + "{{ l|tojson }}",
    "{% set x = text|replace('x', text) %}{{ x|length }}",
    "{% set x = text|replace('', text) %}{{ x|length }}",
    "{{ rows|join(text)|length }}",
    "{{ '" + "%(a)s" * 500 + "'|format(a=text ~ text ~ text ~ text ~ text)|length }}",
    "{{ ('<' ~ text)|replace('x', '<!---->')|striptags|striptags|length }}" * 60,
    "{{ big|list|length }}",
    "{{ big|join|length }}",
    "{{ big|map('upper')|join|length }}",
    "{% for a in big %}{% endfor %}",
    TWO_TREES + "{{ [[a], [b]]|groupby(0)|list|length }}",
    TWO_TREES + "{{ [a].count(b) }}",
    TWO_TREES + "{{ [a].index(b) }}",
    TWO_TREES.replace("{% set a", "{% for i in [1, 2] %}{% set a", 1).replace("1]", "i - i]")
    + "{% if loop.changed(a) %}{% endif %}{% endfor %}",
    "{% for a in rows %}{% for b in rows %}{% set x = rows.copy() %}{% endfor %}{% endfor %}",
    "{% for a in rows %}{% for b in rows %}{% set x = rows.count(-1) %}{% endfor %}{% endfor %}",
    "{% for a in rows %}{% for b in rows %}{% set x = {}.fromkeys(rows) %}{% endfor %}{% endfor %}",
    "{% for a in rows %}{% for b in rows %}{% if -1 in table.values() %}{% endif %}{% endfor %}{% endfor %}",
    "{% for a in rows %}{% for b in rows %}{% set x = table.values()|sum %}{% endfor %}{% endfor %}",
    "{% for a in rows %}{% for b in rows %}{% set x = known - known %}{% endfor %}{% endfor %}",
    "{% for a in rows %}{% for b in rows %}{% set x = known.union(known) %}{% endfor %}{% endfor %}",
    "{% for a in rows %}{% for b in rows %}{% set x = text % {} %}{% endfor %}{% endfor %}",
    "{% set x = '%(' %}" + "{% set x = x ~ x %}" * 16 + "{{ x|format }}",
    "{% set a = (rows, n) %}" + "{% set a = (a, a) %}" * 40 + "{{ deep[a] is defined }}",
    "{% set a = (n, n) %}" + "{% set a = (a, a) %}" * 40 + "{{ {a: 1}|length }}",
    "{{ exact|int }}",
    "{{ '%d'|format(exact) }}",
    "{{ 'x'" + "|replace('x', 'xxxxxxxxxx')" * 12 + "|length }}",
]


@pytest.mark.parametrize("text", LONG, ids=range(len(LONG)))
def test_a_long_work_is_stopped_and_names_its_limit(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of these ran for minutes or took gigabytes. A tenth of the budget keeps the test short.

    Red one by one: without the step in a loop's body, or in its condition; without ``read`` in the compiler, the charge
    in ``join_texts``, ``call``, ``call_binop``, ``copied``, ``bounded_join``, ``replace``, ``join`` or
    ``check_format``; where methods, keys and views of lists, dicts and sets cost one step; and without the Budget of
    ``compile`` (the last).
    """
    monkeypatch.setattr(budget, "MAX_STEPS", MAX_STEPS // 10)
    begun = time.process_time()
    with pytest.raises(TemplateError, match=r"MAX_(STEPS|OUTPUT)"):
        attempt(text, big=iter(lambda: None, 1))  # an iterator without an end
    assert time.process_time() - begun < 30


def test_loops_within_loops_with_the_whole_budget() -> None:
    """27,000 million rounds took hours: now they are stopped within seconds."""
    begun = time.process_time()
    with pytest.raises(TemplateError, match="2,000,000 steps"):
        attempt(LONG[0])
    assert time.process_time() - begun < 60


def test_the_figures_are_those_of_the_docs() -> None:
    """docs/templates.md states them."""
    assert (MAX_STEPS, MAX_OUTPUT) == (2_000_000, 8 * 1024 * 1024)


def test_a_large_honest_page_is_no_long_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """A table of 10,000 rows and six columns, formatted by a macro: below both limits, again and again. A fifth of the
    rows and of the budget keeps the test short."""
    monkeypatch.setattr(budget, "MAX_STEPS", MAX_STEPS // 5)
    template = HTMLTemplate(
        "{% macro cell(x) %}<td>{{ x }}</td>{% endmacro %}"
        "{% for row in table %}<tr>{% for x in row %}{{ cell('%.1f'|format(x)) }}{% endfor %}</tr>{% endfor %}"
    )
    table = [[1.25] * 6] * 2_000
    for _ in range(5):  # a budget for each rendering. Red when one is shared
        assert template.render({}, table=table).count("<td>1.2</td>") == 12_000


async def test_the_asynchronous_renderer_has_the_same_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    """With an iterator of the view that has no end."""
    monkeypatch.setattr(budget, "MAX_STEPS", MAX_STEPS // 10)

    async def endless() -> Any:
        while True:
            yield 1

    for text in (LONG[0], LONG[10], "{% for a in items() %}{% endfor %}"):
        with pytest.raises(TemplateError, match="MAX_STEPS"):
            await HTMLTemplate(text).render_async(VARIABLES, **VIEW, items=endless)


def test_a_stream_has_one_budget_and_includes_share_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """``generate``, ``include`` and imported macros spend what the page has."""
    monkeypatch.setattr(budget, "MAX_STEPS", MAX_STEPS // 10)
    loop = "{% for a in rows %}{% for b in rows %}x{% endfor %}{% endfor %}"
    environment = create_environment(
        jinja2.DictLoader(
            {
                "loop.html": loop,
                "part.html": "{% for a in rows %}.{% endfor %}",
                "page.html": "{% for a in rows %}{% include 'part.html' %}{% endfor %}",
                "macros.html": "{% macro m(rows) %}" + loop + "{% endmacro %}",
                "module.html": "{% for a in rows %}.{% endfor %}{% macro m() %}{% endmacro %}",
                "imports.html": "{% for a in rows %}{% import 'module.html' as m with context %}{% endfor %}",
                "calls.html": "{% import 'macros.html' as macros %}{{ macros.m(rows) }}",
                "small.html": "{% import 'macros.html' as macros %}{{ macros.m([1, 2]) }}",
            }
        )
    )
    for name in (
        "loop.html",
        "page.html",
        "imports.html",
        "calls.html",
    ):  # the third: red where each import has its own
        with pytest.raises(TemplateError, match=r"MAX_STEPS"):
            environment.get_template(name).render(rows=VIEW["rows"])
    with pytest.raises(TemplateError, match="MAX_STEPS"):
        for _ in environment.get_template("loop.html").generate(rows=VIEW["rows"]):
            pass
    assert environment.get_template("small.html").render() == "xxxx"  # what was stopped before has used nothing up


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
