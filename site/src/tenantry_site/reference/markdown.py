"""Writes the documentation of an endpoint as Markdown, with the same facts as its page in HTML."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from tenantry_site.reference.html.sections import field_facts, field_labels
from tenantry_site.reference.operation import Endpoint, Media, Parameter
from tenantry_site.reference.schemas import ABSENT, Shape

_DEEPEST = 6
_LOCATIONS: Final = (("path", "Path"), ("query", "Query"), ("header", "Header"), ("cookie", "Cookie"))


def endpoint_markdown(endpoint: Endpoint, described: Callable[[str], str]) -> str:
    """The endpoint as Markdown: method and address, authorization, parameters, bodies and examples. ``described``:
    returns a description as readers may see it (``Descriptions.markdown``)."""
    return "\n".join(_EndpointWriter(described).lines(endpoint)).strip() + "\n"


class _EndpointWriter:
    __slots__ = ("_described",)

    def __init__(self, described: Callable[[str], str]) -> None:
        self._described = described

    def lines(self, endpoint: Endpoint) -> Iterator[str]:
        base = endpoint.servers[0].filled if endpoint.servers else ""
        yield f"`{endpoint.method} {base}{endpoint.path}`\n"
        if endpoint.deprecated:
            yield "Deprecated.\n"
        yield from self._paragraph(endpoint.description)
        if endpoint.authorization:
            yield "## Authorization\n"
            yield from (f"- {' and '.join(one.words for one in way) or 'Nothing'}" for way in endpoint.authorization)
            yield ""
        if not endpoint.documented:
            yield from self._parameters(endpoint)
            yield from self._body(endpoint)
        if endpoint.responses:
            yield "## Responses\n"
        for one in endpoint.responses:
            yield f"### {one.status}\n"
            yield from self._paragraph(one.description)
            if one.headers:
                yield "Headers:\n"
                yield from map(self._parameter, one.headers)
                yield ""
            for media in one.media[:1]:
                yield from self._media(media, 1)

    def _paragraph(self, description: str) -> Iterator[str]:
        text = self._described(description).strip()
        if text:
            yield f"{text}\n"

    def _parameters(self, endpoint: Endpoint) -> Iterator[str]:
        for location, title in _LOCATIONS:
            here = [one for one in endpoint.parameters if one.location == location]
            if here:
                yield f"## {title} parameters\n"
                for one in here:
                    yield self._parameter(one)
                    yield from self._inside(one.shape, 1)
                yield ""

    def _body(self, endpoint: Endpoint) -> Iterator[str]:
        if endpoint.body is None:
            return
        for number, media in enumerate(endpoint.body.media):
            yield f"## Body: {media.type}\n"
            if not number:
                yield from self._paragraph(endpoint.body.description)
            yield from self._media(media, len(media.examples))

    def _media(self, media: Media, examples: int) -> Iterator[str]:
        shape = media.shape
        yield from self._paragraph(shape.description)
        if not shape.nested or shape.kind == "array":
            marks, facts = _marks(shape), _facts(shape)
            yield f"{marks[:1].upper()}{marks[1:]}. {facts}".rstrip() + "\n"
        yield from self._inside(shape, 0)
        if media.form == "json":
            yield from (f"\n```json\n{each.text}\n```\n" for each in media.examples[:examples])

    def _parameter(self, one: Parameter) -> str:
        marks = _marks(one.shape, required=one.required, deprecated=one.deprecated)
        return self._item(f"`{one.name}` ({marks})", one.description, one.shape, one.example)

    def _inside(self, shape: Shape, depth: int) -> Iterator[str]:
        while shape.items is not None and not shape.fields:
            shape = shape.items
        if depth >= _DEEPEST:
            return
        margin = "  " * depth
        named = [(f"`{one.name}`", one.shape, one.required) for one in shape.fields]
        if shape.extra is not None and shape.nested:
            named.append(("any other name" if shape.fields else "any name", shape.extra, False))
        for name, inner, required in named:
            title = f"{name} ({_marks(inner, required=required, deprecated=inner.deprecated)})"
            example = ABSENT if inner.nested else inner.example
            yield margin + self._item(title, inner.description, inner, example)
            yield from self._inside(inner, depth + 1)
        for number, each in enumerate(shape.alternatives, 1):
            name = each.title or each.name
            marks = _marks(each, deprecated=each.deprecated)
            title = f"{shape.choice}, {number}: " + (f"{name} ({marks})" if name and marks != name else marks or name)
            yield margin + self._item(title, each.description, each)
            yield from self._inside(each, depth + 1)

    def _item(self, title: str, description: str, shape: Shape, example: Any = ABSENT) -> str:
        about = " ".join(self._described(description).split())
        return " ".join(filter(None, ("-", title, about, _facts(shape, example))))


def _marks(shape: Shape, *, required: bool = False, deprecated: bool = False) -> str:
    labels = field_labels(shape, required=required, deprecated=deprecated)
    return ", ".join(one.text for one in labels if one.value is None)


def _facts(shape: Shape, example: Any = ABSENT) -> str:
    """The bounds, the default and the example of a field as sentences."""
    labels = field_labels(shape)
    facts = [f"{one.text.capitalize()} {_code(one.value)}." for one in labels if one.value is not None]
    facts += [f"{one.text}{', '.join(map(_code, one.values))}{one.more}." for one in field_facts(shape, example)]
    return " ".join(facts)


def _code(text: str) -> str:
    return f"`` {text} ``" if "`" in text else f"`{text}`"
