"""Clicks that open another dashboard: it is there, and takes over what it can of a viewer's choices."""

from __future__ import annotations

from pathlib import Path

import pytest

from tenantry import DashboardFolder
from tenantry.dashboards.definition.model import DashboardFile
from tenantry.dashboards.definition.reader import read_dashboard
from tenantry.dashboards.links import check_open, kept_controls
from tenantry.errors import InvalidDashboards, TemplateError


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


def test_with_is_a_key_of_open() -> None:
    """Red when it is ignored beside another key: the author would wait for values that never come."""
    with pytest.raises(TemplateError, match=r"4:25: the key 'with' needs the key 'open'"):
        _read("{table: all, click: {filter: region, with: [region]}}")


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


def _folder(
    tmp_path: Path, first: str, other: str, *, click: str = "{open: other, with: [r]}", top: str = ""
) -> DashboardFolder:
    """Two dashboards with these controls, which their queries read; but the panel of the click does not read x."""
    (tmp_path / "first.yaml").write_text(
        f"title: A\n{top}controls: {{{first}}}\nrows:\n"
        f"  - {{table: {_reading(first, besides='x')}, click: {click}}}\n  - {{table: {_reading(first)}}}\n"
    )
    (tmp_path / "other.yaml").write_text(f"title: B\ncontrols: {{{other}}}\nrows:\n  - {{table: {_reading(other)}}}\n")
    return DashboardFolder(tmp_path)


def _reading(controls: str, besides: str = "") -> str:
    names = [name for name in "rntx" if f"{name}: {{" in controls and name != besides]
    clauses = [f"[[ and {name} = {{{{ params.{name} }}}} ]]" for name in names]
    if "p: {" in controls:
        clauses.append("and {{ params.p | within(d) }}")
    return f"{{sql: 'select 1 as r, 2 as n, 3 as t where true {' '.join(clauses)}'}}"


PERIOD = "p: {range: last 30 days}"


def test_a_folder_knows_what_its_clicks_keep(tmp_path: Path) -> None:
    """Of each panel, what its query reads. Red when all controls of both dashboards went along: a choice that the row
    was not filtered by made the total of the other page smaller."""
    both = f"r: {{text: }}, n: {{number: }}, x: {{text: }}, {PERIOD}"
    folder = _folder(tmp_path, both, both)
    (link,) = folder["first"].links.values()
    assert (link.kept, link.dropped, link.always) == (("n", "p", "r"), (), ())
    assert folder["other"].links == {}
    assert [*folder.findings] == []


@pytest.mark.parametrize(
    ("first", "other", "differences"),
    [
        (
            "r: {text: }, n: {number: }, t: {text: }, " + PERIOD,
            "r: {text: }, " + PERIOD,
            ["the dashboard other has no filter n, t"],
        ),
        (f"r: {{text: }}, {PERIOD}", f"r: {{text: }}, n: {{number: 5}}, {PERIOD}", []),
        ("r: {text: }, p: {range: }", f"r: {{text: }}, {PERIOD}", ["the dashboard other always filters by p"]),
        ("r: {text: }", f"r: {{text: }}, {PERIOD}", ["the dashboard other always filters by p"]),
    ],
)
def test_the_check_finds_a_link_whose_numbers_may_be_others(
    tmp_path: Path, first: str, other: str, differences: list[str]
) -> None:
    """A filter that the other dashboard lacks, and one that it has always. A default that a link can clear is neither.
    Red when only unused controls are noted."""
    messages = [note.message for _, note in _folder(tmp_path, first, other).findings if note.code == "other-numbers"]
    assert [message.partition(", so")[0] for message in messages] == differences


def test_the_check_finds_a_link_to_another_time_zone(tmp_path: Path) -> None:
    """Its days begin at other instants. Red when the zones are not compared."""
    controls = f"r: {{text: }}, {PERIOD}"
    findings = _folder(tmp_path, controls, controls, top="timezone: Asia/Tokyo\n").findings
    assert any("other has another time zone or first day of the week" in note.message for _, note in findings)


@pytest.mark.parametrize("click", ["{event: [r], filter: r}", "{event: [r], open: other}", "{}"])
def test_a_click_does_one_thing(tmp_path: Path, click: str) -> None:
    """It filters, opens, or sends an event to the host's page."""
    with pytest.raises(
        InvalidDashboards, match="a click either filters this page, opens another dashboard, or sends an event"
    ):
        _folder(tmp_path, "r: {text: }", "r: {text: }", click=click)


def test_the_columns_of_an_event_are_sent(tmp_path: Path) -> None:
    """With the named ones of the panel. Red when columns of other keys alone count as named."""
    folder = _folder(tmp_path, "r: {text: }", "r: {text: }", click="{event: [t, n]}")
    panel = folder["first"].dashboard.panel("1-1")
    assert panel is not None
    assert panel.click is not None
    assert panel.click.event == ("t", "n")
    assert [use.name for use in panel.columns if use.key == "click"] == ["t", "n"]


def test_the_unit_of_a_time_axis_is_no_filter(tmp_path: Path) -> None:
    """It changes no total. Red if ``find_link`` takes ``parameters_read`` for the filters: the demo had notes. Red if
    the page gets its control: it told viewers that what opens is also filtered by the unit."""
    unit = "u: {choices: {day: Day, month: Month}, default: day}"
    by_unit = "{sql: 'select 1 as r, {{ params.u | trunc(d) }} as u, count(*) as n from t group by 2'}"
    for name, click in (("first", ", click: {open: other, with: [r]}"), ("other", "")):
        text = f"title: A\ncontrols: {{{unit}, r: {{text: }}}}\nrows:\n  - {{table: {by_unit}{click}}}\n"
        (tmp_path / f"{name}.yaml").write_text(f"{text}  - {{table: {_reading('r: {')}}}\n")
    folder = DashboardFolder(tmp_path)
    (link,) = folder["first"].links.values()
    assert list(link.differences) == []
    assert link.kept == ("u",)
    assert [*link.controls] == ["r"]
