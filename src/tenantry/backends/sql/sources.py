from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

from sqlalchemy import BigInteger, Connection, String, Text, and_, bindparam, case, cast, func, or_, select
from sqlalchemy.exc import IntegrityError

from tenantry.backends.audit.details import source_update_details, table_changes
from tenantry.backends.source_changes import changed_source, created_source, name_taken
from tenantry.backends.sql import rows
from tenantry.backends.sql.change_log import HandleChanged, WriteContext, WriteResult, note_source_change
from tenantry.backends.sql.engine import remaining
from tenantry.backends.sql.part import SQLPart, insert_into_environment
from tenantry.backends.sql.queries import ENVIRONMENT_COLUMNS, Read
from tenantry.backends.sql.rows import Row
from tenantry.backends.sql.sealed_entries import EMPTY_GENERATION
from tenantry.backends.stored import LentSourceCache, references_of
from tenantry.database import check_source
from tenantry.database.tables import data_sources, environments, generation, groups
from tenantry.errors import MigrationNeeded, StoreUnavailable, UnknownDataSource
from tenantry.groups import (
    UNNAMED,
    Author,
    Environment,
    RegisteredSource,
    SessionVariables,
    SourceDraft,
    SourceLookupResult,
    SourceUpdate,
    to_micros,
)
from tenantry.ports import SourceStore

_ATTEMPTS: Final = 3

_columns = data_sources.c
_COLUMNS: Final = (
    _columns.id,
    _columns.provided_id,
    _columns.url,
    _columns.trusted,
    _columns.session,
    _columns.tables,
    *ENVIRONMENT_COLUMNS,
)
_reference = bindparam("reference", type_=String)
_in_environment = _columns.environment_id == bindparam("environment_id", type_=BigInteger)
_is_named = or_(_columns.id == _reference, _columns.provided_id == _reference)
_own_id_first = case((_columns.id == _reference, 0), else_=1)
_all = select(*_COLUMNS).join_from(data_sources, environments)

_OF_ENVIRONMENT: Final[Read] = _all.where(_in_environment).order_by(_columns.provided_id)
_BY_REFERENCE: Final[Read] = _all.where(_in_environment, _is_named).order_by(_own_id_first)
# Always returns a row.
_AT_SNAPSHOT: Final[Read] = (
    select(generation.c.number, *_COLUMNS)
    .select_from(
        generation.outerjoin(data_sources, and_(_in_environment, _is_named)).outerjoin(
            environments, environments.c.id == _columns.environment_id
        )
    )
    .order_by(_own_id_first)
    .limit(1)
)

_mapping = cast(groups.c.mapping, Text)
_MAPPINGS: Final[Read] = (
    select(_mapping, func.count())
    .where(groups.c.environment_id == bindparam("environment_id", type_=BigInteger), groups.c.mapping.is_not(None))
    .group_by(_mapping)
)


