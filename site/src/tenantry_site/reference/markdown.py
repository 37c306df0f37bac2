from __future__ import annotations

from collections.abc import Iterator

from tenantry_site.reference.html.sections import shown_value
from tenantry_site.reference.operation import Endpoint, Parameter
from tenantry_site.reference.schemas import ABSENT, Shape

_DEEPEST = 6


def endpoint_markdown(endpoint: Endpoint) -> str:
    """The endpoint as Markdown: method and address, authorization, parameters, bodies and examples."""
    return "\n".join(_lines(endpoint)).strip() + "\n"


def _lines(endpoint: Endpoint) -> Iterator[str]:
    base = endpoint.servers[0].filled if endpoint.servers else ""
    yield f"`{endpoint.method} {base}{endpoint.path}`\n"
    if endpoint.deprecated:
        yield "Deprecated.\n"
    if endpoint.description:
        yield f"{endpoint.description.strip()}\n"
    if endpoint.authorization:
        yield "## Authorization\n"
        yield from (f"- {' and '.join(one.words for one in way) or 'Nothing'}" for way in endpoint.authorization)
        yield ""
    if not endpoint.documented:
        yield from _parameters(endpoint)
        yield from _body(endpoint)
    if endpoint.responses:
        yield "## Responses\n"
        for one in endpoint.responses:
            yield f"### {one.status}\n\n{one.description.strip()}\n"
            for media in one.media[:1]:
                yield from _shape(media.shape, 0)
                yield from (f"\n```json\n{each.text}\n```\n" for each in media.examples[:1] if media.form == "json")


def _parameters(endpoint: Endpoint) -> Iterator[str]:
    for location, title in (("path", "Path"), ("query", "Query"), ("header", "Header"), ("cookie", "Cookie")):
        here = [one for one in endpoint.parameters if one.location == location]
        if here:
            yield f"## {title} parameters\n"
            yield from map(_parameter, here)
            yield ""


def _parameter(one: Parameter) -> str:
    marks = ", ".join(filter(None, (one.shape.type, "required" if one.required else "")))
    return f"- `{one.name}` ({marks}) {' '.join(one.description.split())}".rstrip()


def _body(endpoint: Endpoint) -> Iterator[str]:
    if endpoint.body is None:
        return
    for media in endpoint.body.media:
        yield f"## Body: {media.type}\n"
        yield from _shape(media.shape, 0)
        yield from (f"\n```json\n{each.text}\n```\n" for each in media.examples if media.form == "json")


def _shape(shape: Shape, depth: int) -> Iterator[str]:
    while shape.items is not None:
        shape = shape.items
    margin = "  " * depth
    if depth >= _DEEPEST:
        return
    for field in shape.fields:
        inner = field.shape
        marks = ", ".join(filter(None, (inner.type, inner.format, "required" if field.required else "")))
        default = f" Default: `{shown_value(inner.default)}`." if inner.default is not ABSENT else ""
        values = f" One of {', '.join(f'`{shown_value(value)}`' for value in inner.enum[:20])}." if inner.enum else ""
        about = " ".join(inner.description.split())
        yield f"{margin}- `{field.name}` ({marks}) {about}{values}{default}".rstrip()
        yield from _shape(inner, depth + 1)
    for number, each in enumerate(shape.alternatives, 1):
        yield f"{margin}- {shape.choice}, {number}: {each.title or each.name or each.type}"
        yield from _shape(each, depth + 1)
