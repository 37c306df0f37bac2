"""The columns that a Vega-Lite specification names."""

from __future__ import annotations

from typing import Any

import pytest

from tenantry.dashboards.definition.vega_columns import vega_expression_columns, vega_fields


def vega_columns(specification: Any) -> set[str]:
    return {*vega_expression_columns(specification), *vega_fields(specification)}


_CASES: list[tuple[Any, set[str]]] = [
    ({"encoding": {"x": {"field": "a"}, "tooltip": [{"field": "b"}, {"field": "c d"}]}}, {"a", "b", "c d"}),
    ({"layer": [{"encoding": {"y": {"field": "a"}}}], "hconcat": [{"encoding": {"y": {"field": "b"}}}]}, {"a", "b"}),
    (
        {"encoding": {"x": {"field": "place.city"}, "y": {"field": r"a\.b"}, "size": {"field": "[c.d]"}}},
        {"place", "a.b", "c.d"},
    ),
    ({"encoding": {"x": {"field": "['e f'].g"}, "y": {"field": "h[0]"}}}, {"e f", "h"}),
    ({"encoding": {"color": {"aggregate": {"argmax": "a"}, "field": "b", "sort": {"field": "c"}}}}, {"a", "b", "c"}),
    ({"encoding": {"color": {"condition": {"test": {"field": "a", "gt": 1}, "value": "red"}}}}, {"a"}),
    (
        {"encoding": {"color": {"condition": {"test": "datum.a > datum['b c'] && datum[\"d\"]", "value": 1}}}},
        {"a", "b c", "d"},
    ),
    (
        {"transform": [{"calculate": "datum . a * 2", "as": "twice"}], "encoding": {"x": {"field": "twice"}}},
        {"a", "twice"},
    ),
    ({"transform": [{"filter": {"and": ["datum.a", {"not": {"field": "b", "valid": True}}]}}]}, {"a", "b"}),
    ({"transform": [{"aggregate": [{"op": "sum", "field": "a", "as": "s"}], "groupby": ["b"]}]}, {"a", "b"}),
    ({"transform": [{"joinaggregate": [{"op": "mean", "field": "a"}], "groupby": ["b"]}]}, {"a", "b"}),
    ({"transform": [{"window": [{"op": "rank", "as": "r"}], "sort": [{"field": "a"}], "groupby": ["b"]}]}, {"a", "b"}),
    ({"transform": [{"fold": ["a", "b"], "as": ["key", "value"]}]}, {"a", "b"}),
    ({"transform": [{"flatten": ["a"]}, {"pivot": "b", "value": "c", "groupby": ["d"]}]}, {"a", "b", "c", "d"}),
    (
        {"transform": [{"impute": "a", "key": "b", "value": "zero"}, {"stack": "c", "groupby": ["d"]}]},
        {"a", "b", "c", "d"},
    ),
    ({"transform": [{"loess": "a", "on": "b"}, {"regression": "c", "on": "d"}]}, {"a", "b", "c", "d"}),
    ({"transform": [{"density": "a"}, {"quantile": "b"}, {"extent": "c", "param": "p"}]}, {"a", "b", "c"}),
    ({"transform": [{"lookup": "a", "from": {"param": "p", "key": "b", "fields": ["c"]}}]}, {"a", "b", "c"}),
    (
        {"transform": [{"bin": True, "field": "a", "as": "b"}, {"timeUnit": "year", "field": "c", "as": "d"}]},
        {"a", "c"},
    ),
    (
        {"repeat": {"row": ["a", "b"], "layer": ["c"]}, "spec": {"encoding": {"x": {"field": {"repeat": "row"}}}}},
        {"a", "b", "c"},
    ),
    ({"repeat": ["a"]}, {"a"}),
    (
        {
            "facet": {"field": "a"},
            "params": [{"name": "p", "select": {"type": "point", "fields": ["b"], "on": "click"}}],
        },
        {"a", "b"},
    ),
    ({"mark": {"type": "text", "text": {"expr": "datum['a']"}}}, {"a"}),
    ({"mark": {"type": "area", "extent": "ci"}, "encoding": {"y": {"stack": "zero", "value": "v", "key": "k"}}}, set()),
    ({"encoding": {"x": {"axis": {"labelExpr": "datum.label + datum.value"}}, "y": {"datum": "a"}}}, set()),
    ({"encoding": {"x": {"field": "a", "scale": {"domain": ["b"]}, "title": "c", "type": "nominal"}}}, {"a"}),
    (None, set()),
]


@pytest.mark.parametrize(("specification", "named"), _CASES)
def test_fields_and_expressions_name_columns(specification: Any, named: set[str]) -> None:
    """Wherever Vega-Lite takes a field; other words of it name none. Red for the fields of a transform when they are
    looked for in encodings alone, and for ``click`` when ``on`` is a field anywhere."""
    assert vega_columns(specification) == named


def test_a_computed_name_names_nothing() -> None:
    """Its author writes ``columns``. Red when any column may be meant."""
    specification = {"params": [{"name": "p", "value": "secret"}], "transform": [{"calculate": "datum[p]", "as": "x"}]}
    assert vega_columns(specification) == set()


@pytest.mark.parametrize(
    ("expression", "named"),
    [
        ("datum.{{ measure }} > 0 && datum.total_{{ user_group.id }}", {"{{ measure }}", "total_{{ user_group.id }}"}),
        ("""datum['{{ own["a b"] }} c'] + datum["{{ own['d'] }}"]""", {'{{ own["a b"] }} c', "{{ own['d'] }}"}),
        (r"datum['a\{{b'] + datum['it\'s']", {r"a\{{b", "it's"}),
        ("{{ measure }}", set()),
        ("datum {{ measure }}", set()),
    ],
)
def test_a_name_in_an_expression_may_be_a_variable(expression: str, named: set[str]) -> None:
    """It keeps its form, for the values of a group. Red when quotes of a variable end a name."""
    assert set(vega_expression_columns({"transform": [{"filter": expression}]})) == named
