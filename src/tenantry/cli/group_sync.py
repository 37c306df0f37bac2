from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from typing import IO, Any, Final

import click

from tenantry.cli.data_source_changes import (
    DeclaredChange,
    check_sources,
    compare_sources,
    no_check_option,
    write_sources,
)
from tenantry.cli.field_changes import FieldChanges, changed_line, field_changes
from tenantry.cli.group_import import failure, new_provisioner
from tenantry.cli.options import (
    author,
    choose_environment,
    environment_option,
    groups_of,
    json_option,
    keys_option,
    queries_option,
    with_store,
)
from tenantry.cli.output import FAILED, print_note, printable
from tenantry.cli.progress import progress
from tenantry.errors import InvalidGroupsFile, StoreUnavailable, TenantryError, UnknownGroup
from tenantry.groups import Environment, UserGroup, thaw, write_moment
from tenantry.ports import Store
from tenantry.provisioning import Upsert, UpsertProvisioner
from tenantry.tokens import mask_within

_TOGETHER: Final = 250
"""Groups per transaction."""

_SHOWN_ABSENT: Final = 20
"""Maximum number of groups to list by id, of those that are kept although the file lacks them."""


@click.command("sync")
@click.argument("file", type=click.File("rb"), metavar="FILE")
@click.option("--dry-run", is_flag=True, help="Change nothing, but show what would change.")
@click.option("--prune", is_flag=True, help="Delete the groups that are not in FILE. The command asks you first.")
@click.option("--yes", is_flag=True, help="With --prune: delete without asking.")
@no_check_option
@queries_option
@environment_option
@keys_option
@json_option
@with_store
async def sync(
    store: Store,
    file: IO[bytes],
    dry_run: bool,
    prune: bool,
    yes: bool,
    no_check: bool,
    queries: str | None,
    environment: str | None,
    keys: str | None,
    as_json: bool,
) -> None:
    """Change the user groups and data sources of an environment to match FILE. Groups that are not in FILE are kept,
    unless you give --prune. Data sources that are not in FILE are always kept."""
    target = await choose_environment(store, environment)
    from tenantry.cli.groups_file import read_groups_file  # slow to import, and no other command on groups needs it

    wanted = read_groups_file(_text(file), file.name)
    sources = await compare_sources(store, target, wanted.sources)
    await check_sources(store, sources, keys, connect=not no_check)
    provisioner = new_provisioner(store, keys, queries, dry_run=dry_run)
    difference = await compare(store, target, wanted.groups)
    difference.sources = sources
    if not as_json:
        for line in difference.lines(prune=prune):
            click.echo(printable(mask_within(line)))
    if prune and difference.absent and not (yes or dry_run):
        question = f"Delete {len(difference.absent)} of the {difference.groups} user groups of {target.name}? "
        click.confirm(f"{question}Their dashboards stop within seconds.", abort=True, err=True)
    if not dry_run:
        await write_sources(store, sources, keys)
    failures = await _write(provisioner, target, difference)
    deleted = 0
    if prune and not dry_run and not failures:
        deleted = await _delete(store, target, difference)
    if as_json:
        document = {**difference.as_dict(), "dry_run": dry_run, "deleted": deleted}
        document["failed"] = [
            {"id": failed, "code": error.code, "message": error.public_message, "field": error.field}
            for failed, error in failures.items()
        ]
        click.echo(mask_within(json.dumps(document, ensure_ascii=False, indent=2)))
    for failed, error in failures.items():
        print_note(f"{printable(mask_within(failed))}: {failure(error)}")
    print_note(_summary(difference, failures, deleted, dry_run=dry_run, prune=prune))
    if failures:
        sys.exit(FAILED)


def _text(file: IO[bytes]) -> str:
    try:
        return file.read().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        at = error.start
    raise InvalidGroupsFile(f"{file.name} is not UTF-8 at byte {at}: save it as UTF-8")


