from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Final

from sqlalchemy import BigInteger, Connection, String, bindparam, cast, func, select, tuple_

from tenantry.backends.audit.details import pruned_details
from tenantry.backends.sql import rows
from tenantry.backends.sql.change_log import WriteContext, note
from tenantry.backends.sql.engine import count, delete_expired, first_of
from tenantry.backends.sql.part import SQLPart
from tenantry.backends.sql.queries import Query, Read
from tenantry.backends.sql.tables import usage_by_hour, usage_writers
from tenantry.backends.stored import PRUNED_AT_ONCE, USAGE_WRITER_LIFETIME
from tenantry.groups import UNNAMED, Author, Usage, UsageBatch, UsageKey, from_micros, to_micros
from tenantry.ports import UsageStore

_used = usage_by_hour.c
_whose = (_used.environment, _used.provided_id, _used.source)
_counted = (_used.resolves, _used.queries, _used.rows, _used.micros)
_usage = (
    select(*_whose, *(cast(func.sum(each), BigInteger) for each in _counted))  # sum() is numeric in PostgreSQL
    .where(_used.hour >= bindparam("since", type_=BigInteger), _used.hour < bindparam("until", type_=BigInteger))
    .group_by(*_whose)
    .order_by(*_whose)
)
_of_one = {
    "environment": _used.environment == bindparam("environment", type_=String),
    "provided_id": _used.provided_id == bindparam("provided_id", type_=String),
}
_SUMS: Final[dict[frozenset[str], Read]] = {
    frozenset(names): _usage.where(*(_of_one[name] for name in names))
    for names in ((), ("environment",), ("provided_id",), ("environment", "provided_id"))
}
"""The queries for sums, by the names of their filters."""
_OLDEST: Final[Read] = select(_used.hour).order_by(_used.hour).limit(1)
_row = tuple_(*usage_by_hour.primary_key)
_PRUNE: Final[Query] = usage_by_hour.delete().where(
    _row.in_(
        select(*usage_by_hour.primary_key)
        .where(_used.hour < bindparam("before", type_=BigInteger))
        .order_by(_used.hour)
        .limit(PRUNED_AT_ONCE)
    )
)

_CLAIM: Final = """
insert into usage_writers (writer, batch, expires_at) values ($1, $2, $3)
  on conflict (writer) do update set batch = excluded.batch, expires_at = excluded.expires_at
  where usage_writers.batch < excluded.batch returning batch
"""
"""Returns a row, unless the writer has already added this batch or a later one. A retry waits for a first attempt that
is still running."""

_REPORT_SECONDS: Final = 60.0
"""Maximum seconds for ``sums``. A day of 100,000 groups, each used in eight hours, takes 3 s."""

_COLUMNS: Final = "environment, provided_id, source, hour, resolves, queries, rows, micros"
_ADD: Final = f"""
insert into usage_by_hour ({_COLUMNS}) select {{}}
  on conflict (environment, provided_id, hour, source) do update set
  resolves = usage_by_hour.resolves + excluded.resolves, queries = usage_by_hour.queries + excluded.queries,
  rows = usage_by_hour.rows + excluded.rows, micros = usage_by_hour.micros + excluded.micros
"""

# All rows of a batch are one parameter, an array of arrays, for a single round trip.
_ADD_ON: Final = {
    "sqlite": _ADD.format(
        ", ".join(f"json_extract(value, '$[{at}]')" for at in range(8)) + " from json_each($1) where true"
    ).replace("$1", "?1"),
    "postgresql": _ADD.format(
        ", ".join(f"given ->> {at}" if at < 3 else f"(given ->> {at})::bigint" for at in range(8))
        + " from json_array_elements($1::json) as given"
    ),
}


class SQLUsage(SQLPart, UsageStore):
    async def add(self, batch: UsageBatch) -> None:
        # Sorted by key: all writers use this order, which prevents deadlocks.
        document = rows.dump_json([
            [*key, to_micros(hour), used.resolves, used.queries, used.rows, round(used.seconds * 1e6)]
            for hour, key, used in sorted(batch.rows, key=lambda row: (row.key, row.hour))
        ])  # fmt: skip

        def write(connection: Connection, context: WriteContext) -> None:
            now, dialect = context.now(connection), connection.dialect.name
            delete_expired(connection, usage_writers, now)
            claim = _CLAIM if dialect == "postgresql" else _CLAIM.replace("$", "?")
            expires_at = to_micros(now + USAGE_WRITER_LIFETIME)
            if first_of(connection, claim, (batch.writer, batch.number, expires_at)) is not None:
                first_of(connection, _ADD_ON[dialect], (document,))

        await self._write(write)

    async def sums(
        self, since: datetime, until: datetime, *, environment: str | None = None, group: str | None = None
    ) -> Mapping[UsageKey, Usage]:
        given = {"environment": environment, "provided_id": group}
        named = {name: value for name, value in given.items() if value is not None}
        found = await self._runner.read(
            _SUMS[frozenset(named)],
            self._runner.deadline(at_least=_REPORT_SECONDS),
            since=to_micros(since),
            until=to_micros(until),
            **named,
        )
        return {
            UsageKey(*key): Usage(queries_, rows_, micros / 1e6, resolves)
            for *key, resolves, queries_, rows_, micros in found
        }

    async def oldest(self) -> datetime | None:
        found = await self._read(_OLDEST)
        return from_micros(found[0][0]) if found else None

    async def prune(self, before: datetime, *, author: Author = UNNAMED) -> int:
        def write(connection: Connection, context: WriteContext) -> int:
            deleted = count(connection, _PRUNE, before=to_micros(before))
            if deleted:
                at = context.now(connection)
                note(connection, context, "usage.pruned", "", "usage", pruned_details(before, deleted), at=at)
            return deleted

        return await self._write(write, author)
