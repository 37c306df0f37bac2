"""Rows to records and back. A row is any sequence of values: of sqlite3, of asyncpg or of SQLAlchemy Core."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any, cast

from pydantic_core import from_json  # it shares names and short strings, so that a cached group takes less memory

from tenantry.backends.sql.tables import from_micros, to_micros
from tenantry.backends.sql.time_of_day import TimeOfDay
from tenantry.backends.sql.words import StoreIdentity
from tenantry.backends.stored import StoredGroup, is_token
from tenantry.groups import (
    ApiToken,
    AuditEntry,
    Author,
    Caller,
    Change,
    Changes,
    Environment,
    Reading,
    Record,
    RegisteredSource,
    Scope,
    Tag,
    Token,
    UserGroup,
    adopt,
    freeze,
    thaw,
)

Row = Sequence[Any]

dump_json = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode
_TAGS = {tag.value: tag for tag in Tag}
_SCOPES = {scope.value: scope for scope in Scope}


def load_record(text: str | None) -> Record | None:
    return None if text is None else cast("Record", adopt(from_json(text)))


_load_mapping = lru_cache(maxsize=4096)(load_record)  # many groups have the same one, and a Record never changes


def dump_record(value: Record | None) -> str | None:
    return None if value is None else dump_json(thaw(value))


def to_document(value: Mapping[str, Any] | Record | None) -> Any:
    """What a JSON column takes: a plain dict, or None."""
    return None if value is None else thaw(freeze(value))


@lru_cache(maxsize=1024)  # most groups that are read are of a few environments
def _environment(number: int, name: str, tag: str, external: int, grace_seconds: int) -> Environment:
    return Environment(number, name, _TAGS[tag], bool(external), grace_seconds)


def environment(row: Row) -> Environment:
    return _environment(*row)


def reading(row: Row, token: Token, time: TimeOfDay) -> Reading:
    """What ``token`` opens, by a row of LOOK: the time, the generation, and the columns of ``stored_group``.

    ``StoredGroup.read`` says the same; this is the path of a miss, and puts nothing together that it does not give.
    """
    (
        micros,
        generation,
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
    if team_id is None:
        return Reading(None, generation)
    place, until, seconds = _environment(*where), None, None
    if grace_until is not None:
        until = from_micros(grace_until)
    if not is_token(token, place.tag, key_id, version, nonce):
        if until is None or not is_token(token, place.tag, previous_key_id, version - 1, previous_nonce):
            return Reading(None, generation)
        seconds = (until - time.at(micros)).total_seconds()
        if seconds <= 0:
            return Reading(None, generation)
    if properties is not None:
        properties = adopt(from_json(properties))
    if mapping is not None:
        mapping = _load_mapping(mapping)
    group = UserGroup(team_id, provided_id, name, place, properties, mapping, handle, version, revision, until)
    return Reading(group, generation, seconds)


def stored_group(row: Row) -> StoredGroup:
    """In the order of ``queries.GROUP``: the group's columns and then its environment's."""
    team_id, provided_id, name, properties, mapping, handle, version, key_id, nonce, *rest = row
    previous_key_id, previous_nonce, grace_until, revision, *where = rest
    place = _environment(*where)
    until = None if grace_until is None else from_micros(grace_until)
    properties, mapping = load_record(properties), _load_mapping(mapping)
    group = UserGroup(team_id, provided_id, name, place, properties, mapping, handle, version, revision, until)
    previous = None
    if previous_nonce is not None:
        previous = Token(place.tag, previous_key_id, handle, version - 1, previous_nonce)
    return StoredGroup(group, Token(place.tag, key_id, handle, version, nonce), previous)


def changed_values(stored: StoredGroup) -> dict[str, Any]:
    """The columns that an update can change, as drivers take them."""
    group = stored.group
    return {
        "name": group.name,
        "properties": dump_record(group.properties),
        "mapping": dump_record(group.mapping),
        "new_revision": group.revision,
    }


def rotated_values(stored: StoredGroup) -> dict[str, Any]:
    """The columns that a rotation changes, as drivers take them."""
    group, token, previous = stored.group, stored.token, stored.previous
    return {
        "token_version": token.version,
        "key_id": token.key_id,
        "nonce": token.nonce,
        "previous_key_id": previous.key_id if previous else None,
        "previous_nonce": previous.nonce if previous else None,
        "grace_until": to_micros(group.grace_until) if group.grace_until else None,
        "new_revision": group.revision,
    }


def api_token(row: Row) -> ApiToken:
    return _api_token(*row)


@lru_cache(maxsize=1024)  # most calls are of a few callers; no secret is in the row
def _api_token(
    number: int, label: str, scopes: str, hint: str, created_at: int, revoked_at: int | None, *where: Any
) -> ApiToken:
    return ApiToken(
        id=number,
        environment=environment(where),
        label=label,
        scopes=frozenset(_SCOPES[name] for name in scopes.split()),
        hint=hint,
        created_at=from_micros(created_at),
        revoked_at=None if revoked_at is None else from_micros(revoked_at),
    )


def caller(row: Row) -> Caller:
    """By a row of CALLER: the columns of ``stored_group``, then those of the API token that are its own."""
    token = api_token((*row[_GROUP.stop :], *row[_ENVIRONMENT]))
    return Caller(token, None if row[0] is None else stored_group(row[_GROUP]).issued())


_GROUP, _ENVIRONMENT = slice(18), slice(13, 18)


def data_source(row: Row) -> RegisteredSource:
    number, provided_id, url, trusted, *where = row
    return RegisteredSource(number, provided_id, environment(where), url, bool(trusted))


def changes(rows: Sequence[Row], now: datetime) -> Changes:
    """Of CHANGES, which gives one row at least: without a change the columns of one are null."""
    store_id, generation = rows[0][1], rows[0][2]
    micros = to_micros(now)
    found = tuple(
        [
            Change(number, handle, (micros - at) / 1e6 if at < micros else 0.0)
            for _, _, _, number, handle, at, *_ in rows
            if number is not None
        ]
    )
    if found:
        return Changes(store_id, generation, found[0].generation - 1, found)
    return Changes(store_id, generation, generation)


def identity(row: Row) -> tuple[StoreIdentity, float]:
    """Of IDENTITY: which store it is, and the longest lease that anybody asked for, in seconds."""
    store_id, run_name, longest_lease = row
    return StoreIdentity(store_id, run_name), longest_lease / 1e6


def audit_entry(row: Row) -> AuditEntry:
    number, at, author, request_id, action, where, subject, details = row
    return AuditEntry(number, from_micros(at), Author(author, request_id), action, where, subject, json.loads(details))
