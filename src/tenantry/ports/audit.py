from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from tenantry.groups import AuditEntry, ChainHead


class AuditTrail(Protocol):
    """Reads the audit trail. A write appends its entry in the same transaction; entries never change."""

    async def list(self, *, environment: str | None = None, after: int = 0, limit: int = 100) -> Sequence[AuditEntry]:
        """Return entries with ``number > after``, oldest first."""
        ...

    async def head(self) -> ChainHead | None:
        """Return number and MAC of the last sealed entry, or None."""
        ...
