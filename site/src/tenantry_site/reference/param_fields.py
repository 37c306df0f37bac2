"""Parameters from ``<ParamField>``: the parameters that an ``api`` page lists in its own words, read from its HTML.

A ``<ParamField>`` is rendered with ``data-param``, ``data-in``, ``data-type``, ``data-required``, ``data-default`` and
``data-placeholder``; one within another is a field of it, and a part of its JSON.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Any, Final

from tenantry_site.reference.bodies import as_text, form_of, sample
from tenantry_site.reference.operation import Body, Example, Media, Parameter
from tenantry_site.reference.parameters import LOCATIONS
from tenantry_site.reference.schemas import ABSENT, Field, Shape

_VOID: Final = frozenset({"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "wbr"})
_WORD: Final = re.compile(r"[a-z]+")
_KINDS: Final = {
    "int": "integer", "integer": "integer", "long": "integer", "number": "number", "float": "number",
    "double": "number", "decimal": "number", "bool": "boolean", "boolean": "boolean", "object": "object",
    "dict": "object", "json": "object", "map": "object", "array": "array", "list": "array", "file": "file",
    "binary": "file", "string": "string", "str": "string", "text": "string",
}  # fmt: skip


class _Finder(HTMLParser):
    """Collects the outermost elements that have ``data-param``, and those within them as theirs."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[tuple[dict[str, str], list[Any]]] = []
        self._levels: list[list[tuple[dict[str, str], list[Any]]] | None] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _VOID:
            return
        given = {name: value or "" for name, value in attrs}
        if not given.get("data-param"):
            self._levels.append(None)
            return
        here = next((level for level in reversed(self._levels) if level is not None), self.found)
        inner: list[Any] = []
        here.append((given, inner))
        self._levels.append(inner)

    def handle_endtag(self, tag: str) -> None:
        if tag not in _VOID and self._levels:
            self._levels.pop()


def param_fields(html: str) -> tuple[tuple[Parameter, ...], tuple[Field, ...]]:
    """The parameters outside of the body, and the fields of the body."""
    if "data-param" not in html:
        return (), ()
    finder = _Finder()
    finder.feed(html)
    finder.close()
    parameters: dict[tuple[str, str], Parameter] = {}
    fields: dict[str, Field] = {}
    for given, inner in finder.found:
        location = given.get("data-in", "")
        if location in LOCATIONS:
            one = _parameter(given, location, inner)
            parameters.setdefault((location, one.name), one)
        elif location in ("body", "form"):
            fields.setdefault(given["data-param"], _field(given, inner))
    return tuple(parameters.values()), tuple(fields.values())


def body(fields: tuple[Field, ...], content_type: str) -> Body | None:
    """The body of these fields; as JSON unless the page says another content type."""
    if not fields:
        return None
    shape = Shape(type="object", kind="object", fields=fields)
    kind = content_type.strip() or "application/json"
    form = form_of(kind, shape)
    needed = tuple(field for field in fields if field.required or field.shape.default is not ABSENT)
    value = sample(Shape(kind="object", fields=needed or fields), request=True)
    example = Example("example", as_text(value, form), generated=True)
    return Body((Media(kind, form, shape, (example,)),), required=any(field.required for field in fields))


def _parameter(given: dict[str, str], location: Any, inner: list[Any]) -> Parameter:
    shape = _shape(given, inner)
    return Parameter(
        name=given["data-param"],
        location=location,
        required="data-required" in given or location == "path",
        shape=shape,
        style="simple" if location in ("path", "header") else "form",
        explode=location in ("query", "cookie"),
        example=shape.default,
        placeholder=given.get("data-placeholder", ""),
    )


def _field(given: dict[str, str], inner: list[Any]) -> Field:
    return Field(given["data-param"], _shape(given, inner), "data-required" in given)


def _shape(given: dict[str, str], inner: list[Any]) -> Shape:
    words = given.get("data-type", "").strip()
    first = words.lower().replace("<", " ").replace("[", " [").split()
    kind = "array" if "[]" in words else _KINDS.get(first[0], "string") if first else "string"
    default = _default(given.get("data-default", ""), kind)
    fields = tuple(_inner(inner)) if kind in ("object", "array") else ()
    if kind == "array" and fields:
        whole = Shape(type="object", kind="object", fields=fields)
        return Shape(type=words, kind=kind, default=default, items=whole)
    items = _items(words) if kind == "array" else None
    return Shape(type=words or "string", kind=kind, default=default, fields=fields, items=items)


def _items(words: str) -> Shape:
    """``string[]``, ``array<string>``, ``list of strings`` -> strings."""
    kinds = (_KINDS.get(word.removesuffix("s")) for word in _WORD.findall(words.lower()))
    kind = next((kind for kind in kinds if kind not in (None, "array")), "string")
    return Shape(type=kind or "string", kind=kind or "string")


def _inner(inner: list[Any]) -> Iterator[Field]:
    for given, deeper in inner:
        yield _field(given, deeper)


def _default(text: str, kind: str) -> Any:
    """The default as a value of its type; as text where it is none."""
    if not text:
        return ABSENT
    if kind == "string":
        return text.strip("\"'") if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'" else text
    try:
        return json.loads(text, parse_constant=str)
    except (ValueError, RecursionError):
        return text
