from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Protocol

from tenantry.groups import UNNAMED, Author, Usage, UsageBatch, UsageKey


class UsageStore(Protocol):
    """Usage by group, hour and data source. Rows outlive their group, because customers are billed by them."""

    async def add(self, batch: UsageBatch) -> None:
        """Add the batch once: a repeated batch number of the same writer is ignored, for 90 days after its last
        batch."""
        ...

    async def sums(
        self, since: datetime, until: datetime, *, environment: str | None = None, group: str | None = None
    ) -> Mapping[UsageKey, Usage]:
        """Return the sums of hours that began in [``since``, ``until``), in key order. Query day by day: many groups
        and hours may take seconds."""
        ...

    async def oldest(self) -> datetime | None:
        """Return the first hour with usage."""
        ...

    async def prune(self, before: datetime, *, author: Author = UNNAMED) -> int:
        """Delete some thousands of rows of hours before ``before`` and return their number; call it until it returns 0.
        Each deletion is audited."""
        ...
