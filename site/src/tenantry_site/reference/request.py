"""Converts an endpoint to the inputs of the playground, and to the initial request for code snippets."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final, Literal
from urllib.parse import quote

from tenantry_site.reference.bodies import compact, pretty
from tenantry_site.reference.operation import Credential, Endpoint, Form, Media, Parameter
from tenantry_site.reference.schemas import ABSENT, Shape

Kind = Literal["text", "number", "select", "list", "json", "file"]


@dataclass(frozen=True, slots=True)
class Control:
    """An input of the playground."""

    name: str
    location: str
    """Where a parameter is sent, or ``body`` for a field of a form."""
    kind: Kind
    value: str = ""
    """The initial text. A list has one value per line, an object is JSON."""
    options: tuple[str, ...] = ()
    """The choices of a select."""
    required: bool = False
    style: str = "form"
    """With ``explode``: how several values are sent, as in OpenAPI."""
    explode: bool = True
    whole: bool = False
    """Whether the value is sent as JSON."""
    words: str = ""
    """The type, for the label."""
    placeholder: str = ""


def of_parameters(parameters: Iterable[Parameter]) -> tuple[Control, ...]:
    """An input for each parameter, required parameters first."""
    made = (_of_parameter(one) for one in parameters)
    return tuple(sorted(made, key=lambda control: not control.required))


def of_form(media: Media) -> tuple[Control, ...]:
    """An input for each field of a form body, required fields first."""
    return tuple(sorted(_of_fields(media), key=lambda control: not control.required))


def _of_parameter(one: Parameter) -> Control:
    shape = one.shape
    given = one.example
    if given is ABSENT and one.required:
        given = _fallback(shape)
    kind, options = _kind(shape)
    value = _text(given, kind)
    hint = one.placeholder or _text(one.example if one.example is not ABSENT else shape.default, kind)
    return Control(
        name=one.name,
        location=one.location,
        kind=kind,
        value=value if one.required else "",
        options=options,
        required=one.required,
        style=one.style,
        explode=one.explode,
        whole=one.json,
        words=shape.type,
        placeholder=hint.replace("\n", " "),
    )


def _of_fields(media: Media) -> Iterator[Control]:
    for field in media.shape.fields:
        if field.shape.read_only or field.name.startswith("/"):
            continue
        kind, options = _kind(field.shape, form=True)
        given = field.shape.example if field.shape.example is not ABSENT else _fallback(field.shape)
        value = "" if kind == "file" or not field.required else _text(given, kind)
        hint = _text(given, kind).replace("\n", " ")
        yield Control(
            field.name, "body", kind, value, options, field.required, words=field.shape.type, placeholder=hint
        )


def _fallback(shape: Shape) -> Any:
    for value in (shape.const, shape.default, shape.enum[0] if shape.enum else ABSENT):
        if value is not ABSENT and value is not None:
            return value
    return ABSENT


def _kind(shape: Shape, *, form: bool = False) -> tuple[Kind, tuple[str, ...]]:
    if shape.kind == "boolean":
        return "select", ("true", "false")
    choices = (shape.const,) if shape.const is not ABSENT else shape.enum
    if choices and all(isinstance(value, (str, int, float)) for value in choices):
        return "select", tuple(_text(value, "text") for value in choices)
    if shape.kind == "array":
        if form and shape.items is not None and shape.items.kind == "file":
            return "file", ()
        return "list", ()
    kinds: dict[str, Kind] = {"integer": "number", "number": "number", "object": "json", "file": "file"}
    found = kinds.get(shape.kind, "text")
    return ("text" if " or " in shape.type else found), ()


def _text(value: Any, kind: Kind) -> str:
    if value is ABSENT or value is None:
        return ""
    if kind == "list" and isinstance(value, list):
        return "\n".join(_text(item, "text") for item in value)
    if isinstance(value, str):
        return value
    return pretty(value) if kind == "json" else compact(value)


PLACEHOLDER_HOST: Final = "https://example.com"
"""The origin in code snippets if the API's address is a path on the docs' host, and that host is unknown."""

_UNESCAPED: Final = "-_.!~*'()"  # the same characters as in JavaScript's encodeURIComponent
_BREAKS: Final = re.compile(r"[\x00-\x1f\x7f]+")
NAME: Final = re.compile(r"\{([^{}]+)\}")
_PARTED: Final = {"spaceDelimited": "%20", "pipeDelimited": "|"}


@dataclass(frozen=True, slots=True)
class Sent:
    """The body of a request. ``text``: the body if it is JSON or text. ``pairs``: (name, value, whether it is a file)
    for each field of a form."""

    form: Form
    type: str
    text: str = ""
    pairs: tuple[tuple[str, str, bool], ...] = ()


@dataclass(frozen=True, slots=True)
class Request:
    """A request for code snippets. ``user``: user name and password of basic authentication."""

    method: str
    url: str
    headers: tuple[tuple[str, str], ...] = ()
    body: Sent | None = None
    user: tuple[str, str] | None = None
    by_query: bool = False
    """Whether the same path also has an operation with the method QUERY."""


def initial(endpoint: Endpoint, host: str = PLACEHOLDER_HOST) -> Request:
    """The request with the document's examples and defaults. A required value without either is a placeholder.
    ``host``: the origin of the docs."""
    inputs = of_parameters(endpoint.parameters)
    signing = endpoint.authorization[0] if endpoint.authorization else ()
    server = endpoint.servers[0].filled if endpoint.servers else ""
    base = server if "://" in server else host + server
    queries = [
        *_queries(inputs),
        *(f"{_encoded(one.name)}={{{one.name}}}" for one in signing if one.location == "query"),
    ]
    query = f"?{'&'.join(queries)}" if queries else ""
    body = _body(endpoint)
    return Request(
        method=endpoint.method,
        url=base + _path(endpoint.path, inputs) + query,
        headers=tuple(_headers(inputs, signing, body)),
        body=body,
        user=next((_user(one) for one in signing if one.kind == "basic"), None),
        by_query="QUERY" in endpoint.path_methods and endpoint.method != "QUERY",
    )


def _path(path: str, inputs: Iterable[Control]) -> str:
    values = {control.name: control for control in inputs if control.location == "path"}

    def filled(name: str) -> str:
        control = values.get(name)
        return _expanded(control, _encoded) if control is not None and control.value else f"{{{name}}}"

    parts = NAME.split(path)
    return "".join(filled(part) if index % 2 else literal(part) for index, part in enumerate(parts))


def _user(one: Credential) -> tuple[str, str]:
    return one.prefix + _blank(one.labels[0]), _blank(one.labels[-1])


def literal(path: str) -> str:
    """A part of a path without parameters, percent-encoded for an address."""
    return quote(path, safe="/:@!$&*+,;=()-._~%")


def _queries(inputs: Iterable[Control]) -> Iterator[str]:
    for control in inputs:
        if control.location == "query":
            if control.value:
                yield from (f"{_encoded(name)}={value}" for name, value in _written(control))
            elif control.required:
                yield f"{_encoded(control.name)}={{{control.name}}}"


def _written(control: Control) -> Iterator[tuple[str, str]]:
    """The query parameters for an input's value: pairs of name and encoded value."""
    name = control.name
    value = _json(control.value) if control.kind == "json" and not control.whole else None
    if isinstance(value, dict):
        items = [(key, _plain(item)) for key, item in value.items()]
        if control.style == "deepObject":
            yield from ((f"{name}[{key}]", _encoded(item)) for key, item in items)
        elif control.explode:
            yield from ((key, _encoded(item)) for key, item in items)
        else:
            yield name, ",".join(_encoded(part) for pair in items for part in pair)
    elif control.kind == "list":
        values = [_encoded(line) for line in control.value.split("\n") if line]
        if control.explode:
            yield from ((name, item) for item in values)
        else:
            yield name, _PARTED.get(control.style, ",").join(values)
    else:
        yield name, _encoded(control.value)