# --- differences ------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Difference:
    create: list[Upsert] = field(default_factory=list)
    change: list[tuple[Upsert, FieldChanges]] = field(default_factory=list)
    """The groups to change. Each comes with the old and the new value of every field that changes."""
    unchanged: int = 0
    absent: list[str] = field(default_factory=list)
    """Ids of groups that are not in the file."""
    groups: int = 0
    """Number of groups in the environment."""
    sources: list[DeclaredChange] = field(default_factory=list)

    @property
    def upserts(self) -> list[Upsert]:
        return [*self.create, *(upsert for upsert, _ in self.change)]

    def lines(self, *, prune: bool) -> Iterator[str]:
        for each in self.sources:
            yield changed_line(f"data source {each.source.provided_id}", each.fields)
        for upsert in self.create:
            yield f"+ {upsert.provided_id}"
        for upsert, fields in self.change:
            yield changed_line(upsert.provided_id, fields)
        if prune:
            yield from (f"- {provided_id}" for provided_id in self.absent)
            return
        for provided_id in self.absent[:_SHOWN_ABSENT]:
            yield f"  {provided_id}  is not in the file and stays"
        if len(self.absent) > _SHOWN_ABSENT:
            yield f"  {len(self.absent) - _SHOWN_ABSENT:,} more user groups are not in the file and stay"

    def as_dict(self) -> dict[str, Any]:
        return {
            "create": [upsert.provided_id for upsert in self.create],
            "change": [{"id": upsert.provided_id, "fields": fields} for upsert, fields in self.change],
            "unchanged": self.unchanged,
            "not_in_file": self.absent,
            "data_sources": [{"id": each.source.provided_id, "fields": each.fields} for each in self.sources],
        }


async def compare(store: Store, environment: Environment, wanted: Mapping[str, Upsert]) -> Difference:
    found, seen = Difference(), set[str]()
    with progress(None, "Comparing") as advance:
        async for group in groups_of(store, environment):
            _compare(group, wanted, seen, found)
            advance(1)
    found.create = [upsert for provided_id, upsert in wanted.items() if provided_id not in seen]
    return found


def _compare(group: UserGroup, wanted: Mapping[str, Upsert], seen: set[str], found: Difference) -> None:
    found.groups += 1
    upsert = wanted.get(group.provided_id)
    if upsert is None:
        found.absent.append(group.provided_id)
        return
    seen.add(group.provided_id)
    fields = _changed_fields(group, upsert)
    if fields:
        found.change.append((upsert, fields))
    else:
        found.unchanged += 1


def _changed_fields(group: UserGroup, upsert: Upsert) -> FieldChanges:
    found: FieldChanges = {}
    for name, value in upsert.changes.differing(group).items():
        before, after = _plain(getattr(group, name)), _plain(value)
        # If `field_changes` finds nothing, only the order of the entries differs.
        found |= field_changes(name, before, after) or {name: {"from": before, "to": after}}
    return found


def _plain(value: Any) -> Any:
    return write_moment(value) if isinstance(value, datetime) else thaw(value)


# --- writes -----------------------------------------------------------------------------------------------------------


async def _write(
    provisioner: UpsertProvisioner, environment: Environment, difference: Difference
) -> dict[str, TenantryError]:
    """Create and change groups in batches. Return the errors by group id. If this raises StoreUnavailable, earlier
    batches stay written."""
    failures: dict[str, TenantryError] = {}
    upserts = difference.upserts
    with progress(len(upserts), "Writing") as advance:
        for batch in _in_batches(upserts):
            results = await provisioner.upsert_many(environment, batch, merge=False, author=author())
            for upsert, result in zip(batch, results, strict=True):
                if isinstance(result, StoreUnavailable):
                    raise result
                if isinstance(result, TenantryError):
                    failures[upsert.provided_id] = result
            advance(len(batch))
    return failures


def _in_batches(upserts: Iterable[Upsert]) -> Iterator[list[Upsert]]:
    left = iter(upserts)
    while batch := list(islice(left, _TOGETHER)):
        yield batch


async def _delete(store: Store, environment: Environment, difference: Difference) -> int:
    deleted = 0
    with progress(len(difference.absent), "Deleting") as advance:
        for provided_id in difference.absent:
            with suppress(UnknownGroup):  # already deleted
                await store.groups.delete(environment, provided_id, author=author())
                deleted += 1
            advance(1)
    return deleted


def _summary(
    difference: Difference, failures: Mapping[str, TenantryError], deleted: int, *, dry_run: bool, prune: bool
) -> str:
    created = sum(upsert.provided_id not in failures for upsert in difference.create)
    changed = len(difference.upserts) - len(failures) - created
    absent = len(difference.absent)
    parts = [
        f"{created} {'to create' if dry_run else 'created'}",
        f"{changed} {'to change' if dry_run else 'changed'}",
        f"{difference.unchanged} unchanged",
    ]
    if sources := len(difference.sources):
        done = "to change" if dry_run else "changed"
        parts.append(f"{sources} data source{'' if sources == 1 else 's'} {done}")
    if failures:
        parts.append(f"{len(failures)} failed")
    if deleted:
        parts.append(f"{deleted} deleted")
    elif absent and prune and failures:
        parts.append(f"{absent} {'not to delete' if dry_run else 'not deleted'}, because others failed")
    elif absent and prune:
        parts.append(f"{absent} {'to delete' if dry_run else 'already deleted'}")
    elif absent:
        parts.append(f"{absent} not in the file: --prune deletes them")
    return ", ".join(parts)