class SQLSources(SQLPart, LentSourceCache, SourceStore):
    async def get(self, environment: Environment, reference: str) -> RegisteredSource | None:
        found = await self._read(_BY_REFERENCE, environment_id=environment.id, reference=reference)
        return _data_source(found[0]) if found else None

    async def get_at_snapshot(self, environment: Environment, reference: str) -> SourceLookupResult:
        found = await self._read(_AT_SNAPSHOT, environment_id=environment.id, reference=reference)
        if not found:
            raise MigrationNeeded(EMPTY_GENERATION)
        number, *columns = found[0]
        return SourceLookupResult(None if columns[0] is None else _data_source(columns), number)

    async def create(
        self, environment: Environment, source_id: str, draft: SourceDraft, *, author: Author = UNNAMED
    ) -> RegisteredSource:
        made = created_source(environment, source_id, draft)
        deadline = self._runner.deadline()
        await check_source(made.provided_id, made.url, remaining(deadline) / 2)

        def write(connection: Connection, context: WriteContext) -> WriteResult[RegisteredSource]:
            now = context.now(connection)
            values = {
                "environment_id": environment.id,
                "id": source_id,
                "created_at": to_micros(now),
                **_values(made),
            }
            if insert_into_environment(connection, data_sources, values, environment) is None:
                raise name_taken(environment, made.provided_id)
            source = _source(connection, environment, source_id)
            changed = table_changes("", made.tables)
            return WriteResult(
                source, note_source_change(connection, context, "data_source.created", source, changed, at=now)
            )

        return await self._write_to(made.handles, write, author, deadline)

    async def list(self, environment: Environment) -> Sequence[RegisteredSource]:
        found = await self._read(_OF_ENVIRONMENT, environment_id=environment.id)
        return [_data_source(row) for row in found]

    async def count_mapped(self, environment: Environment) -> Mapping[frozenset[str], int]:
        counted = Counter[frozenset[str]]()
        for text, count in await self._read(_MAPPINGS, environment_id=environment.id):
            counted[references_of(json.loads(text))] += count
        return counted

    async def update(
        self, source: RegisteredSource, changes: SourceUpdate, *, author: Author = UNNAMED
    ) -> RegisteredSource | None:
        environment, changed = source.environment, changed_source(source, changes)
        as_read = (
            _columns.environment_id == environment.id,
            _columns.id == source.id,
            _columns.provided_id == source.provided_id,
            _columns.url == source.url,
            _columns.trusted == source.trusted,
            func.coalesce(_columns.session, "") == (write_session(source.session) or ""),
            func.coalesce(_columns.tables, "") == source.tables,
        )
        details = source_update_details(source, changed)

        def write(connection: Connection, context: WriteContext) -> WriteResult[RegisteredSource | None]:
            try:
                updated = connection.execute(data_sources.update().where(*as_read).values(_values(changed))).rowcount
            except IntegrityError as error:
                raise name_taken(environment, changed.provided_id) from error
            if not updated:  # another writer was first
                return WriteResult(None)
            written, at = _source(connection, environment, source.id), context.now(connection)
            return WriteResult(
                written, note_source_change(connection, context, "data_source.updated", written, details, at=at)
            )

        return await self._write_to((*source.handles, changed.handles[1]), write, author)

    async def delete(self, environment: Environment, reference: str, *, author: Author = UNNAMED) -> RegisteredSource:
        def write(connection: Connection, context: WriteContext) -> WriteResult[RegisteredSource]:
            found = _source(connection, environment, reference)
            if found.handles != announced:
                raise HandleChanged
            this = (data_sources.c.environment_id == environment.id, data_sources.c.id == found.id)
            if not connection.execute(data_sources.delete().where(*this)).rowcount:  # another writer was first
                return WriteResult(found)
            at = context.now(connection)
            return WriteResult(found, note_source_change(connection, context, "data_source.deleted", found, {}, at=at))

        deadline, announced = self._runner.deadline(), tuple[bytes, ...]()
        for _ in range(_ATTEMPTS):  # read both ids first, because the write is announced in the slots of both
            source = await self.get(environment, reference)
            if source is None:
                raise _unknown_source(environment, reference)
            announced = source.handles
            with suppress(HandleChanged):
                return await self._write_to(announced, write, author, deadline)
        raise StoreUnavailable("other writers keep deleting and creating this data source: try again")


def _source(connection: Connection, environment: Environment, reference: str) -> RegisteredSource:
    row = connection.execute(_BY_REFERENCE, {"environment_id": environment.id, "reference": reference}).first()
    if row is None:
        raise _unknown_source(environment, reference)
    return _data_source(row)


def _unknown_source(environment: Environment, reference: str) -> UnknownDataSource:
    return UnknownDataSource(f"environment {environment.name!r} has no data source {reference!r}")


def _data_source(row: Row) -> RegisteredSource:
    number, provided_id, url, trusted, session, tables, *where = row
    variables = read_session(session)
    return RegisteredSource(
        number, provided_id, rows.environment(where), url, bool(trusted), session=variables, tables=tables or ""
    )


def _values(source: RegisteredSource) -> dict[str, Any]:
    return {
        "provided_id": source.provided_id,
        "url": source.url,
        "trusted": source.trusted,
        "session": write_session(source.session),
        "tables": source.tables or None,
    }


def write_session(session: SessionVariables) -> str | None:
    return json.dumps(session) if session else None


def read_session(column: str | None) -> SessionVariables:
    return tuple((name, tag) for name, tag in json.loads(column)) if column else ()
