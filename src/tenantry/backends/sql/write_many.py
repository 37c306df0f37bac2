from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Update
from sqlalchemy.exc import IntegrityError

from tenantry.backends.audit.details import creation_details, rotation_details, update_details
from tenantry.backends.sql import rows
from tenantry.backends.sql.change_log import GroupNote, WriteContext, WriteResult, note_many
from tenantry.backends.sql.engine import every, insert_those_new
from tenantry.backends.sql.queries import LOCKED_BY_IDS
from tenantry.backends.sql.write_groups import ROTATE, UPDATE, created_values
from tenantry.backends.stored import StoredGroup, unknown_environment
from tenantry.database.tables import groups
from tenantry.errors import GroupChanged, StoreUnavailable
from tenantry.groups import Environment, GroupCreation, GroupRotation, GroupUpdate, GroupWrite, Issued, to_micros


def write_many(
    connection: Connection, context: WriteContext, environment: Environment, writes: Sequence[GroupWrite]
) -> WriteResult[list[Issued | None]]:
    """Like ``GroupStore.write_many``. Also raises StoreReplaced."""
    now = context.now(connection)
    changes = [each for each in writes if not isinstance(each, GroupCreation)]
    found = _locked(connection, environment, [each.provided_id for each in changes])
    done: dict[str, Issued] = {}
    notes: dict[str, GroupNote] = {}
    to_update: list[StoredGroup] = []
    to_rotate: list[StoredGroup] = []
    for change in changes:
        stored = found.get(change.provided_id)
        changed = None if stored is None else _changed(stored, change, now)
        if changed is None:
            continue
        done[change.provided_id] = changed.issued()
        if isinstance(change, GroupRotation):
            to_rotate.append(changed)
            details = rotation_details(changed.group)
            notes[change.provided_id] = GroupNote("group.rotated", changed.group, details, counted=True)
        elif changed is not stored:
            to_update.append(changed)
            details = update_details(change.changes)
            notes[change.provided_id] = GroupNote("group.updated", changed.group, details, counted=True)
    _save(connection, UPDATE, to_update, lambda each: rows.settable_values(each.group), now)
    _save(connection, ROTATE, to_rotate, _rotated_values, now)
    creations = {each.provided_id: each for each in writes if isinstance(each, GroupCreation)}
    for issued in _create(connection, environment, creations, now):
        provided_id = issued.group.provided_id
        done[provided_id] = issued
        details = creation_details(creations[provided_id].draft)
        notes[provided_id] = GroupNote("group.created", issued.group, details, counted=False)
    in_order = [each.provided_id for each in writes]
    counted = note_many(connection, context, [notes[each] for each in in_order if each in notes], at=now)
    return WriteResult([done.get(each) for each in in_order], counted)


def _locked(connection: Connection, environment: Environment, provided_ids: Sequence[str]) -> dict[str, StoredGroup]:
    if not provided_ids:
        return {}
    wanted = rows.dump_json(provided_ids)
    locked = every(connection, LOCKED_BY_IDS, environment_id=environment.id, provided_ids=wanted)
    return {stored.group.provided_id: stored for stored in [rows.stored_group(row[1:]) for row in locked]}


def _changed(stored: StoredGroup, change: GroupUpdate | GroupRotation, now: datetime) -> StoredGroup | None:
    if isinstance(change, GroupRotation):
        return stored.rotated_if_live(change, now)
    try:
        stored.require(change.group)
    except GroupChanged:
        return None
    return stored.updated(change.changes)


def _rotated_values(stored: StoredGroup) -> dict[str, Any]:
    return {**rows.rotated_values(stored), "revoked_viewers": rows.to_document(stored.group.revoked_viewers)}


def _save(
    connection: Connection,
    statement: Update,
    changed: Sequence[StoredGroup],
    values_of: Callable[[StoredGroup], dict[str, Any]],
    now: datetime,
) -> None:
    if not changed:
        return
    values = [
        {
            **values_of(each),
            "this_team_id": each.group.team_id,
            "new_revision": each.group.revision,
            "updated_at": to_micros(now),
        }
        for each in changed
    ]
    if connection.execute(statement, values).rowcount != len(values):
        raise StoreUnavailable("a group was changed by another writer at the same time: try again")


def _create(
    connection: Connection, environment: Environment, creations: Mapping[str, GroupCreation], now: datetime
) -> Iterable[Issued]:
    if not creations:
        return
    # Sorted by id: all writers use this order, which prevents deadlocks.
    in_order = [creations[provided_id] for provided_id in sorted(creations)]
    values = [created_values(environment, each.draft, each.token, now) for each in in_order]
    try:
        inserted = insert_those_new(connection, groups, values, groups.c.team_id, groups.c.provided_id)
    except IntegrityError as error:
        raise unknown_environment(environment) from error
    for team_id, provided_id in inserted:
        creation = creations[provided_id]
        group = creation.draft.make_group(team_id, environment, creation.token)
        yield Issued(group, creation.token, created=True)
