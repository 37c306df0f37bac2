"""``tenantry dashboards`` and groups whose mapping lacks a schema that dashboards read."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Terminal
from tests.cli.dashboards_server import said, serving
from tests.dashboards.served import flights_database, write_files

FILES = {
    "dashboards/sales.yaml": "title: Sales\nrows: [{figure: n, query: flights}, {text: Hello}]\n",
    "dashboards/more.yaml": """title: More
schema: mian
when: {property: plan, in: [pro]}
controls: {route: {choices: {query: flights}}}
rows: [{figure: n, query: flights, schema: main}]
""",
    "queries/flights.sql": "select count(*) as n from flights [[ where route = {{ params.route }} ]]",
    "tables.yaml": "tables: {flights: shared}\n",
}
GROUPS = {"acme": ["--map", "main=warehouse"], "globex": ["--map", "main=other"], "initech": ["--property", "plan=pro"]}


@pytest.fixture
def stocked(ready: Terminal, folder: Path) -> Terminal:
    write_files(folder, FILES)
    url = flights_database(folder / "flights.db")
    for source in ("warehouse", "other"):
        ready("data-source", "create", source, "--url", url, "--tables", "tables.yaml")
    for name, options in GROUPS.items():
        ready("group", "create", name, *options)
    return ready


def test_a_check_says_which_groups_see_no_data(stocked: Terminal) -> None:
    """For each schema that one of their panels or choices reads, and nothing for a schema of dashboards that they do
    not see. Red without the check of mappings: nothing was found. A deleted data source was not found either."""
    stocked("data-source", "delete", "other", "--yes")
    checked = stocked("dashboards", "check", "dashboards", "--groups").out.splitlines()
    start, end = "mappings of groups:1:1: warning", "these groups see no data in its panels"
    unmapped = "is not mapped to a data source in 1 of 3 groups: initech"
    gone = "the schema main is mapped to other, which is not registered, in 1 of 3 groups: globex"
    fix = "Map it: tenantry group update ID --map"
    assert [line for line in checked if not line.startswith("dashboards")] == [
        f"{start} unmapped-schema: the schema main {unmapped}; {end}",
        f"    fix: {fix} main=SOURCE",
        f"{start} unregistered-source: {gone}; {end}",
        "    fix: register the data source other, or map the schema to another one",
        f"{start} unmapped-schema: the schema mian {unmapped}; {end}",
        f"    fix: did you mean main? {fix} mian=SOURCE",
    ]


def test_mappings_of_an_app_that_runs_its_own_queries_are_not_checked(ready: Terminal, folder: Path) -> None:
    """Red when each of its groups was reported."""
    write_files(folder, FILES)
    ready("environment", "create", "theirs", "--tag", "Testing", "--external-data-sources")
    ready("group", "create", "acme", "--environment", "theirs", "--map", "main=elsewhere")
    checked = ready("dashboards", "check", "dashboards", "--groups", "--environment", "theirs")
    assert "mappings of groups" not in checked.out


@pytest.mark.parametrize("command", [("dashboards", "serve"), ("edit",)])
def test_an_author_reads_that_the_group_has_no_data(stocked: Terminal, folder: Path, command: tuple[str, ...]) -> None:
    """In the terminal, at the start. Red when nothing was printed: the page only says that no data is connected."""
    with serving(folder, "--group", "initech", command=command):
        said(folder, "unmapped-schema: the schema main is not mapped", "in 1 of 1 group: initech")
