"""Clicks that open another dashboard: it is there, and takes over what it can of a viewer's choices."""

from __future__ import annotations

from pathlib import Path

import pytest

from tenantry import DashboardFolder
from tenantry.dashboards.definition.model import DashboardFile
from tenantry.dashboards.definition.reader import read_dashboard
from tenantry.dashboards.folder import check_open, kept_controls
from tenantry.errors import TemplateError


def _read(rows: str, controls: str = "{}") -> DashboardFile:
    return read_dashboard(f"title: Sales\ncontrols: {controls}\nrows:\n  - {rows}\n", "sales", "sales.yaml")


@pytest.mark.parametrize(
    ("click", "problem", "fix"),
    [
        ("{open: rotue, with: [region]}", "there is no dashboard rotue", "did you mean route?"),
        ("{open: route, with: [regoin]}", "the dashboard route does not read regoin", "did you mean region?"),
    ],
)
def test_a_click_opens_a_dashboard_that_is_there(click: str, problem: str, fix: str) -> None:
    """And sets only what that one reads."""
    dashboard = _read(f"{{table: all, click: {click}}}")
    with pytest.raises(TemplateError, match=r"^sales.yaml:4:25: ") as caught:
        check_open(dashboard, {"sales": dashboard, "route": dashboard}, lambda _: {"region"})
    assert problem in caught.value.message
    assert fix in caught.value.message


KEPT = {
    ("{range: last 30 days}", "{range: this year}"): True,
    ("{range: last 30 days}", "{date: }"): False,
    ("{choices: [eu, us]}", "{choices: [us, eu, asia]}"): True,
    ("{choices: [us, eu, asia]}", "{choices: [eu, us]}"): False,
    ("{choices: {query: regions}}", "{choices: [eu, us]}"): False,
    ("{choices: [eu, us]}", "{choices: {query: regions}}"): True,
    ("{choices: [eu, us]}", "{text: }"): True,
    ("{choices: [eu, us], many: true}", "{choices: [eu, us]}"): False,
    ("{choices: [eu, us], many: true}", "{choices: {query: regions}, many: true}"): True,
    ("{number: 5, min: 1, max: 9}", "{number: 7, min: 0, max: 9}"): True,
    ("{number: 5, min: 1}", "{number: 7, min: 2}"): False,
    ("{number: 5}", "{number: 7, max: 9}"): False,
    ("{number: 5}", "{text: }"): False,
}


@pytest.mark.parametrize(("given", "taken"), KEPT)
def test_a_choice_goes_along_where_the_other_dashboard_takes_it(given: str, taken: str) -> None:
    """By name and kind, and only what it never refuses: else the whole page would be refused. Red when the name alone
    counted."""
    ours, theirs = _read("{text: a}", f"{{a: {given}, only: {{text: }}}}"), _read("{text: a}", f"{{a: {taken}}}")
    assert kept_controls(ours, theirs) == (("a",) if KEPT[given, taken] else ())


def test_a_folder_knows_what_its_clicks_keep(tmp_path: Path) -> None:
    """For each dashboard that one opens."""
    statement = "{sql: 'select 1 as r [[ where {{ params.r }} = 1 ]] [[ and 2 > {{ params.n }} ]]'}"
    click = "click: {open: other, with: [r]}"
    (tmp_path / "first.yaml").write_text(
        f"title: A\ncontrols: {{r: {{text: }}, n: {{number: }}}}\nrows:\n  - {{table: {statement}, {click}}}\n"
    )
    (tmp_path / "other.yaml").write_text(
        f"title: B\ncontrols: {{n: {{number: }}, r: {{text: }}}}\nrows:\n  - {{table: {statement}}}\n"
    )
    folder = DashboardFolder(tmp_path)
    assert folder["first"].kept == {"other": ("r", "n")}
    assert folder["other"].kept == {}
