"""``tenantry dashboards`` and ``when``: a check says who sees what, and asks nothing of those who do not see it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Terminal
from tests.dashboards.served import flights_database, write_files

FILES = {
    "dashboards/sales.yaml": """title: Sales
rows:
  - {figure: n, query: flights}
  - {figure: n, query: deep, title: "For {{ manager }}", when: {property: plan, in: [pro]}}
  - {text: "{{ hint }}", when: {property: plann, in: [pro]}}
""",
    "dashboards/forecast.yaml": """title: Forecast
when: {property: plan, in: [pro, max]}
rows: [{figure: n, query: deep}]
""",
    "queries/flights.sql": "select count(*) as n from flights where carrier = {{ carrier }}",
    "queries/deep.sql": "select count(*) as n from flights where carrier = {{ carrier }} and route = {{ route }}",
    "tables.yaml": 'tables: {flights: {carrier: "{{ user_group.properties.carrier }}"}}\n',
}
GROUPS = {
    "acme": ("carrier=HA", "plan=pro", "route=A-B", "manager=Ann", "dashboards=[\"sales\"]"),
    "globex": ("carrier=UA", "plan=basic"),
    "initech": ("carrier=UA", "plan=max", "route=A-C"),
}  # fmt: skip


@pytest.fixture
def stocked(ready: Terminal, folder: Path) -> Terminal:
    write_files(folder, FILES)
    url = flights_database(folder / "flights.db")
    ready("data-source", "create", "warehouse", "--url", url, "--tables", "tables.yaml")
    for name, properties in GROUPS.items():
        words = [word for each in properties for word in ("--property", each)]
        ready("group", "create", name, "--map", "main=warehouse", *words)
    return ready


def test_a_check_says_who_sees_what(stocked: Terminal) -> None:
    """And does not ask globex for the route, the manager or the hint, which it never sees. Red when every group is
    checked for every panel, when a property that no group has goes unnoticed, and when the fix for a dashboard that the
    property of ``may_open`` hides names a line of its file."""
    *checked, fix = stocked("dashboards", "check", "dashboards", "--groups").out.splitlines()
    assert fix.startswith("    fix: did you mean plan? Give groups the property plann with a value that is listed here")
    assert checked == [
        "dashboards/forecast.yaml:2:7: note shown-to: this dashboard is shown in 2 of 3 groups: acme, initech",
        "dashboards/sales.yaml:4:64: note shown-to: this panel is shown in 1 of 3 groups: acme",
        "dashboards/sales.yaml:5:32: warning shown-to-none: no group sees this panel",
    ]
    listed = stocked("dashboards", "check", "dashboards", "--groups", "--may-open", "dashboards", "--format", "json")
    fixes = [each["fix"] for each in listed.json()["findings"] if each["file"] == "dashboards/forecast.yaml"]
    assert fixes == [
        "Add forecast to the property dashboards of a group that has one of the values listed here in the property plan"
    ]
    found = {(each["file"], each["line"]): (each["code"], each.get("named")) for each in listed.json()["findings"]}
    assert found == {
        ("dashboards/forecast.yaml", 2): ("shown-to-none", None),
        ("dashboards/sales.yaml", 1): ("shown-to", ["acme"]),
        ("dashboards/sales.yaml", 4): ("shown-to", ["acme"]),
        ("dashboards/sales.yaml", 5): ("shown-to-none", None),
    }


def test_a_check_still_asks_those_who_see_it(stocked: Terminal) -> None:
    """Red when a query of a panel with a condition is checked for no group."""
    stocked("group", "create", "hooli", "--map", "main=warehouse", "--property", "carrier=HA", "--property", "plan=max")
    checked = stocked("dashboards", "check", "dashboards", "--groups", fails=1).out
    assert "error missing-property: route is missing in 1 of 3 groups: hooli" in checked


def test_explain_says_why_a_panel_is_not_shown(stocked: Terminal) -> None:
    """As text, side by side, and as a page; a preview is refused. Red when it is explained as if it were shown."""
    text = stocked("dashboards", "explain", "sales", "--group", "globex").out
    part = text.partition("panel 2-1 (figure)\n")[2].partition("\n\n")[0]
    assert part == '  not shown: when the property plan is "pro"'
    assert 'shown: when the property plan is "pro"' in stocked("dashboards", "explain", "sales", "--group", "acme").out
    words = ("dashboards", "explain", "sales", "--group", "acme", "--against", "globex")
    differing = {(each["where"], each["what"]) for each in stocked(*words, "--format", "json").json()["differences"]}
    assert differing == {("panel 1-1", "flights: carrier"), ("panel 2-1", "shown")} | {
        ("panel 1-1", "flights: user_group.properties.carrier")
    }
    assert "not shown: when the property plan is" in stocked(*words, "--format", "html").out
    assert stocked("dashboards", "explain", "forecast", "--group", "globex").out.splitlines()[2:4] == [
        "title",
        '  not shown: when the property plan is "pro" or "max"',
    ]
    refused = stocked("dashboards", "preview", "forecast", "--group", "globex", "--folder", "dashboards", fails=1)
    assert "this user group has no such dashboard" in refused.err
    stocked("dashboards", "preview", "forecast", "--group", "acme", "--folder", "dashboards")
