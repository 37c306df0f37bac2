from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from time import monotonic
from typing import Annotated, Any, Final

from pydantic import Field
from starlette.responses import Response

from tenantry.editor.authors import Right
from tenantry.editor.drafts import QueryDrafts
from tenantry.editor.query_errors import internal_error, query_error
from tenantry.editor.requests import EditorRequest, as_viewer, find_environment, require_right
from tenantry.editor.runs.group_search import spread_groups
from tenantry.editor.runs.ndjson import Lines, json_line
from tenantry.editor.runs.prepared_query import QueryBody, prepare_query, record_query
from tenantry.editor.workbench import Workbench
from tenantry.errors import TenantryError
from tenantry.groups import Environment, UserGroup

_AT_ONCE: Final = 2
"""Maximum number of groups whose queries run at the same time."""
_LARGEST: Final = 50


class SampleBody(QueryBody):
    environment: Annotated[str, Field(max_length=255)]
    group: Annotated[str, Field(max_length=255)] = ""
    """The id of a group that the sample always contains."""
    viewer: Annotated[dict[str, Any], Field(max_length=100)] | None = None
    size: Annotated[int, Field(ge=1, le=_LARGEST)] = 10
    """Maximum number of groups."""


class Samples:
    """Runs the author's query as each group of a sample."""

    def __init__(self, workbench: Workbench, queries: QueryDrafts) -> None:
        self._workbench = workbench
        self._queries = queries

    async def sample(self, asked: EditorRequest[SampleBody]) -> Response:
        if asked.body.unguarded:
            require_right(asked.author, Right.UNGUARDED)
        self._workbench.workspace.require_query(asked.body.path)
        environment = await find_environment(self._workbench, asked.author, asked.body.environment)
        groups = [as_viewer(each, asked.body.viewer) for each in await self._groups(environment, asked.body)]
        return Lines(asked, self._lines(asked, groups))

    async def _groups(self, environment: Environment, body: SampleBody) -> list[UserGroup]:
        store = self._workbench.store.groups
        chosen = await store.get(environment, body.group) if body.group else None
        found = [] if chosen is None else [chosen.group]
        async for group in spread_groups(store, environment, body.size):
            if len(found) < body.size and all(each.handle != group.handle for each in found):
                found.append(group)
        return found

    async def _lines(self, asked: EditorRequest[SampleBody], groups: list[UserGroup]) -> AsyncGenerator[bytes]:
        slots = asyncio.Semaphore(_AT_ONCE)

        async def run(group: UserGroup) -> dict[str, Any]:
            async with slots:
                return await self._run(asked, group)

        tasks = [asyncio.create_task(run(group)) for group in groups]
        failed = 0
        try:
            for done in asyncio.as_completed(tasks):
                line = await done
                failed += "error" in line
                yield json_line(line)
            yield json_line({"done": {"ok": len(groups) - failed, "failed": failed}})
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _run(self, asked: EditorRequest[SampleBody], group: UserGroup) -> dict[str, Any]:
        body, sent, began = asked.body, "", monotonic()
        about = {"group": group.provided_id, "name": group.name}
        try:
            prepared = await prepare_query(self._workbench, self._queries, body, group)
            sent = prepared.sql
            action = "query.unguarded" if body.unguarded else "query.sampled"
            await record_query(self._workbench, asked, action, prepared, "count")
            began = monotonic()
            rows = await prepared.sources.query(
                group, prepared.schema, prepared.query, prepared.variables, now=prepared.now
            )
        except TenantryError as error:
            return about | {"error": query_error(error, body.path, body.text, sent)}
        except Exception as error:  # noqa: BLE001  # the other groups go on
            return about | {"error": internal_error(error)}
        return about | {"rows": len(rows), "seconds": round(monotonic() - began, 4)}
