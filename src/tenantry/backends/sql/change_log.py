"""The last part of each write: it counts the change, lists it, notifies and adds an entry to the audit trail."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Generic, TypeVar

from sqlalchemy import Connection

from tenantry.backends.audit import RETAINED_CHANGES, without_tokens
from tenantry.backends.sql.engine import first, first_of
from tenantry.backends.sql.host_slots import StoreIdentity
from tenantry.backends.sql.queries import NOW
from tenantry.backends.sql.rows import Row, dump_json
from tenantry.backends.stored import StoreClock
from tenantry.database.address import RUN_MIGRATE
from tenantry.errors import MigrationNeeded
from tenantry.groups import CHANNEL, SOURCES_HANDLE, Author, RegisteredSource, UserGroup, to_micros

T = TypeVar("T")

_TRIMMED_EVERY = 1_000


@dataclass(frozen=True, slots=True)
class CountedChange:
    """The handle that a change is listed under, the generation that it made, and the longest lease (seconds) that
    anybody had asked for by then."""

    handle: bytes
    generation: int
    longest_lease: float


@dataclass(frozen=True, slots=True)
class WriteResult(Generic[T]):
    """What a write to a group or a data source gives, and how it was counted; None if it changed nothing."""

    value: T
    counted: CountedChange | None = None


@dataclass(frozen=True, slots=True)
class WriteContext:
    """Who writes (``author``), by which clock, and into which store; None for a write that concerns no cache."""

    author: Author
    clock: StoreClock
    identity: StoreIdentity | None = None

    def now(self, connection: Connection) -> datetime:
        """The time, for a write that has read nothing yet."""
        row = first(connection, NOW)
        return self.clock.at(row[0] if row else None)


class HandleChanged(Exception):
    """Not an error: since its handle was looked up the group or data source was deleted and made again. The store tries
    once more."""


class StoreReplaced(Exception):
    """Not an error: another database stands at the URL since the store's identity was read, or it has another run name.
    The write is begun again."""


_SOURCES = "select sources, store_id, run_name, longest_lease from generation"  # which a trigger has counted up
_COUNT = "update generation set number = number + 1 returning number, store_id, run_name, longest_lease"
_LIST = "insert into changes (generation, handle, written_at) values (?, ?, ?)"
_NOTE = "insert into audit (at, author, request_id, action, environment, subject, details) values (?, ?, ?, ?, ?, ?, ?)"
_TRIM = "delete from changes where generation <= {}"

# On PostgreSQL an entry's number is drawn under the lock of the generation's row, which is held to the end of the
# commit: numbers come in the order of the commits, so a reader that continues after its last one misses none.
_NOTE_THERE = _NOTE.replace(
    "values (?, ?, ?, ?, ?, ?, ?)",
    "select $1::bigint, $2, $3, $4, $5, $6, $7::json from (select from generation for no key update) as locked"
    " returning number",
)

# A change does the same, and the notice, in one round trip: the row of the generation is locked from here to the end of
# the commit, and all writers of the fleet go through it one by one.
_NOTED = _NOTE.replace("values (?, ?, ?, ?, ?, ?, ?)", "select $1, $2, $3, $4, $5, $6, $7::json from counted")
_ALL_THERE = f"""
with counted as ({_COUNT}),
  listed as (insert into changes (generation, handle, written_at) select number, $8::bytea, $1 from counted),
  noted as ({_NOTED})
select number, store_id, run_name, longest_lease,
  pg_notify('{CHANNEL}', store_id || ' ' || number || ' ' || encode($8::bytea, 'hex')) from counted
"""  # noqa: S608 - of constants; the format of the notice is that of tenantry.groups.write_notice


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
    """Adds an entry to the audit trail."""
    values = _entry(context.author, action, environment, subject, details, at)
    there = connection.dialect.name == "postgresql"
    if there and first_of(connection, _NOTE_THERE, values) is None:
        raise MigrationNeeded(f"the store has lost its generation: {RUN_MIGRATE}")
    if not there:
        first_of(connection, _NOTE, values)


def note_change(
    connection: Connection,
    context: WriteContext,
    action: str,
    group: UserGroup,
    details: Mapping[str, str],
    *,
    at: datetime,
) -> CountedChange:
    """Counts and lists a change of this group and adds its entry to the audit trail.

    The last thing in a transaction. Raises StoreReplaced.
    """
    values = _entry(context.author, action, group.environment.name, group.provided_id, details, at)
    there = connection.dialect.name == "postgresql"
    counted = first_of(connection, _ALL_THERE, (*values, group.handle)) if there else first_of(connection, _COUNT, ())
    change = _checked(connection, context, group.handle, counted)
    if not there:
        first_of(connection, _LIST, (change.generation, group.handle, to_micros(at)))
        first_of(connection, _NOTE, values)
    return change


def note_source_change(
    connection: Connection, context: WriteContext, action: str, source: RegisteredSource, *, at: datetime
) -> CountedChange:
    """The same for a write to a data source, which the database itself has counted and listed: migration 0004."""
    change = _checked(connection, context, SOURCES_HANDLE, first_of(connection, _SOURCES, ()))
    details = {"provided_id": source.provided_id}
    note(connection, context, action, source.environment.name, source.id, details, at=at)
    return change


def _checked(connection: Connection, context: WriteContext, handle: bytes, counted: Row | None) -> CountedChange:
    """The change, if it was counted in the store that it was announced for; trims the list now and then."""
    if counted is None:
        raise MigrationNeeded(f"the store has lost its generation: {RUN_MIGRATE}")
    number, store_id, run_name, longest_lease = counted[:4]
    if StoreIdentity(store_id, run_name) != context.identity:
        raise StoreReplaced
    if number % _TRIMMED_EVERY == 0:
        first_of(connection, _TRIM.format(number - RETAINED_CHANGES), ())
    return CountedChange(handle, int(number), longest_lease / 1e6)


def _entry(
    author: Author, action: str, environment: str, subject: str, details: Mapping[str, str], at: datetime
) -> tuple[object, ...]:
    author, subject, shown = without_tokens(author, subject, details)
    document = dump_json(shown)
    return to_micros(at), author.name, author.request_id, action, environment, subject, document
