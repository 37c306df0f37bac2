"""Bodies: what a request or a response holds in each content type, with its examples as text."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final
from urllib.parse import urlencode

from tenantry_site.reference.operation import Example, Form, Media
from tenantry_site.reference.place import Place
from tenantry_site.reference.sampling import sample
from tenantry_site.reference.schemas import Schemas
from tenantry_site.reference.shape import ABSENT, Shape

_FORMS: Final[dict[str, Form]] = {
    "application/x-www-form-urlencoded": "form",
    "multipart/form-data": "multipart",
    "application/octet-stream": "binary",
    "application/pdf": "binary",
    "application/zip": "binary",
}
_TEXTS: Final = ("xml", "yaml", "csv", "javascript", "html", "plain", "ndjson", "jsonl", "graphql", "sql")
_LONGEST_EXAMPLE: Final = 40_000  # characters; more of it explains nothing
_MOST: Final = 12


def medias(place: Place, schemas: Schemas, *, request: bool) -> tuple[Media, ...]:
    """The bodies under ``content``."""
    found: list[Media] = []
    for kind, item in place.entries("content"):
        media = item.followed().as_object()
        if media and len(found) < _MOST:
            shape = schemas.shape(media.at("schema"))
            form = form_of(kind, shape)
            examples = tuple(_examples(media, shape, form, request=request))
            found.append(Media(kind.strip() or "application/json", form, shape, examples))
    return tuple(found)


def form_of(media_type: str, shape: Shape) -> Form:
    """How a body of this type is filled in."""
    bare = media_type.partition(";")[0].strip().lower()
    if bare in _FORMS:
        return _FORMS[bare]
    if "json" in bare and not bare.endswith(("ndjson", "jsonl")):
        return "json"
    if bare.startswith(("image/", "audio/", "video/", "font/")) or shape.kind == "file":
        return "binary"
    if bare.startswith("text/") or any(bare.endswith(word) for word in _TEXTS):
        return "text"
    return "json" if bare in ("*/*", "application/*") else "text"


def _examples(media: Place, shape: Shape, form: Form, *, request: bool) -> Iterator[Example]:
    given = list(_given(media, form))
    if given:
        yield from given
        return
    value = sample(shape, request=request)
    if value is not ABSENT and form != "binary":
        yield Example("example", as_text(value, form), generated=shape.example is ABSENT)


def _given(media: Place, form: Form) -> Iterator[Example]:
    if media.has("example"):
        yield Example("example", as_text(media.value["example"], form))
    for name, item in list(media.entries("examples"))[:_MOST]:
        example = item.followed().as_object()
        if example.has("value"):
            text = as_text(example.value["value"], form)
            yield Example(name, text, example.text("summary"), example.text("description"))


def as_text(value: Any, form: Form) -> str:
    """A value as it is sent in a body of this form: a text that is JSON already is left as it is."""
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
    """JSON for people, characters as they are."""
    return json.dumps(value, ensure_ascii=False, indent=2)


def compact(value: Any) -> str:
    """JSON in one line; a text as it is without quotes would be another value, so it keeps them."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
