"""Finishes each write: gives it a generation, lists it, notifies other processes and adds the audit entry."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Generic, TypeVar

from sqlalchemy import Connection

from tenantry.backends.audit.chain import ChainKeys
from tenantry.backends.audit.details import without_tokens
from tenantry.backends.changes import RETAINED_CHANGES
from tenantry.backends.sql.engine import first, first_of, insert_all
from tenantry.backends.sql.host_slots import StoreIdentity
from tenantry.backends.sql.queries import NOW
from tenantry.backends.sql.rows import Row, audit_columns, dump_json
from tenantry.backends.sql.sealed_entries import EMPTY_GENERATION, LAST, NUMBERS_POSTGRESQL, add_entries
from tenantry.backends.stored import StoreClock
from tenantry.database.tables import audit
from tenantry.database.tables import changes as change_list
from tenantry.errors import MigrationNeeded
from tenantry.groups import (
    CHANNEL,
    SOURCES_HANDLE,
    AuditEntry,
    Author,
    RegisteredSource,
    UserGroup,
    to_micros,
    write_notice,
)

T = TypeVar("T")

_TRIMMED_EVERY = 1_000


@dataclass(frozen=True, slots=True)
class CountedChange:
    handle: bytes
    generation: int
    longest_lease: float
    """The longest lease of any reader of this store, in seconds."""


@dataclass(frozen=True, slots=True)
class WriteResult(Generic[T]):
    value: T
    counted: tuple[CountedChange, ...] = ()


@dataclass(frozen=True, slots=True)
class GroupNote:
    action: str
    group: UserGroup
    details: Mapping[str, str]
    counted: bool
    """Whether the write gets a generation. The creation of a group gets none, because no cache can hold a new group."""


@dataclass(frozen=True, slots=True)
class WriteContext:
    author: Author
    clock: StoreClock
    identity: StoreIdentity | None = None
    """The store in whose slots the write was announced. None if the write affects no cache."""
    keys: ChainKeys | None = None

    def now(self, connection: Connection) -> datetime:
        row = first(connection, NOW)
        return self.clock.at(row[0] if row else None)


class HandleChanged(Exception):
    """The group or data source was recreated with a new handle after the write had been announced."""


class StoreReplaced(Exception):
    """The write was announced for a store id or run name that differs from the database's."""


_SOURCES = "select sources, store_id, run_name, longest_lease from generation"  # a trigger has set ``sources``
_COUNT = "update generation set number = number + 1 returning number, store_id, run_name, longest_lease"
_COUNT_MANY = _COUNT.replace("+ 1", "+ {}")
_LOCK_POSTGRESQL = "select number from generation for no key update"
_NOTIFY_POSTGRESQL = f"select pg_notify('{CHANNEL}', value) from json_array_elements_text($1::json)"  # noqa: S608
_LIST = "insert into changes (generation, handle, written_at) values (?, ?, ?)"
_NOTE = "insert into audit (at, author, request_id, action, environment, subject, details) values (?, ?, ?, ?, ?, ?, ?)"
_TRIM = "delete from changes where generation <= {}"

# On PostgreSQL a writer first locks the row of ``generation``, then draws a number for its entry, and holds the lock
# until the commit. So entries commit in the order of their numbers, and a reader that continues after the newest number
# misses none.
_NOTE_POSTGRESQL = _NOTE.replace(
    "values (?, ?, ?, ?, ?, ?, ?)",
    "select $1::bigint, $2, $3, $4, $5, $6, $7::json from (select from generation for no key update) as locked"
    " returning number",
)

# One round trip counts and lists the change, adds the audit entry and notifies other processes. From here until the
# commit, the row of ``generation`` is locked and all other writers wait.
_NOTED = _NOTE.replace("values (?, ?, ?, ?, ?, ?, ?)", "select $1, $2, $3, $4, $5, $6, $7::json from counted")
_CHANGE_POSTGRESQL = f"""
with counted as ({_COUNT}),
  listed as (insert into changes (generation, handle, written_at) select number, $8::bytea, $1 from counted),
  noted as ({_NOTED})
select number, store_id, run_name, longest_lease,
  pg_notify('{CHANNEL}', store_id || ' ' || number || ' ' || encode($8::bytea, 'hex')) from counted
"""  # noqa: S608 - built from constants; the notice has the format of tenantry.groups.write_notice

# Like _COUNT and _CHANGE_POSTGRESQL, but without the audit entry, which ``add_entries`` seals and adds later. These
# statements also return the row that ``add_entries`` takes as ``head``.
_COUNT_SEALED = f"{_COUNT}, audit_number, audit_mac, {LAST}"
_LISTED_POSTGRESQL = f"""
with counted as ({_COUNT}, audit_number, audit_mac),
  listed as (insert into changes (generation, handle, written_at) select number, $3::bytea, $2::bigint from counted)
select number, store_id, run_name, longest_lease, audit_number, audit_mac, {NUMBERS_POSTGRESQL},
  pg_notify('{CHANNEL}', store_id || ' ' || number || ' ' || encode($3::bytea, 'hex')) from counted
"""  # noqa: S608 - of constants
_HEAD = slice(4, 7)


