from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import Connection, LargeBinary, bindparam, select

from tenantry.backends.sql.change_log import WriteContext, note
from tenantry.backends.sql.engine import delete_chosen, delete_expired, insert_if_new
from tenantry.backends.sql.part import SQLPart
from tenantry.backends.sql.queries import Read, database_now
from tenantry.database.tables import api_tokens, single_use_codes
from tenantry.errors import AlreadyExists, Unauthorized
from tenantry.groups import UNNAMED, AuditNote, from_micros, to_micros
from tenantry.ports import CodeShare, CodeStore

_columns = single_use_codes.c
_BY_DIGEST: Final[Read] = select(database_now(), _columns.purpose, _columns.payload, _columns.expires_at).where(
    _columns.digest == bindparam("digest", type_=LargeBinary)
)


class SQLCodes(SQLPart, CodeStore):
    async def add(
        self,
        digest: bytes,
        *,
        purpose: str,
        payload: str,
        lifetime: float,
        api_token_id: int | None = None,
        audited: AuditNote | None = None,
        share: CodeShare | None = None,
    ) -> None:
        def write(connection: Connection, context: WriteContext) -> None:
            now = context.now(connection)
            ends = now + timedelta(seconds=lifetime)
            if api_token_id is not None:  # first: a revocation also locks the API token before its codes
                ends = _end_of_issuer(connection, api_token_id, now, ends)
            delete_expired(connection, single_use_codes, now)
            if share is not None:
                _delete_surplus(connection, purpose, share)
            values = {
                "digest": digest,
                "purpose": purpose,
                "payload": payload,
                "expires_at": to_micros(ends),
                "api_token_id": api_token_id,
                "group_handle": None if share is None else share.owner,
            }
            if insert_if_new(connection, single_use_codes, values) is None:
                raise AlreadyExists("this code already exists: generate another")
            if audited is not None:
                of = audited
                note(connection, context, of.action, of.environment, of.subject, of.details, at=now)

        author = UNNAMED if audited is None else audited.author
        await self._write(write, author)

    async def purpose(self, digest: bytes) -> str | None:
        found = await self._live_code(digest)
        return None if found is None else found[0]

    async def redeem(self, digest: bytes, *, purpose: str) -> str | None:
        def write(connection: Connection, context: WriteContext) -> str | None:
            # If several deletions run at once, one gets the row. The others wait for its lock, then find no row.
            codes = single_use_codes.c
            live = (codes.digest == digest, codes.purpose == purpose)
            ends = codes.expires_at > to_micros(context.now(connection))
            deleted = single_use_codes.delete().where(*live, ends).returning(codes.payload)
            payload: str | None = connection.execute(deleted).scalar_one_or_none()
            return payload

        return await self._write(write)

    async def read(self, digest: bytes, *, purpose: str) -> str | None:
        found = await self._live_code(digest)
        return None if found is None or found[0] != purpose else found[1]

    async def delete(self, group: bytes, *, purpose: str) -> int:
        def write(connection: Connection, context: WriteContext) -> int:
            codes = single_use_codes.c
            live = codes.expires_at > to_micros(context.now(connection))
            own = (codes.group_handle == group, codes.purpose == purpose, live)
            return len(connection.execute(single_use_codes.delete().where(*own).returning(codes.digest)).all())

        return await self._write(write)

    async def _live_code(self, digest: bytes) -> tuple[str, str] | None:
        for now, purpose, payload, expires_at in await self._read(_BY_DIGEST, digest=digest):
            if expires_at > to_micros(self._clock.at(now)):
                return purpose, payload
        return None


def _end_of_issuer(connection: Connection, api_token_id: int, now: datetime, ends: datetime) -> datetime:
    """Return when the new code ends: at ``ends``, or when its API token expires, if that is earlier. Raises
    Unauthorized if the token has ended."""
    # The row of the token is locked, so that a later revocation also deletes the new code.
    tokens = api_tokens.c
    issuer = select(tokens.revoked_at, tokens.expires_at).where(tokens.id == api_token_id)
    row = connection.execute(issuer.with_for_update(read=True)).first()
    if row is None or row[0] is not None or (row[1] is not None and row[1] <= to_micros(now)):
        raise Unauthorized("the API token is revoked or expired: use another API token")
    return ends if row[1] is None else min(ends, from_micros(row[1]))


def _delete_surplus(connection: Connection, purpose: str, share: CodeShare) -> None:
    codes = single_use_codes.c
    own = select(codes.digest).where(codes.group_handle == share.owner, codes.purpose == purpose)
    surplus = own.order_by(codes.expires_at.desc()).offset(share.most - 1)
    delete_chosen(connection, single_use_codes, select(codes.digest).where(codes.digest.in_(surplus)))