def _headers(inputs: Iterable[Control], signing: Iterable[Credential], body: Sent | None) -> Iterator[tuple[str, str]]:
    crumbs = []
    for one in signing:
        shown = one.prefix + _blank("TOKEN" if one.kind == "bearer" else one.labels[0])
        if one.location == "cookie":
            crumbs.append(f"{one.name}={shown}")
        elif one.kind != "basic" and one.location == "header":
            yield one.name, _line(bearing(shown) if one.kind == "bearer" else shown)
    for control in inputs:
        if control.location == "header" and (control.value or control.required):
            yield control.name, _line(_expanded(control, str) if control.value else _blank(control.name))
        elif control.location == "cookie" and control.value:
            crumbs += (f"{name}={value}" for name, value in _written(control))
        elif control.location == "cookie" and control.required:
            crumbs.append(f"{control.name}={_blank(control.name)}")
    if crumbs:
        yield "Cookie", _line("; ".join(crumbs))
    if body is not None and body.form not in ("form", "multipart"):
        yield "Content-Type", _line(body.type)


def bearing(token: str) -> str:
    """The ``Authorization`` header for a bearer token, which may already have the prefix ``Bearer``."""
    return token if token[:7].lower() == "bearer " else f"Bearer {token}"


def _body(endpoint: Endpoint) -> Sent | None:
    if endpoint.body is None:
        return None
    media = endpoint.body.media[0]
    if media.form in ("form", "multipart"):
        inputs = of_form(media)
        pairs = tuple(pair for control in inputs for pair in _pairs(control))
        return Sent(media.form, media.type, pairs=pairs)
    return Sent(media.form, media.type, media.examples[0].text if media.examples else "")


def _pairs(control: Control) -> Iterator[tuple[str, str, bool]]:
    if control.kind == "file":
        if control.required:
            yield control.name, "FILE", True
    elif control.kind == "list":
        yield from ((control.name, line, False) for line in control.value.split("\n") if line)
    elif control.value or control.required:
        yield control.name, control.value or _blank(control.name), False


_STYLES: Final = {"label": ".", "matrix": ";"}
"""The character before and between the values of a path parameter (RFC 6570, sections 3.2.5 and 3.2.7)."""


def _expanded(control: Control, encoded: Callable[[str], str]) -> str:
    """The value of an input in a path or header, by its style."""
    style = "simple" if control.whole else control.style
    value = _json(control.value) if control.kind == "json" and not control.whole else None
    named = style == "matrix"
    if isinstance(value, dict):
        items = [(encoded(key), encoded(_plain(item))) for key, item in value.items()]
        found = ["=".join(pair) for pair in items] if control.explode else [",".join(map(",".join, items))]
        named = named and not control.explode
    elif control.kind == "list":
        lines = [encoded(line) for line in control.value.split("\n") if line]
        found = lines if control.explode else [",".join(lines)]
    else:
        found = [encoded(control.value)]
    before = _STYLES.get(style, "")
    return before + (before or ",").join(f"{encoded(control.name)}={one}" if named else one for one in found)


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else compact(value)


def _encoded(text: str) -> str:
    return quote(text, safe=_UNESCAPED)


def _blank(name: str) -> str:
    return f"<{re.sub(r'[^A-Za-z0-9]+', '_', name).strip('_').upper() or 'VALUE'}>"


def _line(text: str) -> str:
    """A header value, with spaces instead of line breaks and control characters."""
    return _BREAKS.sub(" ", text).strip()
