"""Parameters: those of an operation and of its path, and the headers of a response."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from tenantry_site.reference.operation import In, Operation, Parameter
from tenantry_site.reference.place import Place
from tenantry_site.reference.schemas import Schemas

PLACES: Final[tuple[In, ...]] = ("path", "query", "header", "cookie")
_MOST: Final = 200
_STYLES: Final[dict[str, str]] = {"path": "simple", "query": "form", "header": "simple", "cookie": "form"}
_BRACED: Final = re.compile(r"\{([^{}]+)\}")
_NOT_PARAMETERS: Final = frozenset({"accept", "content-type", "authorization"})
"""Headers that OpenAPI says to pass over where they are declared as parameters: they are told of elsewhere."""


def parameters(operation: Operation, schemas: Schemas, *, ordered: bool) -> tuple[Parameter, ...]:
    """The operation's own and those of its path, the former before the latter where both have one."""
    found: dict[tuple[str, str], Parameter] = {}
    for place in (operation.around, operation.place):
        for item in list(place.items("parameters"))[:_MOST]:
            parameter = _parameter(item.followed().as_object(), schemas)
            if parameter is not None:
                found[parameter.place, parameter.name] = parameter
    if not operation.is_webhook:
        _check(operation, found)
    chosen = list(found.values())
    if not ordered:
        chosen.sort(key=lambda one: (not one.required, one.name.casefold(), one.name))
    return tuple(sorted(chosen, key=lambda one: PLACES.index(one.place)))


def _check(operation: Operation, found: dict[tuple[str, str], Parameter]) -> None:
    """Each ``{name}`` of the path is one to fill in, whether it was declared or not."""
    names = dict.fromkeys(_BRACED.findall(operation.path))
    for name in names:
        if ("path", name) not in found:
            message = f"{operation.path}: the parameter {name!r} is not declared"
            operation.place.note("API013", message, f"add a parameter with name: {name} and in: path")
            found["path", name] = Parameter(name, "path", required=True, style="simple", explode=False)
    for (place, name), parameter in list(found.items()):
        if place == "path" and name not in names:
            message = f"the path parameter {name!r} is not in {operation.path}"
            operation.place.note("API013", message, f"write {{{name}}} into the path, or take the parameter away")
            del found[place, parameter.name]


def _parameter(place: Place, schemas: Schemas) -> Parameter | None:
    if not place:
        return None
    name, where = place.text("name"), place.text("in")
    if not name or where not in PLACES:
        place.note("API005", "a parameter needs `name` and `in`", "write in: path, query, header or cookie")
        return None
    if where == "header" and name.lower() in _NOT_PARAMETERS:
        return None
    return _read(place, schemas, name, where)


def _read(place: Place, schemas: Schemas, name: str, where: In) -> Parameter:
    schema, as_json = place.at("schema"), False
    if not schema and place.has("content"):
        for kind, media in place.entries("content"):
            schema, as_json = media.as_object().at("schema"), "json" in kind
            break
    shape = schemas.shape(schema)
    style = place.text("style") or _STYLES[where]
    return Parameter(
        name=name,
        place=where,
        description=place.text("description") or shape.description,
        required=place.flag("required") or where == "path",
        deprecated=place.flag("deprecated") or shape.deprecated,
        shape=shape,
        style=style,
        explode=place.flag("explode") if place.has("explode") else style in ("form", "deepObject"),
        json=as_json,
        example=_example(place, shape.example),
    )


def _example(place: Place, otherwise: Any) -> Any:
    if place.has("example"):
        return place.value["example"]
    for _, item in place.entries("examples"):
        example = item.followed().as_object()
        if example.has("value"):
            return example.value["value"]
    return otherwise


def headers(response: Place, schemas: Schemas) -> Iterator[Parameter]:
    """The headers of a response."""
    for name, item in list(response.entries("headers"))[:_MOST]:
        header = item.followed().as_object()
        if header and name.lower() != "content-type":
            yield _read(header, schemas, name, "header")
