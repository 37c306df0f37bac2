"""The writes of groups: each one function on a Core connection, the same for SQLite and PostgreSQL. The caller has
begun the transaction and commits it when the function returns.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, Connection, Update, bindparam
from sqlalchemy.exc import IntegrityError

from tenantry.backends.journal import of_rotation, of_update
from tenantry.backends.sql import rows
from tenantry.backends.sql.idempotency import answered_once
from tenantry.backends.sql.insert import insert_if_new
from tenantry.backends.sql.queries import GROUP_BY_HANDLE, GROUP_BY_ID, LOCKED_BY_HANDLE, LOCKED_BY_ID
from tenantry.backends.sql.statement import count, first
from tenantry.backends.sql.tables import groups, to_micros
from tenantry.backends.sql.write_journal import Writer, Written, note, note_change
from tenantry.backends.stored import UNKNOWN_TOKEN, StoredGroup
from tenantry.errors import AlreadyExists, StoreUnavailable, UnknownEnvironment, UnknownGroup, UnknownToken
from tenantry.groups import Environment, GroupChanges, GroupDraft, IdempotencyKey, Issued, Token, UserGroup

_ATTEMPTS = 3


class HandleMoved(Exception):
    """Not an error: since its handle was looked up the group was deleted and made again. The store goes round once
    more."""


def get_or_create(
    connection: Connection,
    writer: Writer,
    environment: Environment,
    draft: GroupDraft,
    token: Token,
    once: IdempotencyKey | None,
) -> Issued:
    """Raises UnknownEnvironment, AlreadyExists (the handle), IdempotencyKeyReused, IdempotencySuperseded.

    No change: nobody can have cached anything of a group that was not there.
    """
    now = writer.now(connection)
    issued = answered_once(
        connection, environment, once, now, lambda: _get_or_create(connection, environment, draft, token, now)
    )
    if issued.created and not issued.replayed:
        note(connection, writer, "group.created", issued.group.environment.name, draft.provided_id, {}, at=now)
    return issued


def _get_or_create(
    connection: Connection, environment: Environment, draft: GroupDraft, token: Token, now: datetime
) -> Issued:
    for _ in range(_ATTEMPTS):  # more than one only when others create and delete this group at the same time
        found = _by_id(connection, environment, draft.provided_id)
        if found is not None:
            return found.issued()
        if _insert(connection, environment, draft, token, now):
            return _created(connection, environment, draft.provided_id)
        if _by_handle(connection, token.handle) is not None:
            raise AlreadyExists("another group has this handle: draw a new token")
    raise StoreUnavailable("others create and delete this group without end: try again")


def _insert(connection: Connection, environment: Environment, draft: GroupDraft, token: Token, now: datetime) -> bool:
    values = {
        "environment_id": environment.id,
        "provided_id": draft.provided_id,
        "name": draft.name,
        "properties": rows.to_document(draft.properties),
        "mapping": rows.to_document(draft.mapping),
        "handle": token.handle,
        "token_version": token.version,
        "key_id": token.key_id,
        "nonce": token.nonce,
        "revision": 1,
        "created_at": to_micros(now),
        "updated_at": to_micros(now),
    }
    try:
        return insert_if_new(connection, groups, values) is not None
    except IntegrityError as error:
        raise UnknownEnvironment(f"there is no environment {environment.name!r}: make it first") from error


def _created(connection: Connection, environment: Environment, provided_id: str) -> Issued:
    created = _by_id(connection, environment, provided_id)
    if created is None:
        raise StoreUnavailable("the group just created cannot be read: try again")
    return created.issued(created=True)


def update(
    connection: Connection,
    writer: Writer,
    environment: Environment,
    provided_id: str,
    changes: GroupChanges,
    *,
    handle: bytes,
) -> Written[Issued]:
    """Raises UnknownGroup, StoreReplaced, and HandleMoved when the group is not the one with this handle any more."""
    stored, now = _locked(connection, writer, environment, provided_id, handle)
    changed = stored.updated(changes)
    if changed is stored:
        return Written(stored.issued())
    _save(connection, _UPDATE, changed, rows.changed_values(changed), now)
    counted = note_change(connection, writer, "group.updated", changed.group, of_update(changes), at=now)
    return Written(changed.issued(), counted)


def rotate(
    connection: Connection,
    writer: Writer,
    environment: Environment,
    current: Token,
    *,
    key_id: str,
    nonce: bytes,
    grace_seconds: int | None,
    once: IdempotencyKey | None,
) -> Written[Issued]:
    """Raises UnknownToken, TokenAlreadyRotated, IdempotencyKeyReused, IdempotencySuperseded, StoreReplaced."""
    now = writer.now(connection) if once else None  # without a key the time comes with the group

    def write() -> Issued:
        nonlocal now
        row = first(connection, LOCKED_BY_HANDLE, handle=current.handle)
        if row is None:
            raise UnknownToken(UNKNOWN_TOKEN, field="/current_token")
        stored, now = rows.stored_group(row[1:]), writer.time.at(row[0])
        rotated = stored.rotated(environment, current, key_id=key_id, nonce=nonce, grace_seconds=grace_seconds, now=now)
        _save(connection, _ROTATE, rotated, rows.rotated_values(rotated), now)
        return rotated.issued()

    issued = write() if now is None else answered_once(connection, environment, once, now, write)
    if issued.replayed or now is None:
        return Written(issued)
    details = of_rotation(issued.group)
    return Written(issued, note_change(connection, writer, "group.rotated", issued.group, details, at=now))


def delete(
    connection: Connection, writer: Writer, environment: Environment, provided_id: str, *, handle: bytes
) -> Written[UserGroup]:
    """Raises UnknownGroup, StoreReplaced, and HandleMoved as ``update`` does."""
    stored, now = _locked(connection, writer, environment, provided_id, handle)
    connection.execute(groups.delete().where(groups.c.team_id == stored.group.team_id))
    return Written(stored.group, note_change(connection, writer, "group.deleted", stored.group, {}, at=now))


def _locked(
    connection: Connection, writer: Writer, environment: Environment, provided_id: str, handle: bytes
) -> tuple[StoredGroup, datetime]:
    row = first(connection, LOCKED_BY_ID, environment_id=environment.id, provided_id=provided_id)
    if row is None:
        raise UnknownGroup(f"environment {environment.name!r} has no user group with this id")
    stored = rows.stored_group(row[1:])
    if stored.group.handle != handle:
        raise HandleMoved
    return stored, writer.time.at(row[0])


def _by_id(connection: Connection, environment: Environment, provided_id: str) -> StoredGroup | None:
    row = first(connection, GROUP_BY_ID, environment_id=environment.id, provided_id=provided_id)
    return None if row is None else rows.stored_group(row)


def _by_handle(connection: Connection, handle: bytes) -> StoredGroup | None:
    row = first(connection, GROUP_BY_HANDLE, handle=handle)
    return None if row is None else rows.stored_group(row)


def _saving(*columns: str) -> Update:
    values = {name: bindparam(name, type_=groups.c[name].type) for name in (*columns, "updated_at")}
    return (
        groups.update()
        .where(groups.c.team_id == _team_id, groups.c.revision == _new_revision - 1)
        .values({**values, "revision": _new_revision})
    )


_team_id = bindparam("this_team_id", type_=BigInteger)
_new_revision = bindparam("new_revision", type_=BigInteger)
_UPDATE = _saving("name", "properties", "mapping")
_ROTATE = _saving("token_version", "key_id", "nonce", "previous_key_id", "previous_nonce", "grace_until")


def _save(
    connection: Connection, statement: Update, stored: StoredGroup, values: dict[str, Any], now: datetime
) -> None:
    """Writes a changed group. Its row is locked (FOR UPDATE, or SQLite's one writer), so nothing came between; the
    revision in the WHERE clause makes that certain instead of assumed."""
    team_id, at = stored.group.team_id, to_micros(now)
    if count(connection, statement, **values, this_team_id=team_id, updated_at=at) != 1:
        raise StoreUnavailable("the group was changed by another writer at the same moment: try again")
