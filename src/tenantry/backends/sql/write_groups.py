"""The writes of groups: each one function on a Core connection, the same for SQLite and PostgreSQL. The caller has
begun the transaction and commits it when the function returns.
"""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Connection
from sqlalchemy.exc import IntegrityError

from tenantry.backends.sql import rows
from tenantry.backends.sql.idempotency import answered_once
from tenantry.backends.sql.insert import insert_if_new
from tenantry.backends.sql.queries import GROUP_BY_HANDLE, GROUP_BY_ID
from tenantry.backends.sql.tables import groups, to_micros
from tenantry.backends.stored import UNKNOWN_TOKEN, StoredGroup
from tenantry.errors import AlreadyExists, StoreUnavailable, UnknownEnvironment, UnknownGroup, UnknownToken
from tenantry.groups import Environment, GroupChanges, GroupDraft, Issued, Once, Token, UserGroup

_ATTEMPTS = 3


class HandleMoved(Exception):
    """Not an error: since its handle was looked up the group was deleted and made again. The store goes round once
    more."""


def get_or_create(
    connection: Connection,
    environment: Environment,
    draft: GroupDraft,
    token: Token,
    *,
    once: Once | None,
    now: datetime,
) -> Issued:
    """Raises UnknownEnvironment, AlreadyExists (the handle), IdempotencyKeyReused, IdempotencySuperseded."""
    return answered_once(
        connection, environment, once, now, lambda: _get_or_create(connection, environment, draft, token, now)
    )


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
    environment: Environment,
    provided_id: str,
    changes: GroupChanges,
    *,
    handle: bytes,
    now: datetime,
) -> Issued:
    """Raises UnknownGroup, and HandleMoved when the group is not the one with this handle any more."""
    stored = _expected(connection, environment, provided_id, handle)
    changed = stored.updated(changes)
    if changed is not stored:
        _save(connection, changed, now)
    return changed.issued()


def rotate(
    connection: Connection,
    environment: Environment,
    current: Token,
    *,
    key_id: str,
    nonce: bytes,
    grace_seconds: int,
    once: Once | None,
    now: datetime,
) -> Issued:
    """Raises UnknownToken, TokenAlreadyRotated, IdempotencyKeyReused, IdempotencySuperseded."""

    def write() -> Issued:
        stored = _by_handle(connection, current.handle, lock=True)
        if stored is None:
            raise UnknownToken(UNKNOWN_TOKEN, field="/current_token")
        rotated = stored.rotated(environment, current, key_id=key_id, nonce=nonce, grace_seconds=grace_seconds, now=now)
        _save(connection, rotated, now)
        return rotated.issued()

    return answered_once(connection, environment, once, now, write)


def delete(connection: Connection, environment: Environment, provided_id: str, *, handle: bytes) -> UserGroup:
    """Raises UnknownGroup, and HandleMoved as ``update`` does."""
    stored = _expected(connection, environment, provided_id, handle)
    connection.execute(groups.delete().where(groups.c.team_id == stored.group.team_id))
    return stored.group


def _expected(connection: Connection, environment: Environment, provided_id: str, handle: bytes) -> StoredGroup:
    stored = _by_id(connection, environment, provided_id, lock=True)
    if stored is None:
        raise UnknownGroup(f"environment {environment.name!r} has no user group with this id")
    if stored.group.handle != handle:
        raise HandleMoved
    return stored


def _by_id(
    connection: Connection, environment: Environment, provided_id: str, *, lock: bool = False
) -> StoredGroup | None:
    query = GROUP_BY_ID.with_for_update(of=groups) if lock else GROUP_BY_ID
    row = connection.execute(query, {"environment_id": environment.id, "provided_id": provided_id}).first()
    return None if row is None else rows.stored_group(row)


def _by_handle(connection: Connection, handle: bytes, *, lock: bool = False) -> StoredGroup | None:
    query = GROUP_BY_HANDLE.with_for_update(of=groups) if lock else GROUP_BY_HANDLE
    row = connection.execute(query, {"handle": handle}).first()
    return None if row is None else rows.stored_group(row)


def _save(connection: Connection, stored: StoredGroup, now: datetime) -> None:
    """Writes a changed group. Its row is locked (FOR UPDATE, or SQLite's one writer), so nothing came between; the
    revision in the WHERE clause makes that certain instead of assumed."""
    result = connection.execute(
        groups.update()
        .where(groups.c.team_id == stored.group.team_id, groups.c.revision == stored.group.revision - 1)
        .values(**rows.group_values(stored), updated_at=to_micros(now))
    )
    if result.rowcount != 1:
        raise StoreUnavailable("the group was changed by another writer at the same moment: try again")
