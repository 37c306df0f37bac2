from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import blake2b
from typing import Annotated, Any, TypeVar

from pydantic import Field

from tenantry.datasources import DataSources, ExplainedQuery, is_guard_required, source_timezone
from tenantry.editor.bound_values import bound_values
from tenantry.editor.drafts import QueryDrafts
from tenantry.editor.requests import EditorRequest, GroupBody, TextBody, TypedBody
from tenantry.editor.workbench import Workbench
from tenantry.errors import RightMissing
from tenantry.groups import AuditNote, Record, RegisteredSource, UserGroup, extend
from tenantry.http import request_id_of
from tenantry.sql import Query


class QueryBody(TypedBody):
    params: Annotated[dict[str, Any], Field(max_length=200)] = {}
    """The values of ``params.*``, as a viewer chooses them."""
    unguarded: bool = False
    """Whether guarded tables are read without their guards."""


class RunBody(QueryBody, GroupBody): ...


@dataclass(frozen=True, slots=True)
class PreparedQuery:
    group: UserGroup
    registered: RegisteredSource
    schema: str
    query: Query
    variables: Record
    sources: DataSources
    explained: ExplainedQuery
    now: datetime

    @property
    def sql(self) -> str:
        return self.explained.traced.bound.sql

    def as_json(self) -> dict[str, Any]:
        explained = self.explained
        guards = [
            {"table": each.table, "line": each.line, "column": each.column, "condition": each.condition or None}
            for each in explained.guards
        ]
        return {
            "group": self.group.provided_id,
            "suspended": self.group.suspended,
            "expired": not self.group.suspended and self.group.seconds_left(self.now) <= 0,
            "source": {"id": explained.source_id, "name": explained.provided_id},
            "engine": explained.engine,
            "sql": self.sql.strip(),
            "parameters": list(bound_values(explained, self.query, self.variables)),
            "guards": guards,
            "notes": list(explained.notes),
        }


async def prepare_query(workbench: Workbench, queries: QueryDrafts, body: QueryBody, group: UserGroup) -> PreparedQuery:
    """Bind the query of ``body`` for a group, but do not run it. Raises the errors that ``DataSources.fetch`` raises
    before it runs a query, and RightMissing if ``body.unguarded`` is set but the source requires guards."""
    sources = workbench.unguarded if body.unguarded else workbench.sources
    schema, now = body.schema_, datetime.now(UTC)
    registered = await sources.registered(group, schema)
    if body.unguarded and is_guard_required(registered):
        problem = f"the tables of data source {registered.provided_id} are always guarded (`guard: required`)"
        raise RightMissing(problem, field="/unguarded")
    zone, dialect = source_timezone(registered), await sources.dialect(group, schema)
    query = await asyncio.to_thread(
        lambda: queries.typed(body.path, body.text, body.drafts, dashboard=body.dashboard, dialect=dialect, zone=zone)
    )
    variables = extend(group.variables, "params", body.params)
    explained = await sources.explain(group, schema, query, variables, now=now)
    return PreparedQuery(group, registered, schema, query, variables, sources, explained, now)


Text = TypeVar("Text", bound=TextBody)


async def record_query(
    workbench: Workbench, asked: EditorRequest[Text], action: str, prepared: PreparedQuery, how: str
) -> None:
    """Record that the author runs a query as a group. The entry has the path, and one digest of the typed text and the
    sent SQL, but no values. ``how``: what the author gets, such as ``rows`` or ``plan``."""
    # The digest needs both: only the SQL has the included texts, and only the typed text names the group's values.
    group = prepared.group
    texts = f"{asked.body.text}\0{prepared.sql}"
    digest = blake2b(texts.encode(errors="surrogatepass"), digest_size=6).hexdigest()
    details = {"query": asked.body.path, "digest": f"sql-{digest}", "as": how}
    if group.viewer is not None:
        details["viewer"] = group.viewer.id or ""
    author = asked.author.audited(request_id_of(asked.request.headers.raw))
    await workbench.store.audit.record(AuditNote(author, action, group.environment.name, group.provided_id, details))
