from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any, Final

from starlette.responses import JSONResponse, Response

from tenantry.dashboards.definition import read_dashboard
from tenantry.editor.bound_values import shown_value
from tenantry.editor.drafts import query_name
from tenantry.editor.language.compiler import Compiler
from tenantry.editor.language.group_properties import GatheredProperties, GroupProperties
from tenantry.editor.requests import EditorRequest, GroupBody, TypedBody, find_viewed_group
from tenantry.editor.workbench import Workbench
from tenantry.editor.workspace import FileKind, find_schema
from tenantry.errors import TemplateError
from tenantry.groups import PropertySchema, Record, UserGroup, thaw
from tenantry.sql import is_absent, look_up
from tenantry.sql.checks import GROUP_FIELDS, PropertyTypes
from tenantry.sql.parameters import Parameter, PropertyReference, RelativeRange

_LONGEST: Final = 80
"""Maximum number of characters shown of a value."""
_MAX_ITEMS: Final = 5
_PARAMETER: Final = re.compile(r"\{\{\s*params\.([^\W\d]\w*)")
_PROPERTIES: Final = "user_group.properties."


class VariablesBody(TypedBody, GroupBody): ...


class Variables:
    """Lists the variables that a query or dashboard may name, with their values for one group. Properties that only
    other groups have are listed, too."""

    def __init__(self, workbench: Workbench, compiler: Compiler, properties: GroupProperties) -> None:
        self._workbench = workbench
        self._compiler = compiler
        self._properties = properties

    async def respond(self, asked: EditorRequest[VariablesBody]) -> Response:
        body = asked.body
        kind = self._workbench.workspace.require(body.path)
        group = await find_viewed_group(self._workbench, asked.author, body)
        gathered = await self._properties.of(group.environment)
        return await self._compiler.run(lambda: JSONResponse(self._answer(kind, body, group, gathered)))

    def _answer(
        self, kind: FileKind, body: VariablesBody, group: UserGroup, gathered: GatheredProperties | None
    ) -> dict[str, Any]:
        schema = find_schema(self._workbench.workspace, body.environment)
        types = PropertyTypes(None) if gathered is None else gathered.types
        queries = self._compiler.queries
        using = queries.dashboards(body.path, body.drafts)
        fragments = [name for name in queries.with_drafts(body.drafts) if name != query_name(body.path)]
        return {
            "variables": [
                *_fields(group, len(types)),
                *_properties(group, types, schema),
                *_of_viewer(group, schema),
            ],
            "params": list(self._parameters(kind, body)),
            "dashboards": [{"name": each.name, "schema": each.schema} for each in using],
            "fragments": fragments,
            "groups": None if gathered is None else len(types),
        }

    def _parameters(self, kind: FileKind, body: VariablesBody) -> Iterator[dict[str, Any]]:
        declared: Mapping[str, Parameter] = {}
        dashboard = self._compiler.queries.dashboard(body.path, body.drafts, body.dashboard)
        with suppress(TemplateError):
            if kind is FileKind.DASHBOARD:
                dashboard = read_dashboard(body.text, self._workbench.workspace.name(body.path), body.path)
                declared = {name: each.parameter for name, each in dashboard.controls.items()}
            elif kind is FileKind.QUERY:
                query = self._compiler.query(body)
                declared = query.definition.parameters
                declared = query.parameters
        for parameter in declared.values():
            control = None if dashboard is None else dashboard.controls.get(parameter.name)
            presets = list(control.presets) if control is not None else []
            yield _parameter(parameter) | ({"presets": presets} if presets else {})
        for name in dict.fromkeys(_PARAMETER.findall(body.text)):
            if name not in declared:
                yield {"name": name, "type": None}


def _fields(group: UserGroup, total: int) -> Iterator[dict[str, Any]]:
    for path in sorted(GROUP_FIELDS):
        yield _variable(path, "text", group.variables, total, total)


def _properties(group: UserGroup, types: PropertyTypes, schema: PropertySchema | None) -> Iterator[dict[str, Any]]:
    declared = {} if schema is None else schema.declared()
    for path in sorted({*types.paths, *declared}):
        kinds = types.kinds(path) if path in types else {}
        about = _variable(_PROPERTIES + path, " or ".join(kinds), group.variables, sum(kinds.values()), len(types))
        if not kinds and path in declared:
            about["type"] = _words(declared[path][0].get("type"))
        if len(kinds) > 1:
            about["note"] = ", ".join(f"{kind} in {count}" for kind, count in kinds.items())
        yield about


def _of_viewer(group: UserGroup, schema: PropertySchema | None) -> Iterator[dict[str, Any]]:
    declared = {} if schema is None or schema.viewer is None else schema.viewer.declared()
    given = thaw(group.variables["viewer"]) if group.viewer is not None else {}
    for name in sorted({"id", *declared, *given}):
        known = declared.get(name)
        kind = _words(known[0].get("type")) if known is not None else None
        yield {**_variable(f"viewer.{name}", kind, group.variables, None, None), "note": "of the viewer's pass"}


def _variable(path: str, kind: str | None, variables: Record, present: int | None, total: int | None) -> dict[str, Any]:
    value = look_up(variables, path)
    shown = None if is_absent(value) else _short(thaw(value))
    return {"path": path, "type": kind or None, "value": shown, "present": present, "total": total}


def _short(value: Any) -> Any:
    if isinstance(value, str):
        return value if len(value) <= _LONGEST else f"{value[: _LONGEST - 1]}…"
    if isinstance(value, list):
        return [_short(each) for each in value[:_MAX_ITEMS]] + ["…"] * (len(value) > _MAX_ITEMS)
    return None if isinstance(value, dict) else shown_value(value)


def _words(kind: Any) -> str | None:
    named: Iterable[Any] = kind if isinstance(kind, list) else [kind]
    return " or ".join(each for each in named if isinstance(each, str)) or None


def _parameter(parameter: Parameter) -> dict[str, Any]:
    about: dict[str, Any] = {"name": parameter.name, "type": parameter.kind}
    if parameter.label:
        about["label"] = parameter.label
    if parameter.choices is not None:
        about["choices"] = [shown_value(each) for each in parameter.choices]
        if [*parameter.labels] != about["choices"]:
            about["labels"] = list(parameter.labels)
    if parameter.choices_query is not None:
        about["choices_query"] = parameter.choices_query
    if parameter.default is not None:
        about["default"] = _default(parameter.default)
    return about


def _default(value: Any) -> Any:
    if isinstance(value, PropertyReference):
        return f"property {value.path}"
    return str(value) if isinstance(value, RelativeRange) else shown_value(value)
