from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from tenantry.cli.options import (
    as_name,
    author,
    choose_environment,
    environment_option,
    json_option,
    keys_option,
    note_unsealed,
    parse_json_pairs,
    with_store,
)
from tenantry.cli.output import print_note, print_secret
from tenantry.ports import Store

if TYPE_CHECKING:
    from tenantry.dashboards import Access

_ADDRESS: Final = re.compile(r"https?://[^/\s]+\S*|/(?!/)\S*", re.IGNORECASE)


def _mount(_context: click.Context, _parameter: click.Parameter, address: str) -> str:
    if not _ADDRESS.fullmatch(address):
        raise click.BadParameter(
            f"{address!r} is neither a URL nor a path: write a URL such as https://app.example.com/dashboards, or a "
            "path of your app such as /dashboards"
        )
    return address.rstrip("/")


@click.command("preview")
@click.argument("name", metavar="NAME")
@click.option(
    "--group", "provided_id", type=as_name, required=True, metavar="ID", help="Show what this user group sees."
)
@click.option("--viewer", "viewer_id", metavar="ID", help="Show what the viewer with this ID sees.")
@click.option(
    "--viewer-attribute",
    "attributes",
    multiple=True,
    metavar="NAME=VALUE",
    help="An attribute of the viewer, as JSON or text; repeatable.",
)
@click.option(
    "--address",
    "mount",
    metavar="URL",
    callback=_mount,
    default="/dashboards",
    show_default=True,
    help="Where your app serves the dashboards, such as https://app.example.com/dashboards.",
)
@click.option(
    "--folder",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    metavar="DIR",
    help="The folder of the dashboards. With it, the command refuses a NAME that is not in the folder or that "
    "the group may not open.",
)
@environment_option
@keys_option
@json_option
@with_store
async def preview_command(
    store: Store,
    name: str,
    provided_id: str,
    viewer_id: str | None,
    attributes: tuple[str, ...],
    mount: str,
    folder: Path | None,
    environment: str | None,
    as_json: bool,
) -> None:
    """Print an address that shows the dashboard NAME as a group sees it. The address can be opened once, within ten
    minutes; the preview then works for ten minutes.

    Anyone who opens the address sees the group's data. The audit trail records who created the preview, and for which
    group and dashboard.
    """
    from tenantry.dashboards.preview import Previews, preview_address

    access = None if folder is None else _access(folder, name)
    target = await choose_environment(store, environment)
    as_viewer = parse_json_pairs(attributes, "--viewer-attribute")
    if viewer_id is not None:
        as_viewer["id"] = viewer_id
    code = await Previews(store).issue(target, provided_id, name, author(), access, as_viewer=as_viewer or None)
    record = {"dashboard": name, "group": provided_id, "environment": target.name}
    print_secret(preview_address(mount, name, code), record, field="address", as_json=as_json)
    if folder is None:
        print_note(f"The dashboard {name!r} was not looked up: give the folder of the dashboards with --folder DIR.")
    print_note("The address can be opened once, within ten minutes. The preview then works for ten minutes.")
    await note_unsealed(store)


def _access(folder: Path, name: str) -> Access:
    from tenantry.dashboards import Access, DashboardFolder
    from tenantry.errors import did_you_mean

    dashboards = DashboardFolder(folder)
    if name not in dashboards:
        near = did_you_mean(name, dashboards)
        raise click.BadParameter(f"there is no dashboard {name!r} in {folder}. {near}".strip(), param_hint="NAME")
    return Access(dashboards)
