"""The port of ``store.audit``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from tenantry.groups import AuditEntry, ChainHead


class AuditTrail(Protocol):
    """Reads the audit trail. Each write adds its entry in its own transaction; entries are never altered."""

    async def list(self, *, environment: str | None = None, after: int = 0, limit: int = 100) -> Sequence[AuditEntry]:
        """Entries with ``number > after``, oldest first; only of this environment, if given."""
        ...

    async def head(self) -> ChainHead | None:
        """The entry that was sealed last, as the store has noted it; None before the first one."""
        ...
