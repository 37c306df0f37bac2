"""Request: what an endpoint is sent at first, before the reader has typed anything; the snippets show it.

The playground's script builds the same from its inputs, by the same rules: a test holds the two together.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import quote

from tenantry_site.reference import controls
from tenantry_site.reference.bodies import compact
from tenantry_site.reference.controls import Control
from tenantry_site.reference.operation import Credential, Endpoint, Form

PLACEHOLDER_HOST: Final = "https://example.com"
"""Stands for the host of the docs where the API's address is a path of it and the host is not known yet."""

_UNESCAPED: Final = "-_.!~*'()"  # what encodeURIComponent leaves too
_BREAKS: Final = re.compile(r"[\x00-\x1f\x7f]+")
NAME: Final = re.compile(r"\{([^{}]+)\}")
_PARTED: Final = {"spaceDelimited": "%20", "pipeDelimited": "|"}


@dataclass(frozen=True, slots=True)
class Sent:
    """A body. ``text`` for JSON and text; ``pairs`` of a form, each with whether it is a file."""

    form: Form
    type: str
    text: str = ""
    pairs: tuple[tuple[str, str, bool], ...] = ()


@dataclass(frozen=True, slots=True)
class Request:
    """One request. ``user`` is what basic authorization sends."""

    method: str
    url: str
    headers: tuple[tuple[str, str], ...] = ()
    body: Sent | None = None
    user: tuple[str, str] | None = None
    by_query: bool = False
    """Whether the same path takes the same body by QUERY."""


def initial(endpoint: Endpoint, host: str = PLACEHOLDER_HOST) -> Request:
    """The request with the examples and defaults of the document, and names where there are none."""
    inputs = controls.of_parameters(endpoint.parameters)
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
        return _encoded(_joined(control)) if control is not None and control.value else f"{{{name}}}"

    parts = NAME.split(path)
    return "".join(filled(part) if index % 2 else literal(part) for index, part in enumerate(parts))


def _user(one: Credential) -> tuple[str, str]:
    return one.prefix + _blank(one.labels[0]), _blank(one.labels[-1])


def literal(path: str) -> str:
    """A part of a path that no parameter stands in, as an address has it."""
    return quote(path, safe="/:@!$&*+,;=()-._~%")


def _queries(inputs: Iterable[Control]) -> Iterator[str]:
    for control in inputs:
        if control.location == "query":
            if control.value:
                yield from (f"{_encoded(name)}={value}" for name, value in _written(control))
            elif control.required:
                yield f"{_encoded(control.name)}={{{control.name}}}"


def _written(control: Control) -> Iterator[tuple[str, str]]:
    """The pairs of a query that one input stands for, values encoded."""
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
        value = _joined(control) if control.value else _blank(control.name) if control.required else ""
        if control.location == "header" and value:
            yield control.name, _line(value)
        elif control.location == "cookie" and value:
            crumbs.append(f"{control.name}={value}")
    if crumbs:
        yield "Cookie", _line("; ".join(crumbs))
    if body is not None and body.form not in ("form", "multipart"):
        yield "Content-Type", _line(body.type)


def bearing(token: str) -> str:
    """What the header of a bearer holds; who typed the word before the token does not get it twice."""
    return token if token[:7].lower() == "bearer " else f"Bearer {token}"


def _body(endpoint: Endpoint) -> Sent | None:
    if endpoint.body is None:
        return None
    media = endpoint.body.media[0]
    if media.form in ("form", "multipart"):
        inputs = controls.of_form(media)
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


def _joined(control: Control) -> str:
    """The value of an input that is one text: a list with commas."""
    if control.kind == "list":
        return ",".join(line for line in control.value.split("\n") if line)
    return control.value


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
    """What stands for a value that only the reader has: ``<TOKEN>``."""
    return f"<{re.sub(r'[^A-Za-z0-9]+', '_', name).strip('_').upper() or 'VALUE'}>"


def _line(text: str) -> str:
    """A header's value: it has no breaks."""
    return _BREAKS.sub(" ", text).strip()
