from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Protocol

from tenantry.groups import UNNAMED, Author, Usage, UsageBatch, UsageKey


class UsageStore(Protocol):
    """Stores usage by group, hour and data source. Usage outlives its group, because customers are billed by it."""

    async def add(self, batch: UsageBatch) -> None:
        """Add the batch, unless its writer has added this or a later number in the last 90 days."""
        ...

    async def sums(
        self, since: datetime, until: datetime, *, environment: str | None = None, group: str | None = None
    ) -> Mapping[UsageKey, Usage]:
        """Sum the hours that began in [``since``, ``until``), in key order. Ask day by day: 100,000 groups take
        seconds."""
        ...

    async def oldest(self) -> datetime | None:
        """Return the earliest hour with usage."""
        ...

    async def prune(self, before: datetime, *, author: Author = UNNAMED) -> int:
        """Delete at most some thousand rows of hours before ``before`` and return their number; call until it is 0.
        Each call that deletes is audited."""
        ...
