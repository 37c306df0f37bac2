"""Where usage by group is kept."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Protocol

from tenantry.groups import UNNAMED, Author, Usage, UsageBatch, UsageKey


class UsageStore(Protocol):
    """Keeps what each group has used, by the hour and the data source. It outlives groups: it is what is billed."""

    async def add_usage(self, batch: UsageBatch) -> None:
        """Adds it to what is there, in one transaction, unless a batch of its writer with this number or a later one
        was added already: so a batch may be sent again. A writer is remembered for 90 days after its last batch."""
        ...

    async def usage(
        self, since: datetime, until: datetime, *, environment: str | None = None, group: str | None = None
    ) -> Mapping[UsageKey, Usage]:
        """The sums of the hours that began at ``since`` or later and before ``until``; of one environment, and of the
        groups with one id, if they are named. In the order of the keys. Of many groups and hours it may take seconds:
        for reports, which ask day by day. An SQLite file is read in the event loop."""
        ...

    async def oldest_usage(self) -> datetime | None:
        """The first hour of which anything is kept; None: there is nothing."""
        ...

    async def prune_usage(self, before: datetime, *, author: Author = UNNAMED) -> int:
        """Deletes hours that began before then, the oldest first, up to some thousands of rows; gives how many. Whoever
        wants all of them gone calls it until it gives 0. A call that deletes goes into the audit trail."""
        ...
