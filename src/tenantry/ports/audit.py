from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from tenantry.groups import AuditEntry, ChainHead


class AuditTrail(Protocol):
    """The audit trail. Each write adds its entry in its own transaction; entries are never altered."""

    async def list(self, *, environment: str | None = None, after: int = 0, limit: int = 100) -> Sequence[AuditEntry]:
        """List entries with ``number > after``, oldest first."""
        ...

    async def head(self) -> ChainHead | None:
        """Return the last sealed entry; None before the first."""
        ...
