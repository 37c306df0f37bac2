from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Final

from sqlalchemy import BigInteger, Connection, String, Text, bindparam, func, null, select, type_coerce

from tenantry.backends.audit.details import environment_details, hosts_details
from tenantry.backends.sql import rows
from tenantry.backends.sql.change_log import WriteContext, note
from tenantry.backends.sql.engine import insert_if_new
from tenantry.backends.sql.part import SQLPart
from tenantry.backends.sql.queries import ENVIRONMENT_COLUMNS, NOW, Read
from tenantry.backends.stored import unknown_environment
from tenantry.database.tables import environments, groups
from tenantry.errors import AlreadyExists
from tenantry.groups import UNNAMED, Author, Environment, Tag, from_micros, to_micros
from tenantry.ports import EnvironmentStore, TokenCount

_BY_NAME: Final[Read] = select(*ENVIRONMENT_COLUMNS).where(environments.c.name == bindparam("name", type_=String))
_ALL: Final[Read] = select(*ENVIRONMENT_COLUMNS).order_by(environments.c.id)
_EMBEDDING_HOSTS: Final[Read] = (
    select(environments.c.name, type_coerce(environments.c.embedding_hosts, Text))
    .where(environments.c.embedding_hosts.is_not(null()))
    .order_by(environments.c.id)
)
_TOKENS: Final[Read] = select(groups.c.key_id, func.count()).group_by(groups.c.key_id)
_TOKENS_IN_GRACE: Final[Read] = (
    select(groups.c.previous_key_id, func.count(), func.max(groups.c.grace_until))
    .where(
        groups.c.grace_until > bindparam("now", type_=BigInteger),
        groups.c.previous_key_id != groups.c.key_id,
    )
    .group_by(groups.c.previous_key_id)
)


class SQLEnvironments(SQLPart, EnvironmentStore):
    async def create(
        self,
        name: str,
        tag: Tag,
        *,
        external_data_sources: bool = False,
        grace_seconds: int = 0,
        author: Author = UNNAMED,
    ) -> Environment:
        def write(connection: Connection, context: WriteContext) -> Environment:
            now = context.now(connection)
            values = {
                "name": name,
                "tag": Tag(tag).value,
                "external_data_sources": external_data_sources,
                "created_at": to_micros(now),
                "grace_seconds": grace_seconds,
            }
            if insert_if_new(connection, environments, values) is None:
                raise AlreadyExists(f"the environment {name!r} already exists: choose another name")
            made = rows.environment(connection.execute(_BY_NAME, {"name": name}).one())
            note(connection, context, "environment.created", name, name, environment_details(made), at=now)
            return made

        return await self._write(write, author)

    async def set_grace(self, environment: Environment, grace_seconds: int, *, author: Author = UNNAMED) -> Environment:
        def write(connection: Connection, context: WriteContext) -> Environment:
            changed = connection.execute(
                environments.update()
                .where(environments.c.id == environment.id, environments.c.grace_seconds != grace_seconds)
                .values(grace_seconds=grace_seconds)
            )
            row = connection.execute(_BY_NAME, {"name": environment.name}).first()
            if row is None or row[0] != environment.id:
                raise unknown_environment(environment)
            if changed.rowcount:
                details, at = {"grace_seconds": str(grace_seconds)}, context.now(connection)
                note(connection, context, "environment.grace_set", environment.name, environment.name, details, at=at)
            return rows.environment(row)

        return await self._write(write, author)

    async def get(self, name: str) -> Environment | None:
        found = await self._read(_BY_NAME, name=name)
        return rows.environment(found[0]) if found else None

    async def list(self) -> Sequence[Environment]:
        return [rows.environment(row) for row in await self._read(_ALL)]

    async def set_embedding_hosts(
        self, environment: Environment, hosts: Sequence[str], *, author: Author = UNNAMED
    ) -> tuple[str, ...]:
        def write(connection: Connection, context: WriteContext) -> tuple[str, ...]:
            changed = connection.execute(
                environments.update()
                .where(environments.c.id == environment.id, environments.c.name == environment.name)
                .values(embedding_hosts=[*hosts] or None)
            )
            if not changed.rowcount:
                raise unknown_environment(environment)
            name, at = environment.name, context.now(connection)
            note(connection, context, "environment.embedding_set", name, name, hosts_details(hosts), at=at)
            return tuple(hosts)

        return await self._write(write, author)

    async def embedding_hosts(self) -> Mapping[str, tuple[str, ...]]:
        found = await self._read(_EMBEDDING_HOSTS)
        return {name: tuple(json.loads(text)) for name, text in found}

    async def count_tokens(self) -> Mapping[str, TokenCount]:
        now = self._clock.at((await self._read(NOW))[0][0])
        counts = {key_id: TokenCount(live) for key_id, live in await self._read(_TOKENS)}
        for key_id, in_grace, until in await self._read(_TOKENS_IN_GRACE, now=to_micros(now)):
            counts[key_id] = TokenCount(counts.get(key_id, TokenCount()).live, in_grace, from_micros(until))
        return counts
