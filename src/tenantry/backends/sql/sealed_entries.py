from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from sqlalchemy import Connection

from tenantry.backends.audit.chain import ChainKeys, seal_entries, write_seal
from tenantry.backends.sql import rows
from tenantry.backends.sql.engine import all_of, first_of, insert_all
from tenantry.backends.sql.rows import Row
from tenantry.database import RUN_MIGRATE
from tenantry.database.tables import audit
from tenantry.errors import MigrationNeeded, StoreUnavailable
from tenantry.groups import AuditEntry

MAX_COVERED: Final = 2_000
"""Maximum number of unsealed entries that one seal covers. If there are more, the seal covers none of them. Reading and
hashing them takes about 20 ms, during which all writers wait."""

_ATTEMPTS: Final = 3

EMPTY_GENERATION: Final = f"the table `generation` of the store is empty: {RUN_MIGRATE}"

_COLUMNS: Final = "number, at, author, request_id, action, environment, subject, details, seal"
LAST: Final = "coalesce((select seq from sqlite_sequence where name = 'audit'), 0)"
"""On SQLite: the number of the newest audit entry."""

_HEAD: Final = f"select audit_number, audit_mac, {LAST} from generation"  # noqa: S608 - of constants
NUMBERS_POSTGRESQL: Final = """array(
  select nextval(pg_get_serial_sequence('audit', 'number')) from generate_series(1, $1::int) where audit_number >= 0)"""
"""On PostgreSQL: an array of ``$1`` new numbers for audit entries. The condition on ``audit_number`` makes the subquery
run only after the row of ``generation`` is locked."""

_HEAD_POSTGRESQL: Final = f"""
select audit_number, audit_mac, {NUMBERS_POSTGRESQL}
from (select audit_number, audit_mac from generation for no key update) as locked
"""  # noqa: S608 - of constants

_UNSEALED: Final = f"select {_COLUMNS} from audit where number > ? order by number desc limit {MAX_COVERED + 1}"  # noqa: S608
_UNSEALED_POSTGRESQL: Final = _UNSEALED.replace("?", "$1::bigint")
_INSERT: Final = f"insert into audit ({_COLUMNS}) values (?, ?, ?, ?, ?, ?, ?, ?, ?)"  # noqa: S608
_SET_HEAD: Final = "update generation set audit_number = ?, audit_mac = ?"
_ADD_POSTGRESQL: Final = f"""
with added as (
  insert into audit ({_COLUMNS})
  select number, at, author, request_id, action, environment, subject, details, decode(seal, 'hex')
  from json_to_recordset($1::json) as entry(number bigint, at bigint, author text, request_id text, action text,
    environment text, subject text, details json, seal text)
  where not exists (select from audit where number > $2::bigint)
  returning number)
update generation set audit_number = $3::bigint, audit_mac = $4::bytea where exists (select from added)
returning audit_number
"""  # noqa: S608 - of constants


def add_entries(
    connection: Connection, keys: ChainKeys, entries: Sequence[AuditEntry], head: Row | None = None
) -> None:
    """Add ``entries`` with seals. This must be the last statement of a transaction. ``head``: the row of
    ``generation``, if the caller has already locked it."""
    on_postgresql = connection.dialect.name == "postgresql"
    # A writer locks the row of ``generation``, which holds the head of the chain, before it takes numbers for its
    # entries. So entries are sealed in the order of their numbers.
    if head is None:
        head = (
            first_of(connection, _HEAD_POSTGRESQL, (len(entries),))
            if on_postgresql
            else first_of(connection, _HEAD, ())
        )
    if head is None:
        raise MigrationNeeded(EMPTY_GENERATION)
    if on_postgresql:
        _add_there(connection, keys, entries, head)
    else:
        _add_to_file(connection, keys, entries, head)


def _add_to_file(connection: Connection, keys: ChainKeys, entries: Sequence[AuditEntry], row: Row) -> None:
    last = row[2]
    numbered = [replace(entry, number=last + count) for count, entry in enumerate(entries, 1)]
    unsealed = all_of(connection, _UNSEALED, (row[0],)) if last > row[0] else ()
    sealed = _seal(keys, row, unsealed, numbered)
    if len(sealed) == 1:
        values = {**_values(sealed[0]), "details": rows.dump_json(sealed[0].details)}
        first_of(connection, _INSERT, tuple(values.values()))
    else:
        insert_all(connection, audit, [_values(entry) for entry in sealed])
    first_of(connection, _SET_HEAD, _new_head(sealed))


def _add_there(connection: Connection, keys: ChainKeys, entries: Sequence[AuditEntry], row: Row) -> None:
    numbered = [replace(entry, number=number) for number, entry in zip(row[2], entries, strict=True)]
    unsealed: Sequence[Row] = ()
    for _ in range(_ATTEMPTS):
        sealed = _seal(keys, row, unsealed, numbered)
        last = unsealed[0][0] if unsealed else row[0]
        document = json.dumps([_values(entry) for entry in sealed], default=bytes.hex)
        if first_of(connection, _ADD_POSTGRESQL, (document, last, *_new_head(sealed))) is not None:
            return
        unsealed = all_of(connection, _UNSEALED_POSTGRESQL, (row[0],))  # added by a writer without keys
    raise StoreUnavailable("other writers are adding to the audit trail without locking it: try again")


def _seal(keys: ChainKeys, head: Row, unsealed: Sequence[Row], entries: Sequence[AuditEntry]) -> list[AuditEntry]:
    """Return ``entries`` with seals. ``unsealed``: newest first."""
    after = head[0]
    if len(unsealed) > MAX_COVERED:
        after, unsealed = unsealed[0][0], ()
    between = [rows.audit_entry(row) for row in reversed(unsealed)]
    return seal_entries(keys, rows.chain_head(head), after, between, entries)


def _new_head(sealed: Sequence[AuditEntry]) -> tuple[int, bytes]:
    last = sealed[-1]
    return last.number, last.seal.mac if last.seal else b""


def _values(entry: AuditEntry) -> dict[str, Any]:
    seal = None if entry.seal is None else write_seal(entry.seal)
    return {"number": entry.number, **rows.audit_columns(entry), "seal": seal}
