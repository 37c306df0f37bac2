"""Converts rows (sequences from sqlite3, psycopg or SQLAlchemy) to records, and back."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any, cast

from pydantic_core import from_json  # interns names and short strings, so cached groups take less memory

from tenantry.backends.audit.chain import NO_SEAL, read_seal
from tenantry.backends.sql.host_slots import StoreIdentity
from tenantry.backends.stored import StoreClock, StoredGroup
from tenantry.groups import (
    CHANGEABLE_FIELDS,
    JSON_COLUMNS,
    SETTABLE_FIELDS,
    TIME_COLUMNS,
    AuditEntry,
    Author,
    ChainHead,
    Change,
    Changes,
    Environment,
    EnvironmentRow,
    GroupDraft,
    GroupRow,
    LookupResult,
    Record,
    Tag,
    Token,
    UserGroup,
    adopt,
    freeze,
    from_micros,
    thaw,
    to_micros,
)

Row = Sequence[Any]

dump_json: Callable[[Any], str] = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode
_TAGS = {tag.value: tag for tag in Tag}


def load_record(text: str | None) -> Record | None:
    return None if text is None else cast("Record", adopt(from_json(text)))


_load_mapping = lru_cache(maxsize=4096)(load_record)  # many groups have equal mappings, which are immutable


def dump_record(value: Record | None) -> str | None:
    return None if value is None else dump_json(thaw(value))


def to_document(value: Mapping[str, Any] | Record | None) -> Any:
    return None if value is None else thaw(freeze(value))


@lru_cache(maxsize=1024)  # most groups belong to few environments
def _environment(*columns: Any) -> Environment:
    row = EnvironmentRow(*columns)
    return Environment(row.id, row.name, _TAGS[row.tag], bool(row.external_data_sources), row.grace_seconds)


def environment(row: Row) -> Environment:
    return _environment(*row)


def lookup_result(row: Row, token: Token, clock: StoreClock) -> LookupResult:
    if row[2] is None:
        return LookupResult(None, row[1])
    return stored_group(row[2:]).read(token, clock.at(row[0]), row[1])


def _user_group(row: GroupRow, where: Environment) -> UserGroup:
    return row.group(where, load_record(row.properties), _load_mapping(row.mapping), load_record(row.revoked_viewers))


def stored_group(row: Row) -> StoredGroup:
    found, where = GroupRow(*row[: _OWN.stop]), _environment(*row[_OWN.stop :])
    return StoredGroup(_user_group(found, where), found.token(where.tag), found.previous_token(where.tag))


_OWN = slice(len(GroupRow._fields))


def settable_values(group: GroupDraft | UserGroup) -> dict[str, Any]:
    names = SETTABLE_FIELDS if isinstance(group, GroupDraft) else CHANGEABLE_FIELDS
    return {name: _column(name, getattr(group, name), to_document) for name in names}


def changed_values(stored: StoredGroup) -> dict[str, Any]:
    values = {name: _column(name, getattr(stored.group, name), dump_record) for name in CHANGEABLE_FIELDS}
    return {**values, "new_revision": stored.group.revision}


def _column(name: str, value: Any, as_json: Callable[[Any], Any]) -> Any:
    if name in JSON_COLUMNS:
        return as_json(value)
    return to_micros(value) if name in TIME_COLUMNS and value is not None else value


def rotated_values(stored: StoredGroup) -> dict[str, Any]:
    group, token, previous = stored.group, stored.token, stored.previous
    return {
        "token_version": token.version,
        "key_id": token.key_id,
        "nonce": token.nonce,
        "previous_key_id": previous.key_id if previous else None,
        "previous_nonce": previous.nonce if previous else None,
        "grace_until": to_micros(group.grace_until) if group.grace_until else None,
        "revoked_viewers": dump_record(group.revoked_viewers),
        "new_revision": group.revision,
    }


def changes(rows: Sequence[Row], now: datetime) -> Changes:
    """Convert rows of the statement CHANGES, which returns one row with a null change if there are no changes."""
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
    store_id, run_name, longest_lease = row
    return StoreIdentity(store_id, run_name), longest_lease / 1e6


def audit_entry(row: Row) -> AuditEntry:
    """Convert a row. If a value cannot be read, return an entry with NO_SEAL, which the check of the chain reports."""
    number, at, author, request_id, action, where, subject, details, seal = row
    try:
        texts, found = (author, action, where, subject, request_id or ""), json.loads(details)
        if isinstance(found, dict) and all(isinstance(each, str) for each in (*texts, *found.values())):
            sealed = None if seal is None else read_seal(seal)
            return AuditEntry(
                number, from_micros(at), Author(author, request_id), action, where, subject, found, sealed
            )
    except (TypeError, ValueError, OverflowError, RecursionError):
        pass
    unread = "(unreadable)"
    return AuditEntry(number, from_micros(0), Author(unread), unread, unread, unread, {}, NO_SEAL)


def audit_columns(entry: AuditEntry) -> dict[str, Any]:
    return {
        "at": to_micros(entry.at),
        "author": entry.author.name,
        "request_id": entry.author.request_id,
        "action": entry.action,
        "environment": entry.environment,
        "subject": entry.subject,
        "details": entry.details,
    }


def chain_head(row: Row) -> ChainHead | None:
    number, mac = row[:2]
    return None if mac is None else ChainHead(number, bytes(mac))
