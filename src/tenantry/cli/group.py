from __future__ import annotations

import sys
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

import click

from tenantry.cli.group_access import resume, suspend, viewer
from tenantry.cli.group_import import import_, new_provisioner
from tenantry.cli.group_rotate import rotate
from tenantry.cli.group_sync import sync
from tenantry.cli.moments import expires_at_option, expires_in_option, read_end
from tenantry.cli.options import (
    PAGE,
    IntRange,
    OptionDecorator,
    as_name,
    author,
    choose_environment,
    dry_run_option,
    environment_option,
    get_group,
    json_option,
    keys_option,
    note_unsealed,
    parse_json_pairs,
    parse_pairs,
    queries_option,
    with_store,
)
from tenantry.cli.output import (
    FAILED,
    RowPrinter,
    note_dry_run,
    note_end,
    print_note,
    print_record,
    print_rows,
    print_value,
    show_token,
)
from tenantry.clock import utc_now
from tenantry.errors import TenantryError
from tenantry.groups import UNCHANGED, GroupChanges, GroupDraft, UserGroup, write_moment
from tenantry.ports import Store
from tenantry.tokens import mask_within

property_option: OptionDecorator = click.option(
    "--property", "properties", multiple=True, metavar="NAME=VALUE", help="A property, as JSON or text; repeatable."
)
map_option: OptionDecorator = click.option(
    "--map", "mapping", multiple=True, metavar="SCHEMA=SOURCE", help="A schema and its data source; repeatable."
)


@click.group()
def group() -> None:
    """Show, change and delete user groups, and rotate their tokens."""


group.add_command(import_)
group.add_command(sync)
group.add_command(rotate)
group.add_command(suspend)
group.add_command(resume)
group.add_command(viewer)


@group.command("create")
@click.argument("provided_id", type=as_name, metavar="ID")
@click.option("--name", help="The group's name; default: the ID.")
@property_option
@map_option
@expires_in_option
@expires_at_option
@dry_run_option
@environment_option
@keys_option
@json_option
@with_store
async def create(
    store: Store,
    provided_id: str,
    name: str | None,
    properties: tuple[str, ...],
    mapping: tuple[str, ...],
    expires_in: timedelta | None,
    expires_at: datetime | None,
    dry_run: bool,
    environment: str | None,
    keys: str | None,
    as_json: bool,
) -> None:
    """Create a user group with the given ID and print only its token on stdout. If the group already exists, it is not
    changed, and its token is printed."""
    end = read_end(expires_in, expires_at, utc_now())
    target = await choose_environment(store, environment)
    draft = GroupDraft(
        provided_id,
        provided_id if name is None else name,
        properties=parse_json_pairs(properties, "--property") or None,
        mapping=parse_pairs(mapping, "--map") or None,
        expires_at=end,
    )
    made = await new_provisioner(store, keys, dry_run=dry_run).get_or_create(target, draft, author=author())
    show_token(made, as_json=as_json, dry_run=dry_run)
    if dry_run:
        print_note("It would be created." if made.created else "It already exists.")
    else:
        print_note("Created." if made.created else "It already existed; nothing was changed.")
    note_dry_run(dry_run)


@group.command("get")
@click.argument("provided_id", type=as_name, metavar="ID")
@click.option("--token", "token_only", is_flag=True, help="Print only the group's token.")
@environment_option
@keys_option
@json_option
@with_store
async def get(
    store: Store, provided_id: str, token_only: bool, environment: str | None, keys: str | None, as_json: bool
) -> None:
    """Show a user group without its token. With --token, print only its token."""
    target = await choose_environment(store, environment)
    if token_only:
        found = await new_provisioner(store, keys, dry_run=False).get(target, provided_id)
        if found is not None:
            show_token(found, as_json=as_json)
            return  # an unknown group is refused below
    issued = await get_group(store, target, provided_id)
    print_record(issued.group.as_dict(), as_json=as_json)


@group.command("list")
@click.option(
    "--match", type=as_name, metavar="TEXT", help="Only groups whose id starts with TEXT or whose name contains TEXT."
)
@click.option("--after", type=IntRange(0), default=0, metavar="TEAM_ID", help="Only groups with a higher team_id.")
@click.option("--limit", type=IntRange(1), metavar="N", help="At most N groups; default: all.")
@environment_option
@json_option
@with_store
async def list_(
    store: Store, match: str | None, after: int, limit: int | None, environment: str | None, as_json: bool
) -> None:
    """List the user groups of an environment without their tokens, in the order of their team_id, the number
    that Tenantry gives each new group."""
    target = await choose_environment(store, environment)
    left = sys.maxsize if limit is None else limit
    with RowPrinter(as_json=as_json) as printer:
        while left:
            page = await store.groups.list(target, after=after, limit=min(PAGE, left), match=match or "")
            if not page:
                return
            printer.add([_row(each) for each in page])
            left, after = left - len(page), page[-1].team_id
    if await store.groups.list(target, after=after, limit=1, match=match or ""):
        print_note(f"There are more: continue with --after {after}.")


