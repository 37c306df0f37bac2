"""Writes one group in the caller's transaction.

A write with an Idempotency-Key first inserts a row for the key, and later stores its response there. A second writer
with the same key waits for the first transaction, and returns the stored response."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, Connection, Text, Update, bindparam, select, type_coerce
from sqlalchemy.exc import IntegrityError

from tenantry.backends.audit.details import creation_details, rotation_details, update_details
from tenantry.backends.sql import rows
from tenantry.backends.sql.change_log import HandleChanged, WriteContext, WriteResult, note, note_change
from tenantry.backends.sql.engine import count, delete_expired, first, insert_if_new
from tenantry.backends.sql.queries import GROUP_BY_HANDLE, GROUP_BY_ID, LOCKED_BY_HANDLE, LOCKED_BY_ID
from tenantry.backends.stored import (
    IDEMPOTENCY_LIFETIME,
    UNKNOWN_TOKEN,
    StoredGroup,
    StoredResponse,
    unknown_environment,
)
from tenantry.database.tables import answers, groups, usage_by_viewer
from tenantry.errors import (
    AlreadyExists,
    IdempotencyInFlight,
    StoreUnavailable,
    UnknownGroup,
    UnknownToken,
)
from tenantry.groups import (
    CHANGEABLE_FIELDS,
    STORED_RESPONSE,
    Environment,
    GroupChanges,
    GroupDraft,
    IdempotencyKey,
    Issued,
    Token,
    UserGroup,
    to_micros,
)

_ATTEMPTS = 3


def get_or_create(
    connection: Connection,
    context: WriteContext,
    environment: Environment,
    draft: GroupDraft,
    token: Token,
    once: IdempotencyKey | None,
) -> Issued:
    now = context.now(connection)
    issued = _answered_once(
        connection, environment, once, now, lambda: _get_or_create(connection, environment, draft, token, now)
    )
    if issued.created and not issued.replayed:
        where, details = issued.group.environment.name, creation_details(draft)
        note(connection, context, "group.created", where, draft.provided_id, details, at=now)
    return issued


def _get_or_create(
    connection: Connection, environment: Environment, draft: GroupDraft, token: Token, now: datetime
) -> Issued:
    values = created_values(environment, draft, token, now)
    for _ in range(_ATTEMPTS):  # a second attempt is needed only if others create and delete this group meanwhile
        found = _by_id(connection, environment, draft.provided_id)
        if found is not None:
            return found.issued()
        try:
            inserted = insert_if_new(connection, groups, values) is not None
        except IntegrityError as error:
            raise unknown_environment(environment) from error
        if inserted:
            created = _by_id(connection, environment, draft.provided_id)
            if created is None:
                raise StoreUnavailable("the new group cannot be read back: try again")
            return created.issued(created=True)
        if first(connection, GROUP_BY_HANDLE, handle=token.handle) is not None:
            raise AlreadyExists("the new token contains the handle of another group: generate another token")
    raise StoreUnavailable("other writers keep creating and deleting this group: try again")


def created_values(environment: Environment, draft: GroupDraft, token: Token, now: datetime) -> dict[str, Any]:
    return {
        "environment_id": environment.id,
        "provided_id": draft.provided_id,
        **rows.settable_values(draft),
        "handle": token.handle,
        "token_version": token.version,
        "key_id": token.key_id,
        "nonce": token.nonce,
        "revision": 1,
        "created_at": to_micros(now),
        "updated_at": to_micros(now),
    }


def update(
    connection: Connection,
    context: WriteContext,
    environment: Environment,
    provided_id: str,
    changes: GroupChanges,
    expected: UserGroup | None,
    *,
    handle: bytes,
) -> WriteResult[Issued]:
    """Like ``GroupStore.update``. Also raises StoreReplaced, and HandleChanged if the group's handle is not
    ``handle``."""
    stored, now = _locked(connection, context, environment, provided_id, handle)
    stored.require(expected)
    changed = stored.updated(changes)
    if changed is stored:
        return WriteResult(stored.issued())
    _save(connection, UPDATE, changed, rows.changed_values(changed), now)
    counted = note_change(connection, context, "group.updated", changed.group, update_details(changes), at=now)
    return WriteResult(changed.issued(), counted)


def rotate(
    connection: Connection,
    context: WriteContext,
    environment: Environment,
    current: Token,
    *,
    key_id: str,
    nonce: bytes,
    grace_seconds: int | None,
    once: IdempotencyKey | None,
) -> WriteResult[Issued]:
    """Like ``GroupStore.rotate``. Also raises StoreReplaced."""
    now = context.now(connection) if once else None  # otherwise the time is read with the group's row

    def write() -> Issued:
        nonlocal now
        row = first(connection, LOCKED_BY_HANDLE, handle=current.handle)
        if row is None:
            raise UnknownToken(UNKNOWN_TOKEN, field="/current_token")
        stored, now = rows.stored_group(row[1:]), context.clock.at(row[0])
        rotated = stored.rotated(
            environment,
            current,
            key_id=key_id,
            nonce=nonce,
            grace_seconds=grace_seconds,
            now=now,
        )
        _save(connection, ROTATE, rotated, rows.rotated_values(rotated), now)
        return rotated.issued()

    issued = write() if now is None else _answered_once(connection, environment, once, now, write)
    if issued.replayed or now is None:
        return WriteResult(issued)
    details = rotation_details(issued.group)
    return WriteResult(issued, note_change(connection, context, "group.rotated", issued.group, details, at=now))


def delete(
    connection: Connection, context: WriteContext, environment: Environment, provided_id: str, *, handle: bytes
) -> WriteResult[UserGroup]:
    """Like ``GroupStore.delete``. Also raises StoreReplaced and HandleChanged."""
    stored, now = _locked(connection, context, environment, provided_id, handle)
    for table in (groups, usage_by_viewer):
        connection.execute(table.delete().where(table.c.team_id == stored.group.team_id))
    return WriteResult(stored.group, note_change(connection, context, "group.deleted", stored.group, {}, at=now))


def _locked(
    connection: Connection, context: WriteContext, environment: Environment, provided_id: str, handle: bytes
) -> tuple[StoredGroup, datetime]:
    row = first(connection, LOCKED_BY_ID, environment_id=environment.id, provided_id=provided_id)
    if row is None:
        raise UnknownGroup(f"environment {environment.name!r} has no user group with this id")
    stored = rows.stored_group(row[1:])
    if stored.group.handle != handle:
        raise HandleChanged
    return stored, context.clock.at(row[0])


def _by_id(connection: Connection, environment: Environment, provided_id: str) -> StoredGroup | None:
    row = first(connection, GROUP_BY_ID, environment_id=environment.id, provided_id=provided_id)
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
UPDATE: Update = _saving(*CHANGEABLE_FIELDS)
ROTATE: Update = _saving(
    "token_version", "key_id", "nonce", "previous_key_id", "previous_nonce", "grace_until", "revoked_viewers"
)


def _save(
    connection: Connection, statement: Update, stored: StoredGroup, values: dict[str, Any], now: datetime
) -> None:
    team_id, at = stored.group.team_id, to_micros(now)
    if count(connection, statement, **values, this_team_id=team_id, updated_at=at) != 1:
        raise StoreUnavailable("the group was changed by another writer at the same time: try again")


# --- Idempotency-Keys ---


def _answered_once(
    connection: Connection,
    environment: Environment,
    once: IdempotencyKey | None,
    now: datetime,
    write: Callable[[], Issued],
) -> Issued:
    if once is None:
        return write()
    connection.execute(answers.delete().where(_is(environment, once), answers.c.expires_at <= to_micros(now)))
    claim = {
        "environment_id": environment.id,
        "key": once.key,
        "body_hash": once.body_hashes[0],
        "expires_at": to_micros(now + IDEMPOTENCY_LIFETIME),
    }
    if insert_if_new(connection, answers, claim) is None:
        return _replay(connection, environment, once)
    issued = write()
    connection.execute(
        answers.update()
        .where(_is(environment, once))
        .values(handle=issued.group.handle, answer={"created": issued.created, **STORED_RESPONSE.encode(issued.group)})
    )
    delete_expired(connection, answers, now)
    return issued


def _is(environment: Environment, once: IdempotencyKey) -> Any:
    return (answers.c.environment_id == environment.id) & (answers.c.key == once.key)


def _replay(connection: Connection, environment: Environment, once: IdempotencyKey) -> Issued:
    row = connection.execute(
        select(answers.c.body_hash, answers.c.handle, type_coerce(answers.c.answer, Text)).where(_is(environment, once))
    ).first()
    if row is None or row[1] is None:
        raise IdempotencyInFlight("the first request with this Idempotency-Key has not been answered yet: try again")
    body_hash, handle, document = row
    found = connection.execute(GROUP_BY_HANDLE, {"handle": handle}).first()
    stored = None if found is None else rows.stored_group(found)
    fields = json.loads(document)
    group = STORED_RESPONSE.decode(
        fields, environment=environment if stored is None else stored.group.environment, handle=handle
    )
    return StoredResponse(body_hash, group, fields["created"]).replay(once, stored)
