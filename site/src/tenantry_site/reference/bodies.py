"""Reads the bodies of requests and responses, one for each content type, with examples. If the document has no example,
an example is made from the schema."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final
from urllib.parse import urlencode

from tenantry_site.reference.json_ref import JsonRef
from tenantry_site.reference.operation import Example, Form, Media
from tenantry_site.reference.schemas import ABSENT, Schemas, Shape

_FORMS: Final[dict[str, Form]] = {
    "application/x-www-form-urlencoded": "form",
    "multipart/form-data": "multipart",
    "application/octet-stream": "binary",
    "application/pdf": "binary",
    "application/zip": "binary",
}
_TEXT_TYPES: Final = ("xml", "yaml", "csv", "javascript", "html", "plain", "ndjson", "jsonl", "graphql", "sql")
_LONGEST_EXAMPLE: Final = 40_000  # characters; longer examples are cut
_MOST: Final = 12


def medias(ref: JsonRef, schemas: Schemas, *, request: bool) -> tuple[Media, ...]:
    """The bodies in the ``content`` of a request body or response. ``request``: whether it is a request body."""
    found: list[Media] = []
    for kind, item in ref.entries("content"):
        media = item.followed().as_object()
        if media and len(found) < _MOST:
            shape = schemas.shape(media.at("schema"))
            form = form_of(kind, shape)
            examples = tuple(_examples(media, shape, form, request=request))
            found.append(Media(kind.strip() or "application/json", form, shape, examples))
    return tuple(found)


def form_of(media_type: str, shape: Shape) -> Form:
    """The kind of input in which the playground edits a body of this media type."""
    bare = media_type.partition(";")[0].strip().lower()
    if bare in _FORMS:
        return _FORMS[bare]
    if "json" in bare and not bare.endswith(("ndjson", "jsonl")):
        return "json"
    if bare.startswith(("image/", "audio/", "video/", "font/")) or shape.kind == "file":
        return "binary"
    if bare.startswith("text/") or any(bare.endswith(word) for word in _TEXT_TYPES):
        return "text"
    return "json" if bare in ("*/*", "application/*") else "text"


def _examples(media: JsonRef, shape: Shape, form: Form, *, request: bool) -> Iterator[Example]:
    given = list(_given(media, form))
    if given:
        yield from given
        return
    value = sample(shape, request=request)
    if value is not ABSENT and form != "binary":
        yield Example("example", as_text(value, form), generated=shape.example is ABSENT)


def _given(media: JsonRef, form: Form) -> Iterator[Example]:
    if media.has("example"):
        yield Example("example", as_text(media.value["example"], form))
    for name, item in list(media.entries("examples"))[:_MOST]:
        example = item.followed().as_object()
        if example.has("value"):
            text = as_text(example.value["value"], form)
            yield Example(name, text, example.text("summary"), example.text("description"))


def as_text(value: Any, form: Form) -> str:
    """An example value as the text of a body. For the form ``json``, a string that contains a JSON object or list is
    used as it is."""
    if isinstance(value, str) and (form != "json" or _is_json(value)):
        return value[:_LONGEST_EXAMPLE]
    if form == "form" and isinstance(value, dict):
        return urlencode({name: item if isinstance(item, str) else compact(item) for name, item in value.items()})
    text = pretty(value)
    return text if len(text) <= _LONGEST_EXAMPLE else compact(value)[:_LONGEST_EXAMPLE]


def _is_json(text: str) -> bool:
    if not text.lstrip().startswith(("{", "[")):
        return False
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def pretty(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)


def compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


_SAMPLE_TEXTS: Final = {
    "date-time": "2026-01-15T09:30:00Z",
    "date": "2026-01-15",
    "time": "09:30:00Z",
    "duration": "PT1H",
    "email": "user@example.com",
    "idn-email": "user@example.com",
    "hostname": "example.com",
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
    "uri": "https://example.com",
    "url": "https://example.com",
    "uri-reference": "/path",
    "uuid": "3f2504e0-4f89-41d3-9a0c-0305e82c3301",
    "byte": "ZXhhbXBsZQ==",
    "password": "<PASSWORD>",
}


def sample(shape: Shape, *, request: bool) -> Any:
    """An example value for a schema.

    In a response, write-only properties are left out. A request, which readers edit and send, has only the properties
    that are required or have an example or a constant, and are not read-only. A string in it is empty if the schema
    suggests none.

    The value is ABSENT for a recursive schema and for a schema that allows any type.
    """
    for given in (shape.example, shape.const, shape.default):
        if given is not ABSENT:
            return given
    if shape.enum:
        return shape.enum[0]
    if shape.recursive:
        return ABSENT
    if shape.kind in ("object", "") and (shape.fields or shape.extra or shape.alternatives):
        return _object(shape, request=request)
    if shape.kind == "array":
        if shape.fields:  # an array with a schema for each position; its fields are named [0], [1], …
            members = (sample(field.shape, request=request) for field in shape.fields)
            return [None if member is ABSENT else member for member in members]
        value = sample(shape.items, request=request) if shape.items is not None else ABSENT
        return [] if value is ABSENT or (request and not value) else [value]
    if request and shape.kind == "string" and shape.format not in _SAMPLE_TEXTS:
        return ""
    return _scalar(shape)


def _object(shape: Shape, *, request: bool) -> Any:
    made: dict[str, Any] = {}
    for field in shape.fields:
        skipped = field.shape.read_only if request else field.shape.write_only
        known = field.shape.example is not ABSENT or field.shape.const is not ABSENT
        spare = not field.required and (field.shape.deprecated or (request and not known))
        if skipped or spare or field.name.startswith("/"):
            continue
        value = sample(field.shape, request=request)
        if value is not ABSENT:
            made[field.name] = value
        elif field.required and not field.shape.recursive:
            made[field.name] = None
    if shape.alternatives:
        first = sample(shape.alternatives[0], request=request)
        if not isinstance(first, dict):
            return made or first
        made |= {key: value for key, value in first.items() if key not in made}
    if not made and not request and shape.extra is not None:
        value = sample(shape.extra, request=request)
        made = {} if value is ABSENT else {"key": value}
    return made


def _scalar(shape: Shape) -> Any:
    if shape.kind == "string":
        return _SAMPLE_TEXTS.get(shape.format, "string")
    if shape.kind in ("integer", "number"):
        return 0 if shape.least is None else shape.least
    return {"boolean": True, "object": {}, "file": "<FILE>", "null": None}.get(shape.kind, ABSENT)