@group.command("update")
@click.argument("provided_id", type=as_name, metavar="ID")
@click.option("--name", help="The new name.")
@property_option
@map_option
@click.option(
    "--unmap", multiple=True, type=as_name, metavar="SCHEMA", help="Remove a schema from the mapping; repeatable."
)
@click.option(
    "--replace",
    is_flag=True,
    help="Replace values instead of merging them: --property also removes all properties that you do not give, and "
    "--map also removes all schemas that you do not give.",
)
@expires_in_option
@expires_at_option
@click.option(
    "--clear",
    multiple=True,
    type=click.Choice(["properties", "mapping", "expires-at"]),
    help="Set this field to null; repeatable. --clear expires-at removes the end date.",
)
@click.option(
    "--dry-run",
    is_flag=True,
    help="Change nothing, but show the result. With --queries, also show the saved queries that the update "
    "would break.",
)
@queries_option
@environment_option
@keys_option
@json_option
@with_store
async def update(
    store: Store,
    provided_id: str,
    name: str | None,
    properties: tuple[str, ...],
    mapping: tuple[str, ...],
    unmap: tuple[str, ...],
    replace: bool,
    expires_in: timedelta | None,
    expires_at: datetime | None,
    clear: tuple[str, ...],
    dry_run: bool,
    queries: str | None,
    environment: str | None,
    keys: str | None,
    as_json: bool,
) -> None:
    """Update a user group.

    Fields for which you give no option keep their values. --property NAME=null removes a property.
    """
    end = read_end(expires_in, expires_at, utc_now())
    sources = _mapping_patch(mapping, unmap, replace=replace)
    for field, given in (("properties", properties), ("mapping", sources), ("expires-at", end)):
        if given and field in clear:
            raise click.UsageError(f"--clear {field} and a new {field} contradict each other: leave one out")
    target = await choose_environment(store, environment)
    changes = GroupChanges(
        name=name if name is not None else UNCHANGED,
        properties=None if "properties" in clear else parse_json_pairs(properties, "--property") or UNCHANGED,
        mapping=None if "mapping" in clear else sources or UNCHANGED,
        expires_at=None if "expires-at" in clear else end or UNCHANGED,
    )
    provisioner = new_provisioner(store, keys, queries, dry_run=dry_run, tries_queries=dry_run)
    if dry_run:
        errors = await provisioner.rehearse(target, provided_id, changes, merge=not replace)
        if errors:
            _show_errors(errors, as_json=as_json)
            note_dry_run(dry_run)
            sys.exit(FAILED)
    changed = await provisioner.update(target, provided_id, changes, merge=not replace, author=author())
    print_record(changed.group.as_dict(), as_json=as_json)
    note_end(changed.group)
    note_dry_run(dry_run)


@group.command("delete")
@click.argument("provided_id", type=as_name, metavar="ID")
@dry_run_option
@environment_option
@click.option("--yes", is_flag=True, help="Delete without asking.")
@keys_option
@json_option
@with_store
async def delete(
    store: Store, provided_id: str, dry_run: bool, environment: str | None, yes: bool, as_json: bool
) -> None:
    """Delete a user group. Its token is never accepted again. A group that you later create with the same ID is a new
    group with a new token."""
    target = await choose_environment(store, environment)
    if not (yes or dry_run):
        click.confirm(
            mask_within(f"Delete {provided_id!r} of {target.name}? Its dashboards stop within seconds."),
            abort=True,
            err=True,
        )
    if dry_run:
        from tenantry.provisioning.http import group_to_write

        gone = await group_to_write(store.groups, target, provided_id)
    else:
        gone = await store.groups.delete(target, provided_id, author=author())
    print_value(gone.provided_id, gone.as_dict(), field="provided_id", as_json=as_json)
    note_dry_run(dry_run)
    if not dry_run:
        await note_unsealed(store)


def _mapping_patch(mapping: tuple[str, ...], unmap: tuple[str, ...], *, replace: bool) -> dict[str, Any]:
    sources = parse_pairs(mapping, "--map")
    for schema, source in sources.items():
        if schema in unmap:
            raise click.UsageError(f"--unmap and --map of {schema!r} contradict each other: leave one out")
        if not source:
            fix = "leave it out" if replace else "use --unmap to remove it from the mapping"
            raise click.BadParameter(f"no data source is given for {schema!r}: {fix}", param_hint="--map")
    if unmap and replace:
        raise click.UsageError(
            "--unmap and --replace contradict each other: leave out --unmap, and give every schema to keep with --map"
        )
    return {**sources, **dict.fromkeys(unmap)}


def _show_errors(errors: Iterable[TenantryError], *, as_json: bool) -> None:
    rows = [{"code": each.code, "message": each.message} for each in errors]
    if as_json:
        print_record({"errors": rows}, as_json=True)
    else:
        print_rows(rows, as_json=False)


def _row(each: UserGroup) -> dict[str, Any]:
    return {
        "team_id": each.team_id,
        "id": each.provided_id,
        "name": each.name,
        "environment": each.environment.name,
        "token_version": each.token_version,
        "revision": each.revision,
        "expires_at": write_moment(each.expires_at),
        "suspended": each.suspended,
    }
