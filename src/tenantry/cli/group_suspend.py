from __future__ import annotations

import click

from tenantry.cli.options import (
    as_name,
    author,
    choose_environment,
    environment_option,
    json_option,
    note_unsealed,
    with_store,
)
from tenantry.cli.output import print_value
from tenantry.groups import GroupChanges
from tenantry.ports import Store


@click.command("suspend")
@click.argument("provided_id", type=as_name, metavar="ID")
@environment_option
@json_option
@with_store
async def suspend(store: Store, provided_id: str, environment: str | None, as_json: bool) -> None:
    """Refuse all requests of the user group with the id ID until you resume it. The group keeps its token, but
    get-or-create does not return it."""
    await _set_suspended(store, provided_id, environment, suspended=True, as_json=as_json)


@click.command("resume")
@click.argument("provided_id", type=as_name, metavar="ID")
@environment_option
@json_option
@with_store
async def resume(store: Store, provided_id: str, environment: str | None, as_json: bool) -> None:
    """Accept the requests of the user group with the id ID again, after a suspension."""
    await _set_suspended(store, provided_id, environment, suspended=False, as_json=as_json)


async def _set_suspended(
    store: Store, provided_id: str, environment: str | None, *, suspended: bool, as_json: bool
) -> None:
    target = await choose_environment(store, environment)
    changed = await store.groups.update(target, provided_id, GroupChanges(suspended=suspended), author=author())
    print_value(changed.group.provided_id, changed.group.as_dict(), field="provided_id", as_json=as_json)
    await note_unsealed(store)