def note(
    connection: Connection,
    context: WriteContext,
    action: str,
    environment: str,
    subject: str,
    details: Mapping[str, str],
    *,
    at: datetime,
) -> None:
    entry = _entry(context.author, action, environment, subject, details, at)
    if context.keys is not None:
        add_entries(connection, context.keys, [entry])
        return
    values = _values(entry)
    on_postgresql = connection.dialect.name == "postgresql"
    if on_postgresql and first_of(connection, _NOTE_POSTGRESQL, values) is None:
        raise MigrationNeeded(EMPTY_GENERATION)
    if not on_postgresql:
        first_of(connection, _NOTE, values)


def note_change(
    connection: Connection,
    context: WriteContext,
    action: str,
    group: UserGroup,
    details: Mapping[str, str],
    *,
    at: datetime,
) -> tuple[CountedChange]:
    """Count, list and audit a change. Must be the last call in a transaction. Raises StoreReplaced."""
    entry = _entry(context.author, action, group.environment.name, group.provided_id, details, at)
    on_postgresql, values, keys = connection.dialect.name == "postgresql", _values(entry), context.keys
    if not on_postgresql:
        counted = first_of(connection, _COUNT if keys is None else _COUNT_SEALED, ())
    elif keys is None:
        counted = first_of(connection, _CHANGE_POSTGRESQL, (*values, group.handle))
    else:
        counted = first_of(connection, _LISTED_POSTGRESQL, (1, values[0], group.handle))
    change = _checked(connection, context, group.handle, counted)
    if not on_postgresql:
        first_of(connection, _LIST, (change.generation, group.handle, to_micros(at)))
    if keys is not None:
        add_entries(connection, keys, [entry], None if counted is None else counted[_HEAD])
    elif not on_postgresql:
        first_of(connection, _NOTE, values)
    return (change,)


def note_many(
    connection: Connection, context: WriteContext, notes: Sequence[GroupNote], *, at: datetime
) -> tuple[CountedChange, ...]:
    if not notes:
        return ()
    on_postgresql = connection.dialect.name == "postgresql"
    handles = [each.group.handle for each in notes if each.counted]
    changes: tuple[CountedChange, ...] = ()
    if handles:
        row = first_of(connection, _COUNT_MANY.format("$1::bigint" if on_postgresql else "?"), (len(handles),))
        last = _checked(connection, context, handles[-1], row, counted=len(handles))
        numbers = range(last.generation - len(handles) + 1, last.generation + 1)
        changes = tuple(
            replace(last, handle=handle, generation=number) for handle, number in zip(handles, numbers, strict=True)
        )
        insert_all(
            connection,
            change_list,
            [{"generation": each.generation, "handle": each.handle, "written_at": to_micros(at)} for each in changes],
        )
        if on_postgresql and row is not None:
            notices = [write_notice(row[1], each.generation, each.handle) for each in changes]
            first_of(connection, _NOTIFY_POSTGRESQL, (json.dumps(notices),))
    elif on_postgresql and context.keys is None and first_of(connection, _LOCK_POSTGRESQL, ()) is None:
        raise MigrationNeeded(EMPTY_GENERATION)
    entries = [_entry_of(context.author, each, at) for each in notes]
    if context.keys is None:
        insert_all(connection, audit, [audit_columns(entry) for entry in entries])
    else:
        add_entries(connection, context.keys, entries)
    return changes


def _entry_of(author: Author, note: GroupNote, at: datetime) -> AuditEntry:
    return _entry(author, note.action, note.group.environment.name, note.group.provided_id, note.details, at)


def note_source_change(
    connection: Connection,
    context: WriteContext,
    action: str,
    source: RegisteredSource,
    details: Mapping[str, str],
    *,
    at: datetime,
) -> tuple[CountedChange]:
    """Add the audit entry of a write to a data source. A trigger has already listed the write."""
    change = _checked(connection, context, SOURCES_HANDLE, first_of(connection, _SOURCES, ()))
    named = {"provided_id": source.provided_id, **details}
    note(connection, context, action, source.environment.name, source.id, named, at=at)
    return (change,)


def _checked(
    connection: Connection, context: WriteContext, handle: bytes, row: Row | None, *, counted: int = 1
) -> CountedChange:
    """Return the change whose number is in ``row``. It is the last of ``counted`` new changes. Raises StoreReplaced."""
    if row is None:
        raise MigrationNeeded(EMPTY_GENERATION)
    number, store_id, run_name, longest_lease = row[:4]
    if StoreIdentity(store_id, run_name) != context.identity:
        raise StoreReplaced
    if number % _TRIMMED_EVERY < counted:
        first_of(connection, _TRIM.format(number - RETAINED_CHANGES), ())
    return CountedChange(handle, int(number), longest_lease / 1e6)


def _entry(
    author: Author, action: str, environment: str, subject: str, details: Mapping[str, str], at: datetime
) -> AuditEntry:
    author, subject, shown = without_tokens(author, subject, details)
    return AuditEntry(0, at, author, action, environment, subject, shown)


def _values(entry: AuditEntry) -> tuple[object, ...]:
    columns = audit_columns(entry)
    return tuple({**columns, "details": dump_json(entry.details)}.values())
