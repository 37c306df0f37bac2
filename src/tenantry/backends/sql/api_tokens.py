from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any, Final

from sqlalchemy import BigInteger, Connection, LargeBinary, String, and_, bindparam, or_, select

from tenantry.backends.audit.details import api_token_details
from tenantry.backends.sql import rows
from tenantry.backends.sql.change_log import WriteContext, note
from tenantry.backends.sql.part import SQLPart, insert_into_environment
from tenantry.backends.sql.queries import ENVIRONMENT_COLUMNS, GROUP_COLUMNS, Read, database_now
from tenantry.backends.sql.rows import Row
from tenantry.backends.stored import USE_INTERVAL, StoreClock, require_unexpired
from tenantry.database.tables import api_tokens, environments, groups, single_use_codes
from tenantry.errors import AlreadyExists, UnknownApiToken
from tenantry.groups import (
    UNNAMED,
    ApiToken,
    Author,
    Caller,
    Environment,
    RevokedApiToken,
    Scope,
    from_micros,
    to_micros,
)
from tenantry.ports import ApiTokenStore

_columns = api_tokens.c
_OWN: Final = (
    _columns.id,
    _columns.label,
    _columns.scopes,
    _columns.hint,
    _columns.created_at,
    _columns.revoked_at,
    _columns.expires_at,
    _columns.last_used_at,
)
_is_live = and_(_columns.digest == bindparam("digest", type_=LargeBinary), _columns.revoked_at.is_(None))
_in_environment = _columns.environment_id == bindparam("environment_id", type_=BigInteger)
_all = select(*_OWN, *ENVIRONMENT_COLUMNS).join_from(api_tokens, environments)

_OF_ENVIRONMENT: Final[Read] = _all.where(_in_environment).order_by(_columns.id)
_BY_ID: Final[Read] = _all.where(_in_environment, _columns.id == bindparam("token_id", type_=BigInteger))
_LIVE: Final[Read] = (
    select(database_now(), *_OWN, *ENVIRONMENT_COLUMNS).join_from(api_tokens, environments).where(_is_live)
)
# If no group is found, the group's columns are null, and the environment is that of the API token.
_WITH_GROUP: Final[Read] = (
    select(database_now(), *_OWN, *ENVIRONMENT_COLUMNS, *GROUP_COLUMNS)
    .select_from(
        api_tokens.join(environments).outerjoin(
            groups,
            and_(
                groups.c.environment_id == _columns.environment_id,
                groups.c.provided_id == bindparam("provided_id", type_=String),
            ),
        )
    )
    .where(_is_live)
)
_SCOPES: Final = {scope.value: scope for scope in Scope}


class SQLApiTokens(SQLPart, ApiTokenStore):
    async def create(
        self,
        environment: Environment,
        *,
        digest: bytes,
        label: str,
        scopes: Collection[Scope],
        hint: str,
        expires_at: datetime | None = None,
        author: Author = UNNAMED,
    ) -> ApiToken:
        def write(connection: Connection, context: WriteContext) -> ApiToken:
            now, details = context.now(connection), api_token_details(label, scopes, expires_at)
            values = {
                "environment_id": environment.id,
                "digest": digest,
                "label": label,
                "scopes": details["scopes"],
                "hint": hint,
                "created_at": to_micros(now),
                "expires_at": None if expires_at is None else to_micros(expires_at),
            }
            number = insert_into_environment(connection, api_tokens, values, environment)
            if number is None:
                raise AlreadyExists("an API token with this secret already exists: create another")
            this = {"environment_id": environment.id, "token_id": number}
            made = _api_token(*connection.execute(_BY_ID, this).one())
            note(connection, context, "api_token.created", made.environment.name, str(made.id), details, at=now)
            return made

        return await self._write(write, author)

    async def get(self, digest: bytes) -> ApiToken | None:
        found = await self._read(_LIVE, digest=digest)
        return _live(found[0], self._clock) if found else None

    async def get_with_group(self, digest: bytes, provided_id: str) -> Caller | None:
        found = await self._read(_WITH_GROUP, digest=digest, provided_id=provided_id)
        return _caller(found[0], self._clock) if found else None

    async def record_use(self, token: ApiToken) -> None:
        def write(connection: Connection, context: WriteContext) -> None:
            now, used = context.now(connection), api_tokens.c.last_used_at
            unrecorded = or_(used.is_(None), used <= to_micros(now - USE_INTERVAL))
            connection.execute(
                api_tokens.update().where(api_tokens.c.id == token.id, unrecorded).values(last_used_at=to_micros(now))
            )

        await self._write(write)

    async def list(self, environment: Environment) -> Sequence[ApiToken]:
        found = await self._read(_OF_ENVIRONMENT, environment_id=environment.id)
        return [_api_token(*row) for row in found]

    async def revoke(self, environment: Environment, token_id: int, *, author: Author = UNNAMED) -> RevokedApiToken:
        this = (api_tokens.c.environment_id == environment.id, api_tokens.c.id == token_id)

        def write(connection: Connection, context: WriteContext) -> RevokedApiToken:
            now = context.now(connection)
            changed = connection.execute(  # a token that was already revoked keeps its first time of revocation
                api_tokens.update().where(*this, api_tokens.c.revoked_at.is_(None)).values(revoked_at=to_micros(now))
            )
            values = {"environment_id": environment.id, "token_id": token_id}
            row = connection.execute(_BY_ID, values).first()
            if row is None:
                raise UnknownApiToken(f"environment {environment.name!r} has no API token with id {token_id}")
            token = _api_token(*row)
            if changed.rowcount:
                details = {"label": token.label}
                note(connection, context, "api_token.revoked", token.environment.name, str(token_id), details, at=now)
            codes = single_use_codes.c
            issued = single_use_codes.delete().where(codes.api_token_id == token_id, codes.expires_at > to_micros(now))
            return RevokedApiToken(token, connection.execute(issued).rowcount)

        return await self._write(write, author)


def _live(row: Row, clock: StoreClock) -> ApiToken:
    return require_unexpired(_api_token(*row[1:]), clock.at(row[0]))


_END: Final = 1 + len(_OWN) + len(ENVIRONMENT_COLUMNS)


def _caller(row: Row, clock: StoreClock) -> Caller:
    token, group = _live(row[:_END], clock), row[_END:]
    if group[0] is None:
        return Caller(token, None)
    return Caller(token, rows.stored_group((*group, *row[1 + len(_OWN) : _END])).issued())


@lru_cache(maxsize=1024)  # few callers make most calls; a row contains no secret
def _api_token(
    number: int,
    label: str,
    scopes: str,
    hint: str,
    created_at: int,
    revoked_at: int | None,
    expires_at: int | None,
    last_used_at: int | None,
    *where: Any,
) -> ApiToken:
    return ApiToken(
        id=number,
        environment=rows.environment(where),
        label=label,
        scopes=frozenset(
            _SCOPES[name] for name in scopes.split() if name in _SCOPES
        ),  # ignores scopes of later versions
        hint=hint,
        created_at=from_micros(created_at),
        revoked_at=None if revoked_at is None else from_micros(revoked_at),
        expires_at=None if expires_at is None else from_micros(expires_at),
        last_used_at=None if last_used_at is None else from_micros(last_used_at),
    )
