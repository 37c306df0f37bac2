from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any, Final

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Connection,
    Select,
    String,
    Table,
    bindparam,
    cast,
    func,
    select,
    tuple_,
    union_all,
)

from tenantry.backends.audit.details import pruned_details, viewer_usage_details
from tenantry.backends.sql import rows
from tenantry.backends.sql.change_log import WriteContext, note
from tenantry.backends.sql.engine import count, delete_expired, first_of
from tenantry.backends.sql.part import SQLPart
from tenantry.backends.sql.queries import Query, Read
from tenantry.backends.stored import PRUNED_AT_ONCE, USAGE_WRITER_LIFETIME, unknown_environment
from tenantry.database.tables import environments, groups, usage_by_hour, usage_by_viewer, usage_writers
from tenantry.groups import UNNAMED, Author, Environment, Usage, UsageBatch, UsageKey, from_micros, to_micros
from tenantry.ports import UsageStore

_used, _viewed = usage_by_hour.c, usage_by_viewer.c
_COUNTS: Final = ("resolves", "queries", "rows", "micros")


def _sums(table: Table, time: ColumnElement[int], *whose: ColumnElement[str]) -> dict[frozenset[str], Read]:
    every = (
        select(*whose, *(cast(func.sum(table.c[each]), BigInteger) for each in _COUNTS))  # PostgreSQL's sum is numeric
        .where(time >= bindparam("since", type_=BigInteger), time < bindparam("until", type_=BigInteger))
        .group_by(*whose)
        .order_by(*whose)
    )
    if table is usage_by_viewer:
        every = every.join_from(table, groups, groups.c.team_id == table.c.team_id).join_from(groups, environments)
    filters = {
        "environment": whose[0] == bindparam("environment", type_=String),
        "provided_id": whose[1] == bindparam("provided_id", type_=String),
    }
    return {
        frozenset(names): every.where(*(filters[name] for name in names))
        for names in ((), ("environment",), ("provided_id",), ("environment", "provided_id"))
    }


_SUMS: Final = _sums(usage_by_hour, _used.hour, _used.environment, _used.provided_id, _used.source)
_VIEWER_SUMS: Final = _sums(usage_by_viewer, _viewed.day, environments.c.name, groups.c.provided_id, _viewed.viewer)
_begins = union_all(select(func.min(_used.hour).label("time")), select(func.min(_viewed.day))).subquery()
_OLDEST: Final[Read] = select(func.min(_begins.c.time))
_WITH_VIEWER_USAGE: Final[Read] = select(environments.c.name).where(environments.c.viewer_usage)


def _delete(table: Table, chosen: Select[Any]) -> Query:
    return table.delete().where(tuple_(*table.primary_key).in_(chosen.limit(PRUNED_AT_ONCE)))


def _before(table: Table, time: ColumnElement[int]) -> Select[Any]:
    return select(*table.primary_key).where(time < bindparam("before", type_=BigInteger)).order_by(time)


_PRUNE: Final[Query] = _delete(usage_by_hour, _before(usage_by_hour, _used.hour))
_PRUNE_VIEWERS: Final[Query] = _delete(usage_by_viewer, _before(usage_by_viewer, _viewed.day))
_of_group = (
    select(*usage_by_viewer.primary_key)
    .join_from(usage_by_viewer, groups, groups.c.team_id == _viewed.team_id)
    .where(groups.c.environment_id == bindparam("environment_id", type_=BigInteger))
    .where(groups.c.provided_id == bindparam("provided_id", type_=String))
)
HAS_MANY_VIEWER_ROWS: Final[Read] = _of_group.offset(PRUNED_AT_ONCE).limit(1)
DELETE_VIEWER_ROWS: Final[Query] = _delete(usage_by_viewer, _of_group)
_DAY: Final = 86_400_000_000

_CLAIM: Final = """
insert into usage_writers (writer, batch, expires_at) values (?, ?, ?)
  on conflict (writer) do update set batch = excluded.batch, expires_at = excluded.expires_at
  where usage_writers.batch < excluded.batch returning batch
"""
"""Returns a row unless the writer has already added this batch or a later one. A retry waits for a first attempt that
is still running."""
_CLAIM_POSTGRESQL: Final = _CLAIM.replace("?, ?, ?", "$1, $2, $3")

_REPORT_SECONDS: Final = 60.0
"""Maximum seconds for ``sums``."""

# All rows of a batch are one parameter, an array of arrays, for a single round trip.
_FIELDS: Final = ("environment", "provided_id", "name", "time", *_COUNTS)
_GIVEN_ON: Final = {
    "sqlite": "{} from json_each(?)".format(
        ", ".join(f"json_extract(value, '$[{at}]') as {name}" for at, name in enumerate(_FIELDS))
    ),
    "postgresql": "{} from json_array_elements($1::json) as one".format(
        ", ".join(f"(one ->> {at}){'' if at < 3 else '::bigint'} as {name}" for at, name in enumerate(_FIELDS))
    ),
}


