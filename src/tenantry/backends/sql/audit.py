from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from sqlalchemy import BigInteger, Connection, String, Text, bindparam, select, type_coerce

from tenantry.backends.sql import rows
from tenantry.backends.sql.change_log import WriteContext
from tenantry.backends.sql.change_log import note as add_note
from tenantry.backends.sql.part import SQLPart
from tenantry.backends.sql.queries import Read
from tenantry.database.tables import audit, generation
from tenantry.groups import AuditEntry, AuditNote, ChainHead
from tenantry.ports import AuditTrail

_PAGE: Final[Read] = (
    select(
        audit.c.number,
        audit.c.at,
        audit.c.author,
        audit.c.request_id,
        audit.c.action,
        audit.c.environment,
        audit.c.subject,
        type_coerce(audit.c.details, Text),
        audit.c.seal,
    )
    .where(audit.c.number > bindparam("after", type_=BigInteger))
    .order_by(audit.c.number)
    .limit(bindparam("limit", type_=BigInteger))
)
_PAGE_OF_ENVIRONMENT: Final[Read] = _PAGE.where(audit.c.environment == bindparam("environment", type_=String))
_HEAD: Final[Read] = select(generation.c.audit_number, generation.c.audit_mac)


class SQLAuditTrail(SQLPart, AuditTrail):
    async def record(self, note: AuditNote) -> None:
        def write(connection: Connection, context: WriteContext) -> None:
            add_note(
                connection,
                context,
                note.action,
                note.environment,
                note.subject,
                note.details,
                at=context.now(connection),
            )

        await self._write(write, note.author)

    async def list(self, *, environment: str | None = None, after: int = 0, limit: int = 100) -> Sequence[AuditEntry]:
        if environment is None:
            found = await self._read(_PAGE, after=after, limit=limit)
        else:
            found = await self._read(_PAGE_OF_ENVIRONMENT, environment=environment, after=after, limit=limit)
        return [rows.audit_entry(row) for row in found]

    async def head(self) -> ChainHead | None:
        found = await self._read(_HEAD)
        return rows.chain_head(found[0]) if found else None
