"""``tenantry dashboards preview``: an address that shows a dashboard as a group sees it, once."""

from __future__ import annotations

import click

from tenantry.cli.options import (
    as_name,
    author,
    choose_environment,
    environment_option,
    json_option,
    with_store,
)
from tenantry.cli.output import print_note, print_secret
from tenantry.ports import Store


@click.command("preview")
@click.argument("name", metavar="NAME")
@click.option("--group", "provided_id", type=as_name, required=True, metavar="ID", help="The user group to be.")
@click.option(
    "--address",
    "mount",
    metavar="URL",
    default="/dashboards",
    show_default=True,
    help="Where your app serves the dashboards, as https://app.example.com/dashboards.",
)
@environment_option
@json_option
@with_store
async def preview_command(
    store: Store, name: str, provided_id: str, mount: str, environment: str | None, as_json: bool
) -> None:
    """Print an address that shows the dashboard NAME as a group sees it: once, within ten minutes, for ten minutes.

    Whoever has the address sees the group's data. Who asked, as which group and for what is in the audit trail.
    """
    from tenantry.dashboards.preview.endpoint import preview_address
    from tenantry.dashboards.preview.previews import Previews

    target = await choose_environment(store, environment)
    code = await Previews(store).issue(target, provided_id, name, author())
    record = {"dashboard": name, "group": provided_id, "environment": target.name}
    print_secret(preview_address(mount.rstrip("/"), name, code), record, field="address", as_json=as_json)
    print_note("It opens once, within ten minutes. The preview then ends after ten minutes.")
