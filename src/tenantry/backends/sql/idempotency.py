"""Idempotency-Keys in SQL: the key is claimed before the write and answered after it, in the write's own transaction.

The claim comes first so that of two writers with one key the second waits at the claim, not at the group: it then
finds the answer of the first and gives it again, and nothing is rotated twice.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Text, select, tuple_, type_coerce

from tenantry.backends.answer import KEPT, Answer, check_body
from tenantry.backends.sql import rows
from tenantry.backends.sql.insert import insert_if_new
from tenantry.backends.sql.queries import GROUP_BY_HANDLE
from tenantry.backends.sql.tables import answers, from_micros, to_micros
from tenantry.backends.stored import StoredGroup
from tenantry.errors import IdempotencyInFlight
from tenantry.groups import Environment, IdempotencyKey, Issued, UserGroup

_PRUNED_AT_ONCE = 100


def answered_once(
    connection: Connection,
    environment: Environment,
    once: IdempotencyKey | None,
    now: datetime,
    write: Callable[[], Issued],
) -> Issued:
    """What ``write`` gives, or what it gave when this key was first used within 24 hours."""
    if once is None:
        return write()
    if not _claim(connection, environment, once, now):
        return _replay(connection, environment, once)
    issued = write()
    connection.execute(
        answers.update().where(_is(environment, once)).values(handle=issued.group.handle, answer=_to_document(issued))
    )
    _prune(connection, now)
    return issued


def _is(environment: Environment, once: IdempotencyKey) -> Any:
    return (answers.c.environment_id == environment.id) & (answers.c.key == once.key)


def _claim(connection: Connection, environment: Environment, once: IdempotencyKey, now: datetime) -> bool:
    connection.execute(answers.delete().where(_is(environment, once), answers.c.expires_at <= to_micros(now)))
    claim = {
        "environment_id": environment.id,
        "key": once.key,
        "body_hash": once.body_hashes[0],
        "expires_at": to_micros(now + KEPT),
    }
    return insert_if_new(connection, answers, claim) is not None


def _prune(connection: Connection, now: datetime) -> None:
    """Forgets some expired keys. Rows that another writer holds are left to it, so that no two wait for each other."""
    key = (answers.c.environment_id, answers.c.key)
    expired = (
        select(*key)
        .where(answers.c.expires_at <= to_micros(now))
        .order_by(answers.c.expires_at)
        .limit(_PRUNED_AT_ONCE)
        .with_for_update(skip_locked=True)
    )
    connection.execute(answers.delete().where(tuple_(*key).in_(expired)))


def _replay(connection: Connection, environment: Environment, once: IdempotencyKey) -> Issued:
    row = connection.execute(
        select(answers.c.body_hash, answers.c.handle, type_coerce(answers.c.answer, Text)).where(_is(environment, once))
    ).first()
    if row is None or row[1] is None:
        raise IdempotencyInFlight("the first request with this Idempotency-Key has not been answered yet: try again")
    body_hash, handle, document = row
    check_body(body_hash, once)
    found = connection.execute(GROUP_BY_HANDLE, {"handle": handle}).first()
    stored = None if found is None else rows.stored_group(found)
    return _from_document(json.loads(document), body_hash, handle, stored, environment).replay(once, stored)


def _to_document(issued: Issued) -> dict[str, Any]:
    group = issued.group
    return {
        "created": issued.created,
        "team_id": group.team_id,
        "provided_id": group.provided_id,
        "name": group.name,
        "properties": rows.to_document(group.properties),
        "mapping": rows.to_document(group.mapping),
        "token_version": group.token_version,
        "revision": group.revision,
        "grace_until": None if group.grace_until is None else to_micros(group.grace_until),
    }


def _from_document(
    fields: dict[str, Any], body_hash: bytes, handle: bytes, stored: StoredGroup | None, environment: Environment
) -> Answer:
    created, grace_until = fields.pop("created"), fields.pop("grace_until")
    group = UserGroup(
        **fields,
        environment=environment if stored is None else stored.group.environment,
        handle=handle,
        grace_until=None if grace_until is None else from_micros(grace_until),
    )
    return Answer(body_hash, group, created)
