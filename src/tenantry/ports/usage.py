"""The port of ``store.usage``."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Protocol

from tenantry.groups import UNNAMED, Author, Usage, UsageBatch, UsageKey


class UsageStore(Protocol):
    """Keeps the usage of each group by hour and data source. It outlives groups: customers are billed by it."""

    async def add(self, batch: UsageBatch) -> None:
        """Adds the batch in one transaction, unless this or a later batch of its writer was added before: so a batch
        may be sent again. A writer is remembered for 90 days after its last batch."""
        ...

    async def sums(
        self, since: datetime, until: datetime, *, environment: str | None = None, group: str | None = None
    ) -> Mapping[UsageKey, Usage]:
        """The sums of the hours that began in [``since``, ``until``), in the order of the keys; only of this
        environment and of groups with this id, if given. May take seconds for many groups and hours: reports ask day by
        day. An SQLite file is read in the event loop."""
        ...

    async def oldest(self) -> datetime | None:
        """The first hour with any usage, or None."""
        ...

    async def prune(self, before: datetime, *, author: Author = UNNAMED) -> int:
        """Deletes up to some thousands of rows of hours that began before ``before``, oldest first, and returns how
        many; call it until it returns 0. A call that deletes goes into the audit trail."""
        ...
