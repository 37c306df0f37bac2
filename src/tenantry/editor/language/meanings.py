from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Annotated, Any

from pydantic import Field
from starlette.responses import JSONResponse, Response

from tenantry.dashboards.explanation import origin_phrase, reference_origin
from tenantry.datasources import ExplainedQuery, source_timezone
from tenantry.editor.bound_values import bound_values
from tenantry.editor.language.compiler import Compiler
from tenantry.editor.language.findings_on_page import end_of, index_in
from tenantry.editor.offsets import Utf16Text
from tenantry.editor.query_errors import query_error
from tenantry.editor.requests import EditorRequest, GroupBody, TypedBody, find_viewed_group
from tenantry.editor.workbench import Workbench
from tenantry.editor.workspace import FileKind
from tenantry.errors import InvalidBody, Location, TemplateError, TenantryError
from tenantry.groups import Record, RegisteredSource, UserGroup, extend
from tenantry.sql import Query
from tenantry.sql.checks import TagPlace, tag_places


class MeaningBody(TypedBody, GroupBody):
    params: Annotated[dict[str, Any], Field(max_length=200)] = {}
    """The values of ``params.*``, as a viewer chooses them."""


class Meanings:
    """Shows the SQL that replaces each tag and each guarded table of a query."""

    def __init__(self, workbench: Workbench, compiler: Compiler) -> None:
        self._workbench = workbench
        self._compiler = compiler

    async def respond(self, asked: EditorRequest[MeaningBody]) -> Response:
        body, workbench = asked.body, self._workbench
        if workbench.workspace.require(body.path) is not FileKind.QUERY:
            raise InvalidBody("only a query can be explained: name a .sql file", field="/path")
        group = await find_viewed_group(workbench, asked.author, body)
        source = await workbench.sources.registered(group, body.schema_)
        about: dict[str, Any] = {"source": {"id": source.id, "name": source.provided_id}}
        try:
            return JSONResponse(about | await self._meaning(body, group, source))
        except TenantryError as error:
            failed = query_error(error, body.path, body.text)
            return JSONResponse(about | {"sql": None, "placeholders": [], "tables": [], "error": failed})

    async def _meaning(self, body: MeaningBody, group: UserGroup, source: RegisteredSource) -> dict[str, Any]:
        sources = self._workbench.sources
        dialect = await sources.dialect(group, body.schema_)
        query, places = await self._compiler.run(lambda: self._compile(body, dialect, source))
        variables = extend(group.variables, "params", body.params)
        text = _PlacedText(body.path, body.text)
        try:
            explained = await sources.explain(group, body.schema_, query, variables, now=datetime.now(UTC))
        except TemplateError:
            raise
        except TenantryError as error:
            tags = [text.tag(place, query, variables, {}) for place in places]
            failed = query_error(error, body.path, body.text)
            return {"sql": None, "placeholders": [*filter(None, tags)], "tables": [], "error": failed}
        return {
            "sql": explained.traced.bound.sql.strip(),
            "engine": explained.engine,
            "placeholders": list(text.tags(places, explained, query, variables)),
            "tables": list(text.tables(explained)),
        }

    def _compile(self, body: MeaningBody, dialect: str, source: RegisteredSource) -> tuple[Query, tuple[TagPlace, ...]]:
        query = self._compiler.query(body, dialect, source_timezone(source))
        places = tuple(tag_places(query, dialect))
        if source.tables:
            from tenantry.sql.guarding import read_stored_tables  # slow to import

            query.guarded(read_stored_tables(source.tables)).check(dialect)
        return query, places


class _PlacedText:
    def __init__(self, path: str, text: str) -> None:
        self._path = path
        self._text = text
        self._units = Utf16Text(text)

    def tags(
        self, places: tuple[TagPlace, ...], explained: ExplainedQuery, query: Query, variables: Record
    ) -> Iterator[dict[str, Any]]:
        references = explained.traced.references
        values = list(bound_values(explained, query, variables))
        seen: set[tuple[Any, ...]] = set()
        for place in places:
            mine = [value for value, made_of in zip(values, references, strict=False) if place.is_in(made_of)]
            for value in mine or [{}]:
                found = self.tag(place, query, variables, value)
                if found is None:
                    continue
                key = (found["from"], found["placeholder"], found["path"])
                if key not in seen:
                    seen.add(key)
                    yield found

    def tag(self, place: TagPlace, query: Query, variables: Record, value: Mapping[str, Any]) -> dict[str, Any] | None:
        """Return a tag's position, variable and value. A tag in an included file has the position of the tag that
        includes the file. ``value`` is empty for a tag without a placeholder, for example in a clause that is left
        out."""
        around = self._span(place.location)
        if around is None:
            return None
        origin = reference_origin(place.reference, query.parameters, variables)
        return {
            **around,
            "placeholder": value.get("placeholder"),
            "type": value.get("type"),
            "path": place.reference.path,
            "origin": origin_phrase(origin.as_dict()),
            "value": value.get("value"),
        }

    def tables(self, explained: ExplainedQuery) -> Iterator[dict[str, Any]]:
        for each in explained.guards:
            around = self._span(Location(each.line, each.column, each.file))
            if around is not None:
                yield {**around, "name": each.table, "kind": each.why, "sql": each.replacement}

    def _span(self, location: Location) -> dict[str, int] | None:
        start = index_in(self._path, location, self._units)
        if start is None:
            return None
        return self._units.span(start, end_of(self._text, start))
