from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from tenantry.cli.dashboards_check import DashboardCheck
from tenantry.cli.output import print_note
from tenantry.cli.sql_check import print_findings
from tenantry.dashboards import ReloadingFolder
from tenantry.datasources import DataSources
from tenantry.errors import TenantryError
from tenantry.groups import UserGroup
from tenantry.ports import Store
from tenantry.sql.checks import Located


class Advice:
    """Asks the engine of a group's data source to explain the queries of a folder."""

    def __init__(
        self,
        dashboards: ReloadingFolder,
        store: Store,
        sources: DataSources,
        group: Callable[[], Awaitable[UserGroup]],
    ) -> None:
        self._dashboards = dashboards
        self._store = store
        self._sources = sources
        self._group = group
        self._revision = ""
        self._task: asyncio.Task[None] | None = None
        self._printed: tuple[Located, ...] = ()

    def look(self) -> None:
        revision = self._dashboards.revision
        if revision != self._revision and (self._task is None or self._task.done()):
            self._revision = revision
            self._task = asyncio.create_task(self._check())

    async def _check(self) -> None:
        check = DashboardCheck(self._dashboards.path)
        try:
            await check.explain(self._store, await self._group(), self._sources)
        except TenantryError as error:
            print_note(f"the queries were not checked: {error.message}")
            return
        found = check.of_queries()
        if found != self._printed:
            print_findings(found, err=True)
            if not found:
                print_note("the mistakes above are corrected")
            self._printed = found
