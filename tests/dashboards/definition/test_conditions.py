"""``when``: for which properties it holds, which files are refused, and how a row closes a gap."""

from __future__ import annotations

from typing import Any

import pytest

from tenantry.dashboards.access import narrowed
from tenantry.dashboards.definition.conditions import When
from tenantry.dashboards.definition.queries import find_queries
from tenantry.dashboards.definition.reader import read_dashboard
from tenantry.errors import TemplateError
from tenantry.testing import make_group


@pytest.mark.parametrize(
    ("path", "values", "properties", "holds"),
    [
        ("plan", ("pro", "max"), {"plan": "max"}, True),
        ("plan", ("pro",), {"plan": "Pro"}, False),
        ("plan", ("pro",), {}, False),
        ("plan", ("pro",), None, False),
        ("plan", ("pro",), {"plan": None}, False),
        ("plan", ("pro",), {"plan": ["basic", "pro"]}, True),
        ("plan", ("pro",), {"plan": []}, False),
        ("plan", ("pro",), {"plan": {"pro": True}}, False),
        ("plan.name", ("pro",), {"plan": {"name": "pro"}}, True),
        ("plan.name", ("pro",), {"plan": "pro"}, False),
        ("beta", (True,), {"beta": True}, True),
        ("beta", (True,), {"beta": 1}, False),
        ("beta", (True,), {"beta": "true"}, False),
        ("level", (1,), {"level": True}, False),
        ("level", (1, 2), {"level": 2.0}, True),
    ],
)
def test_a_condition_holds_for_the_values_that_it_lists(
    path: str, values: tuple[Any, ...], properties: Any, holds: bool
) -> None:
    """Never for a missing property. Red when values are compared as Python does: 1 is true there."""
    assert When(path, values).holds(make_group(properties=properties).variables) is holds


@pytest.mark.parametrize(
    ("when", "problem"),
    [
        ("pro", "a condition must be a mapping"),
        ("{property: plan}", "a condition has no in"),
        ("{in: [pro]}", "a condition has no property"),
        ("{property: plan, in: []}", "this list is empty"),
        ("{property: plan, in: [~]}", "this must be text, a number, true or false"),
        ("{property: plan, in: ['']}", "this must be text, a number, true or false"),
        ("{property: the plan, in: [pro]}", "this is not a name of a property"),
        ("{property: plan, not: [pro]}", "a condition has no key not"),
    ],
)
def test_a_condition_that_cannot_be_read_is_refused(when: str, problem: str) -> None:
    """Also one that a group without the property would fulfil."""
    for text in (
        f"title: A\nwhen: {when}\nrows: [{{heading: A}}]",
        f"title: A\nrows: [{{heading: A, when: {when}}}]",
    ):
        with pytest.raises(TemplateError, match=problem):
            read_dashboard(text, "a")


@pytest.mark.parametrize(
    ("widths", "left", "closed"),
    [
        ((3, 6, 3), (0, 2), (6, 6)),
        ((4, 4, 4), (1, 2), (6, 6)),
        ((5, 1, 1, 5), (0, 1, 2), (9, 1, 2)),
        ((2, 3, 3), (0, 2), (3, 5)),
        ((8, 0), (0,), (12,)),
        ((8, 0, 0), (1, 2), (0, 0)),
        ((0, 0, 0), (0, 2), (0, 0)),
    ],
)
def test_a_row_closes_the_gap(widths: tuple[int, ...], left: tuple[int, ...], closed: tuple[int, ...]) -> None:
    """Columns that the author gave are shared in proportion; a row that was not full stays so."""
    hidden = ", when: {property: plan, in: [pro]}"
    panels = [
        f"{{text: A{f', width: {width}' if width else ''}{'' if place in left else hidden}}}"
        for place, width in enumerate(widths)
    ]
    dashboard = read_dashboard(f"title: A\nrows: [[{', '.join(panels)}]]", "a")
    ((*row,),) = narrowed(dashboard, find_queries(dashboard, {}), {}).rows
    assert tuple(panel.width for panel in row) == closed
    assert [panel.id for panel in row] == [f"1-{place + 1}" for place in left]
    pro = make_group(properties={"plan": "pro"}).variables
    assert narrowed(dashboard, find_queries(dashboard, {}), pro) is dashboard
