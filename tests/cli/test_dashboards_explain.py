"""``tenantry dashboards explain`` and ``preview``: what a group sees and why, at a terminal."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.cli.conftest import Terminal
from tests.dashboards.served import flights_database, write_files

FILES = {
    "dashboards/flights.yaml": """
title: Departures of {{ carrier }}
controls:
  worst: {number: 100}
rows:
  - {figure: flights, query: key_figures}
""",
    "queries/key_figures.sql": """select count(*) as flights from flights
where carrier = {{ carrier }} and delay <= {{ params.worst }}""",
}


@pytest.fixture
def stocked(ready: Terminal, folder: Path) -> Terminal:
    """Two groups with rows in one source."""
    write_files(folder, FILES)
    ready("data-source", "create", "warehouse", "--url", flights_database(folder / "flights.db"))
    for name, carrier in (("acme", "HA"), ("globex", "UA")):
        ready("group", "create", name, "--map", "main=warehouse", "--property", f"carrier={carrier}")
    return ready


def test_explain_says_why_a_group_sees_what_it_sees(stocked: Terminal) -> None:
    """As text, as JSON, and two groups side by side; the token is nowhere."""
    token = stocked("group", "get", "acme", "--token").out.strip()
    text = stocked("dashboards", "explain", "flights", "--group", "acme", "--filter", "worst=3")
    assert 'carrier: "HA" (property carrier)' in text.out
    assert "params.worst: 3.0 (viewer)" in text.out or "params.worst: 3 (viewer)" in text.out
    found = stocked("dashboards", "explain", "flights", "--group", "acme", "--format", "json").json()
    query = found["panels"][0]["queries"][0]
    assert query["source"]["name"] == "warehouse"
    assert [each["reads"][0]["origin"] for each in query["placeholders"]] == ["property", "default"]
    both = stocked("dashboards", "explain", "flights", "--group", "acme", "--against", "globex", "--format", "json")
    assert {each["what"] for each in both.json()["differences"]} == {"text carrier", "key_figures: carrier"}
    page = stocked("dashboards", "explain", "flights", "--group", "acme", "--against", "globex", "--format", "html")
    assert page.out.startswith("<!doctype html>")
    sides = stocked("dashboards", "explain", "flights", "--group", "acme", "--against", "globex")
    assert all(each in sides.out for each in ("acme", "globex", '"HA"', '"UA"'))
    assert not any(token in each.out for each in (text, both, page, sides))


def test_preview_prints_an_address_and_is_recorded(stocked: Terminal) -> None:
    """Alone on stdout; below the app's own address if that is given. No token."""
    given = stocked("dashboards", "preview", "flights", "--group", "acme")
    assert re.fullmatch(r"/dashboards/flights#code=[\w-]{43}\n", given.out)
    mount = ("--address", "https://app.example.com/d/")
    whole = stocked("dashboards", "preview", "flights", "--group", "acme", *mount, "--json").json()
    assert whole["address"].startswith("https://app.example.com/d/flights#code=")
    made = [each for each in stocked("audit", "--json").json() if each["action"] == "preview.created"]
    assert [(each["subject"], each["details"]) for each in made] == [("acme", {"dashboard": "flights"})] * 2
    assert made[0]["author"].startswith("command line ")
    assert "[unknown_group]" in stocked("dashboards", "preview", "flights", "--group", "nobody", fails=1).err


def test_explain_names_what_is_not_there(stocked: Terminal) -> None:
    """A dashboard, a group, a filter; with the code of the error."""
    assert "did you mean flights" in stocked("dashboards", "explain", "flihgts", "--group", "acme", fails=1).err
    assert "[unknown_group]" in stocked("dashboards", "explain", "flights", "--group", "nobody", fails=1).err
    refused = stocked("dashboards", "explain", "flights", "--group", "acme", "--filter", "carrier=UA", fails=1)
    assert "[invalid_parameter]" in refused.err
