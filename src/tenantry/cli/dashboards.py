from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any, Final

import click

from tenantry.cli.dashboards_explain import explain_command
from tenantry.cli.dashboards_preview import preview_command
from tenantry.cli.extras import needs
from tenantry.cli.options import (
    database_option,
    environment_option,
    port_option,
    settings,
    tables_option,
)
from tenantry.cli.output import FAILED, print_note
from tenantry.cli.shown_group import choose_group, folder_argument, shown_group_options
from tenantry.datasources import TABLES_FILE
from tenantry.errors import InvalidSettings

_NAME: Final = re.compile(r"[a-z][a-z0-9_]*")


@click.group()
def dashboards() -> None:
    """Work with dashboards as files."""


dashboards.add_command(explain_command)
dashboards.add_command(preview_command)


@dashboards.command("check")
@folder_argument
@click.option(
    "--groups",
    "with_groups",
    is_flag=True,
    help="Also check the dashboards with the store's groups and their data sources.",
)
@tables_option
@click.option(
    "--may-open",
    metavar="PROPERTY",
    help="The property that lists which dashboards a group may open, as in mount_dashboards(may_open=PROPERTY).",
)
@click.option(
    "--format",
    "style",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="Format of the findings.",
)
@environment_option
@database_option
@needs("dashboards")
def check(
    folder: Path,
    with_groups: bool,
    tables: Path | None,
    may_open: str | None,
    style: str,
    environment: str | None,
    database: str | None,
) -> None:
    """Find mistakes in the dashboards of DIR and in their queries.

    With --groups, the command looks up each variable in each group. It asks the groups' databases to explain the
    queries, if the databases can. It runs no query, except to find rows that would be drawn in the same place: in line,
    area and heat map panels, and in bar panels that have "aggregate: none". For a dashboard or panel with a condition,
    a note names a few of the groups that see it.

    The guarded tables are read from the first of these that declares any: --tables, the store's data sources (with
    --groups), and tables.yaml in DIR or next to DIR. The command exits with 1 if a finding has the severity error."""
    from tenantry.cli.dashboards_check import DashboardCheck, print_report

    checked = DashboardCheck(folder, tables, may_open)
    if with_groups:
        checked.gather(database=database, environment=environment)
    checked.use_schema(environment)
    report = checked.run()
    print_report(report, style)
    if report.errors:
        sys.exit(FAILED)


@dashboards.command("new")
@click.argument("name")
@click.option(
    "--folder",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path(),
    show_default="the current folder",
    help="Where to create dashboards/, queries/ and tables.yaml.",
)
def new(name: str, folder: Path) -> None:
    """Write a working example of a dashboard, with sample rows. The files are dashboards/NAME.yaml, queries/NAME.sql
    and, if it is missing, tables.yaml. Existing files are not overwritten."""
    if not _NAME.fullmatch(name):
        raise click.BadParameter(
            f"{name!r}: start with a lower-case letter; continue with lower-case letters, digits and _",
            param_hint="NAME",
        )
    files = {
        folder / "dashboards" / f"{name}.yaml": _DASHBOARD.replace("NAME", name),
        folder / "queries" / f"{name}.sql": _QUERY,
    }
    for file in files:
        if file.exists():
            raise InvalidSettings(f"{file} already exists: choose another name")
    if not (folder / TABLES_FILE).exists():
        files[folder / TABLES_FILE] = _TABLES
    for file, text in files.items():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        click.echo(str(file))
    print_note(f"Look at it: tenantry dashboards serve {folder / 'dashboards'}")


@dashboards.command("serve")
@folder_argument
@shown_group_options
@port_option
@needs("server", "dashboards")
def serve(folder: Path, port: int | None, **group: Any) -> None:
    """Serve the dashboards of DIR until Ctrl-C, as one user group sees them. An open page reloads when its files
    change.

    --group chooses a group from the store. Without --group, the command makes a sample group, which needs no store. The
    server listens on 127.0.0.1 only, but anyone who can reach that address sees the group's data. So use this command
    to write dashboards, not to serve customers.
    """
    from tenantry.cli.dashboards_serve import serve_folder

    serve_folder(folder, choose_group(folder, **group), settings(port=port).port)


@dashboards.command("schema")
def schema() -> None:
    """Print the JSON Schema of dashboard files, for text editors."""
    from tenantry.dashboards.definition import dashboard_schema

    click.echo(json.dumps(dashboard_schema(), indent=2))


_DASHBOARD: Final = """\
# `tenantry dashboards schema` prints the permitted fields.
title: Orders of {{ user_group.name }}
controls:
  city: {choices: [Vienna, Prague, Graz], many: true}
rows:
  - - {figure: orders, query: {sql: "select 482 as orders, 31250.5 as revenue"}, title: Orders}
    - {figure: revenue, query: {sql: "select 482 as orders, 31250.5 as revenue"}, title: Revenue, format: currency}
  - {bar: orders, by: city, query: NAME, title: Orders by city, click: {filter: city}}
  - {table: NAME, columns: [city, orders, {revenue: currency}]}
"""

_QUERY: Final = """\
-- Replace these rows with one of your tables, and add it to tables.yaml, so that each customer sees only its own rows.
select city, orders, revenue
from (
    select 'Vienna' as city, 210 as orders, 14100.0 as revenue
    union all select 'Prague', 164, 10400.5
    union all select 'Graz', 108, 6750.0
) sample
where 1 = 1 [[ and city in {{ params.city }} ]]
order by orders desc
"""
_TABLES: Final = """\
# The tables that queries may read, and how to find a customer's rows in each. Register your data source with this file
# (tenantry data-source create … --tables tables.yaml): then even unfiltered queries return only the customer's rows.
tables: {}
#  orders: customer_id                    # the column that holds the customer's id
#  order_items: {order_id: orders.id}     # through the orders that they belong to
#  countries: shared                      # every customer may read all rows
"""