def _add_on(table: str, key: str, rows_: str) -> dict[str, str]:
    summed = ", ".join(f"{each} = {table}.{each} + excluded.{each}" for each in _COUNTS)
    into = f"{table} ({key}, {', '.join(_COUNTS)})"
    return {
        dialect: f"with given as (select {given}) insert into {into} {rows_} on conflict ({key}) do update set {summed}"
        for dialect, given in _GIVEN_ON.items()
    }


_ADD_ON: Final = _add_on("usage_by_hour", "environment, provided_id, source, hour", "select * from given where true")
_ADD_VIEWERS_ON: Final = _add_on(
    "usage_by_viewer",
    "team_id, viewer, day",
    """
    select user_groups.team_id, given.name, given.time, given.resolves, given.queries, given.rows, given.micros
    from given
    join environments on environments.name = given.environment and environments.viewer_usage
    join user_groups on user_groups.environment_id = environments.id and user_groups.provided_id = given.provided_id
    order by 1, 2, 3
    """,
)


class SQLUsage(SQLPart, UsageStore):
    async def add(self, batch: UsageBatch) -> None:
        of_groups = rows.dump_json(_given(batch, of_viewers=False))
        of_viewers = _given(batch, of_viewers=True)

        def write(connection: Connection, context: WriteContext) -> None:
            now, dialect = context.now(connection), connection.dialect.name
            delete_expired(connection, usage_writers, now)
            claim = _CLAIM_POSTGRESQL if dialect == "postgresql" else _CLAIM
            expires_at = to_micros(now + USAGE_WRITER_LIFETIME)
            if first_of(connection, claim, (batch.writer, batch.number, expires_at)) is not None:
                first_of(connection, _ADD_ON[dialect], (of_groups,))
                if of_viewers:
                    first_of(connection, _ADD_VIEWERS_ON[dialect], (rows.dump_json(of_viewers),))

        await self._write(write)

    async def sums(
        self,
        since: datetime,
        until: datetime,
        *,
        environment: str | None = None,
        group: str | None = None,
        by_viewer: bool = False,
    ) -> Mapping[UsageKey, Usage]:
        given = {"environment": environment, "provided_id": group}
        named = {name: value for name, value in given.items() if value is not None}
        found = await self._runner.read(
            (_VIEWER_SUMS if by_viewer else _SUMS)[frozenset(named)],
            self._runner.deadline(at_least=_REPORT_SECONDS),
            since=to_micros(since),
            until=to_micros(until),
            **named,
        )
        return {
            UsageKey(where, of, *(("", name) if by_viewer else (name,))): Usage(queries_, rows_, micros / 1e6, resolves)
            for where, of, name, resolves, queries_, rows_, micros in found
        }

    async def set_viewer_usage(self, environment: Environment, is_on: bool, *, author: Author = UNNAMED) -> None:
        def write(connection: Connection, context: WriteContext) -> None:
            found = environments.update().where(
                environments.c.id == environment.id, environments.c.name == environment.name
            )
            if not connection.execute(found.values(viewer_usage=is_on)).rowcount:
                raise unknown_environment(environment)
            name, details, at = environment.name, viewer_usage_details(is_on), context.now(connection)
            note(connection, context, "environment.viewer_usage_set", name, name, details, at=at)

        await self._write(write, author)

    async def environments_with_viewer_usage(self) -> Collection[str]:
        return {name for (name,) in await self._read(_WITH_VIEWER_USAGE)}

    async def oldest(self) -> datetime | None:
        ((oldest,),) = await self._read(_OLDEST)
        return None if oldest is None else from_micros(oldest)

    async def prune(self, before: datetime, *, author: Author = UNNAMED) -> int:
        def write(connection: Connection, context: WriteContext) -> int:
            end = to_micros(before)
            deleted = count(connection, _PRUNE, before=end) + count(connection, _PRUNE_VIEWERS, before=end - end % _DAY)
            if deleted:
                at = context.now(connection)
                note(connection, context, "usage.pruned", "", "usage", pruned_details(before, deleted), at=at)
            return deleted

        return await self._write(write, author)


def _given(batch: UsageBatch, *, of_viewers: bool) -> list[list[Any]]:
    # Sorted by key: all writers use this order, which prevents deadlocks.
    chosen = sorted(
        (row for row in batch.rows if bool(row.key.viewer) is of_viewers), key=lambda row: (row.key, row.hour)
    )
    return [
        [key.environment, key.group, key.viewer or key.source, to_micros(hour), used.resolves, used.queries, used.rows,
         round(used.seconds * 1e6)]
        for hour, key, used in chosen
    ]  # fmt: skip
