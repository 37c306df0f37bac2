from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from tenantry.cli.options import (
    F,
    OptionDecorator,
    as_name,
    database_option,
    environment_option,
    keys_option,
    parse_json_pairs,
    settings,
)

if TYPE_CHECKING:
    from tenantry.cli.dashboards_serve import OpenStore

folder_argument: OptionDecorator = click.argument(
    "folder", type=click.Path(exists=True, file_okay=False, path_type=Path), metavar="DIR"
)

_OPTIONS: list[OptionDecorator] = [
    click.option(
        "--group", "provided_id", type=as_name, metavar="ID", help="A user group of the store; default: a sample group."
    ),
    click.option(
        "--property",
        "properties",
        multiple=True,
        metavar="NAME=VALUE",
        help="A property of the sample group, as JSON or text; only without --group; repeatable.",
    ),
    click.option(
        "--source",
        metavar="URL",
        help="URL of the sample group's data source; only without --group; default: an empty database.",
    ),
    environment_option,
    database_option,
    keys_option,
]


def shown_group_options(command: F) -> F:
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def choose_group(
    folder: Path,
    *,
    provided_id: str | None,
    properties: tuple[str, ...],
    source: str | None,
    environment: str | None,
    database: str | None,
    keys: str | None,
) -> OpenStore:
    """Return a function that opens the store of the group ``provided_id``. If ``provided_id`` is None, the function
    makes a sample group with ``properties`` and ``source``. Raises click.UsageError for incorrect options,
    WrongSettings, and InvalidSource for an invalid ``source``."""
    from tenantry.cli.dashboards_serve import sample_group, stored_group
    from tenantry.datasources import missing_path

    if provided_id is None:
        if source is not None and (path := missing_path(source)) is not None:
            raise click.BadParameter(f"{path} does not exist", param_hint="--source")
        return sample_group(folder, parse_json_pairs(properties, "--property"), source)
    if properties or source is not None:
        raise click.UsageError("--property and --source are for the sample group: leave out --group")
    return stored_group(settings(database=database, keys=keys), environment, provided_id)
