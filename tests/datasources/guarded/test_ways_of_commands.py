"""Every command that runs or shows SQL for a group, on a source with guarded tables. A new command with a group is red
until it is listed."""

from __future__ import annotations

from pathlib import Path

import click
import pytest

from tenantry.cli import commands
from tests.cli.conftest import Terminal, folder, prepared, ready, terminal
from tests.dashboards.served import write_files
from tests.datasources.guarded.house import FILES
from tests.datasources.guarded.shop import shop

__all__ = ["folder", "prepared", "ready", "terminal"]

COMMANDS = {
    "dashboards check",
    "dashboards explain",
    "dashboards preview",
    "dashboards serve",
    "edit",
    "sql check",
    "sql render",
}
"""Commands that take a group, or groups, and queries. ``preview``: its session is above. ``serve``: below.
``edit``: tests/editor."""
WITHOUT_SQL = {"group create", "group delete", "group get", "group rotate", "group update", "usage"}
WITHOUT_SQL |= {"group resume", "group suspend", "group viewer revoke"}
GROUP_OPTIONS = {"provided_id", "group", "with_groups", "access_group"}
OF_OTHER_THINGS = {"data-source create", "move explo"}
"""Their option of such a name is no group that runs a query."""


def test_every_command_that_takes_a_group_is_listed() -> None:
    found = {path for path, command in _commands(commands) if GROUP_OPTIONS & {each.name for each in command.params}}
    assert found - OF_OTHER_THINGS == COMMANDS | WITHOUT_SQL


def _commands(group: click.Group, path: str = "") -> list[tuple[str, click.Command]]:
    context, found = click.Context(group), []
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            found += _commands(command, f"{path}{name} ")
        elif isinstance(command, click.Command):
            found.append((f"{path}{name}", command))
    return found


@pytest.fixture
def stocked(ready: Terminal, folder: Path) -> Terminal:
    write_files(folder, FILES)
    ready("data-source", "create", "warehouse", "--url", shop(folder / "shop.db"), "--tables", "tables.yaml")
    for name in ("acme", "globex"):
        ready("group", "create", name, "--map", "main=warehouse")
    return ready


def test_the_commands_show_what_replaces_a_table(stocked: Terminal) -> None:
    """Red when ``sql render`` did not find the declaration next to the queries."""
    rendered = stocked("sql", "render", "queries/orders.sql", "--group", "acme", "--dialect", "sqlite").out
    assert rendered.startswith("select id, owner from (select * from orders where ? = orders.owner")
    assert '-- 1: "acme"' in rendered
    assert "-- table orders (line 1, column 23): only rows where {{ user_group.id }} = orders.owner and" in rendered
    as_json = stocked("sql", "render", "queries/orders.sql", "--group", "acme", "--tables", "tables.yaml", "--json")
    assert as_json.json()["guards"][0]["table"] == "orders"
    text = stocked("dashboards", "explain", "orders", "--group", "acme").out
    assert text.count("table orders (line 1, column ") == 5
    assert "from (select * from orders where ? = orders.owner" in text
    page = stocked("dashboards", "explain", "orders", "--group", "acme", "--against", "globex", "--format", "html")
    assert "only rows where {{ user_group.id }} = orders.owner and" in page.out


def test_the_check_explains_guarded_queries(stocked: Terminal, folder: Path) -> None:
    """The engine explains each query as it would run. Red when ``explain_query`` traced the author's template: a query
    of a table that is not declared was explained."""
    document = stocked("dashboards", "check", "dashboards", "--groups", "--format", "json").json()
    assert (document["explained"], document["findings"]) == (4, [])
    (folder / "queries/total.sql").write_text("select count(*) as total from sqlite_schema")
    document = stocked("dashboards", "check", "dashboards", "--groups", "--format", "json", fails=1).json()
    found = [each["file"] for each in document["findings"] if "sqlite_schema" in each["message"]]
    assert found == ["queries/total.sql"]


def test_the_check_asks_a_group_that_has_the_properties_of_the_guards(stocked: Terminal, folder: Path) -> None:
    """Red when the check looked for a group by the author's template: acme's queries had no value for the guard."""
    (folder / "tables.yaml").write_text("tables: {orders: {owner: '{{ user_group.properties.erp }}'}}")
    stocked("data-source", "update", "warehouse", "--tables", "tables.yaml")
    stocked("group", "update", "globex", "--property", "erp=globex")
    document = stocked("dashboards", "check", "dashboards", "--groups", "--format", "json", fails=1).json()
    found = {(each["code"], *each["named"]) for each in document["findings"]}
    assert (document["explained"], found) == (4, {("missing-property", "acme")})
