from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tenantry.cli.extras import needs
from tenantry.cli.options import (
    OptionDecorator,
    as_name,
    choose_environment,
    environment_option,
    get_group,
    parse_pairs,
    settings,
    with_store,
)
from tenantry.cli.output import printable
from tenantry.errors import InvalidSettings, did_you_mean
from tenantry.ports import Store
from tenantry.tokens import mask_within

if TYPE_CHECKING:
    from tenantry.dashboards import SavedDashboard

folder_option: OptionDecorator = click.option(
    "--folder",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    default="dashboards",
    show_default=True,
    envvar="TENANTRY_DASHBOARDS",
    show_envvar=True,
    help="The folder of the dashboards.",
)
group_option: OptionDecorator = click.option(
    "--group", "provided_id", type=as_name, required=True, metavar="ID", help="Explain what this user group sees."
)


def find_dashboard(folder: Path, name: str) -> SavedDashboard:
    """Return the dashboard ``name``. Raises InvalidSettings if the folder lacks it, and InvalidDashboards or
    InvalidQueries if a file has mistakes."""
    from tenantry.dashboards import DashboardFolder  # imports the YAML reader, which `--help` does not need

    dashboards = DashboardFolder(folder)
    if name not in dashboards:
        near = did_you_mean(name, dashboards)
        raise InvalidSettings(
            f"there is no dashboard {name!r} in {folder}: {near}the folder contains {', '.join(dashboards)}"
        )
    return dashboards[name]


def _filters(given: tuple[str, ...]) -> dict[str, Any]:
    found: dict[str, list[str]] = {}
    for text in given:
        for name, value in parse_pairs((text,), "--filter").items():
            found.setdefault(name, []).append(value)
    return {name: values[0] if len(values) == 1 else values for name, values in found.items()}


@click.command("explain")
@click.argument("name", metavar="NAME")
@group_option
@click.option(
    "--against", type=as_name, metavar="ID", help="A second user group, to show how it differs from the first."
)
@click.option(
    "--filter", "filters", multiple=True, metavar="NAME=VALUE", help="A filter that a viewer sets; repeatable."
)
@click.option(
    "--format",
    "style",
    type=click.Choice(["text", "json", "html"]),
    default="text",
    show_default=True,
    help="The output format.",
)
@folder_option
@environment_option
@needs("server", "dashboards")
@with_store
async def explain_command(
    store: Store,
    name: str,
    provided_id: str,
    against: str | None,
    filters: tuple[str, ...],
    style: str,
    folder: Path,
    environment: str | None,
) -> None:
    """Explain why a group sees its data in the dashboard NAME. The output shows the data source and the SQL of each
    panel, and the origin of each value in the SQL. No query is run.

    With --against, the command shows how two groups differ. With --format html, it prints a page that shows both groups
    side by side. The output contains properties of the groups.
    """
    from tenantry.dashboards.explanation import explain_dashboard
    from tenantry.datasources import DataSources

    saved = find_dashboard(folder, name)
    target = await choose_environment(store, environment)
    compared = [each for each in (provided_id, against) if each is not None]
    groups = [(await get_group(store, target, each)).group for each in compared]
    async with DataSources(store, keys=settings().keys) as sources:
        explained = [
            await explain_dashboard(saved, group, sources, filters=_filters(filters), values=True) for group in groups
        ]
    click.echo(mask_within(_written(explained, style)))


def _written(explained: list[dict[str, Any]], style: str) -> str:
    from tenantry.dashboards.explanation import (
        compare_explanations,
        comparison_text,
        explanation_page,
        explanation_text,
    )

    if style == "html":
        return explanation_page(explained)
    if style == "text":
        text = comparison_text(*explained) if len(explained) > 1 else explanation_text(*explained)
        return "\n".join(map(printable, text.splitlines()))
    document = compare_explanations(*explained) if len(explained) > 1 else explained[0]
    return json.dumps(document, ensure_ascii=False, indent=2)
