from __future__ import annotations

from datetime import UTC, datetime

import click

from tenantry.cli.group_import import new_provisioner
from tenantry.cli.options import (
    as_name,
    author,
    choose_environment,
    dry_run_option,
    environment_option,
    json_option,
    keys_option,
    note_unsealed,
    with_store,
)
from tenantry.cli.output import note_dry_run, print_value
from tenantry.groups import GroupChanges, write_moment
from tenantry.ports import Store


@click.command("suspend")
@click.argument("provided_id", type=as_name, metavar="ID")
@dry_run_option
@environment_option
@keys_option
@json_option
@with_store
async def suspend(store: Store, provided_id: str, dry_run: bool, environment: str | None, as_json: bool) -> None:
    """Refuse all requests of a user group until you resume it. The group keeps its token. While it is suspended,
    `create`, `rotate` and `get --token` fail."""
    await _set_suspended(store, provided_id, environment, suspended=True, dry_run=dry_run, as_json=as_json)


@click.command("resume")
@click.argument("provided_id", type=as_name, metavar="ID")
@dry_run_option
@environment_option
@keys_option
@json_option
@with_store
async def resume(store: Store, provided_id: str, dry_run: bool, environment: str | None, as_json: bool) -> None:
    """End the suspension of a user group: its requests are accepted again."""
    await _set_suspended(store, provided_id, environment, suspended=False, dry_run=dry_run, as_json=as_json)


async def _set_suspended(
    store: Store, provided_id: str, environment: str | None, *, suspended: bool, dry_run: bool, as_json: bool
) -> None:
    target = await choose_environment(store, environment)
    changes = GroupChanges(suspended=suspended)
    if dry_run:
        from tenantry.provisioning.http import group_to_write

        changed = await group_to_write(store.groups, target, provided_id, changes)
    else:
        changed = (await store.groups.update(target, provided_id, changes, author=author())).group
    print_value(changed.provided_id, changed.as_dict(), field="provided_id", as_json=as_json)
    note_dry_run(dry_run)
    if not dry_run:
        await note_unsealed(store)


@click.group("viewer")
def viewer() -> None:
    """Revoke the passes of one viewer of a user group."""


@viewer.command("revoke")
@click.argument("provided_id", type=as_name, metavar="ID")
@click.argument("viewer_id", type=as_name, metavar="VIEWER")
@dry_run_option
@environment_option
@keys_option
@json_option
@with_store
async def revoke_viewer(
    store: Store,
    provided_id: str,
    viewer_id: str,
    dry_run: bool,
    environment: str | None,
    keys: str | None,
    as_json: bool,
) -> None:
    """Revoke all passes of one viewer of a user group. Passes that are issued from the next second on are
    accepted."""
    target = await choose_environment(store, environment)
    provisioner = new_provisioner(store, keys, dry_run=dry_run)
    changed = await provisioner.revoke_viewer(target, provided_id, viewer_id, author=author())
    before = datetime.fromtimestamp(changed.revoked_before(viewer_id), UTC)
    row = {"provided_id": provided_id, "viewer_id": viewer_id, "revoked_before": write_moment(before)}
    print_value(viewer_id, row, field="viewer_id", as_json=as_json)
    note_dry_run(dry_run)
    if not dry_run:
        await note_unsealed(store)
