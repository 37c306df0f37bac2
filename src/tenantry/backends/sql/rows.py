"""Rows to records and back. A row is any sequence of values: of sqlite3, of asyncpg or of SQLAlchemy Core."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from tenantry.backends.sql.tables import from_micros, to_micros
from tenantry.backends.stored import StoredGroup
from tenantry.groups import ApiToken, Environment, Record, RegisteredSource, Scope, Tag, Token, UserGroup, freeze, thaw

Row = Sequence[Any]

dump_json = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode
_TAGS = {tag.value: tag for tag in Tag}
_SCOPES = {scope.value: scope for scope in Scope}


def load_record(text: str | None) -> Record | None:
    return None if text is None else Record(json.loads(text))


def to_document(value: Mapping[str, Any] | Record | None) -> Any:
    """What a JSON column takes: a plain dict, or None."""
    return None if value is None else thaw(freeze(value))


def environment(row: Row) -> Environment:
    number, name, tag, external = row
    return Environment(number, name, _TAGS[tag], bool(external))


def stored_group(row: Row) -> StoredGroup:
    """In the order of ``queries.GROUP``: the group's columns and then its environment's."""
    (
        team_id,
        provided_id,
        name,
        properties,
        mapping,
        handle,
        version,
        key_id,
        nonce,
        previous_key_id,
        previous_nonce,
        grace_until,
        revision,
        *where,
    ) = row
    place = environment(where)
    group = UserGroup(
        team_id=team_id,
        provided_id=provided_id,
        name=name,
        environment=place,
        properties=load_record(properties),
        mapping=load_record(mapping),
        handle=handle,
        token_version=version,
        revision=revision,
        grace_until=None if grace_until is None else from_micros(grace_until),
    )
    previous = None
    if previous_nonce is not None:
        previous = Token(place.tag, previous_key_id, handle, version - 1, previous_nonce)
    return StoredGroup(group, Token(place.tag, key_id, handle, version, nonce), previous)


def group_values(stored: StoredGroup) -> dict[str, Any]:
    """The columns that an update or a rotation can change."""
    group, token, previous = stored.group, stored.token, stored.previous
    return {
        "name": group.name,
        "properties": to_document(group.properties),
        "mapping": to_document(group.mapping),
        "token_version": token.version,
        "key_id": token.key_id,
        "nonce": token.nonce,
        "previous_key_id": previous.key_id if previous else None,
        "previous_nonce": previous.nonce if previous else None,
        "grace_until": to_micros(group.grace_until) if group.grace_until else None,
        "revision": group.revision,
    }


def api_token(row: Row) -> ApiToken:
    number, label, scopes, hint, created_at, revoked_at, *where = row
    return ApiToken(
        id=number,
        environment=environment(where),
        label=label,
        scopes=frozenset(_SCOPES[name] for name in scopes.split()),
        hint=hint,
        created_at=from_micros(created_at),
        revoked_at=None if revoked_at is None else from_micros(revoked_at),
    )


def data_source(row: Row) -> RegisteredSource:
    number, provided_id, url, trusted, *where = row
    return RegisteredSource(number, provided_id, environment(where), url, bool(trusted))
