"""Sampling: an example value made from a shape, where a document gives none."""

from __future__ import annotations

from typing import Any, Final

from tenantry_site.reference.shape import ABSENT, Shape

_TEXTS: Final = {
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
    """A value of this shape. A request has no read-only property and an answer no write-only one.

    ABSENT where nothing can be said: a recursive shape, or one of any type.
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
        return _array(shape, request=request)
    return _scalar(shape)


def _object(shape: Shape, *, request: bool) -> Any:
    made: dict[str, Any] = {}
    for field in shape.fields:
        skipped = field.shape.read_only if request else field.shape.write_only
        if skipped or (field.shape.deprecated and not field.required) or field.name.startswith("/"):
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
    if not made and shape.extra is not None:
        value = sample(shape.extra, request=request)
        made = {} if value is ABSENT else {"key": value}
    return made


def _array(shape: Shape, *, request: bool) -> Any:
    if shape.fields:  # a tuple: its members are named [0], [1], …
        members = (sample(field.shape, request=request) for field in shape.fields)
        return [None if member is ABSENT else member for member in members]
    value = sample(shape.items, request=request) if shape.items is not None else ABSENT
    return [] if value is ABSENT else [value]


def _scalar(shape: Shape) -> Any:
    if shape.kind == "string":
        return _TEXTS.get(shape.format, "string")
    if shape.kind in ("integer", "number"):
        return 0 if shape.least is None else shape.least
    return {"boolean": True, "object": {}, "file": "<FILE>", "null": None}.get(shape.kind, ABSENT)
