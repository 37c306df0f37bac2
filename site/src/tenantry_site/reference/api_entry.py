"""Reads the endpoint of a page whose front matter has ``api: METHOD path-or-address``.

The parameters of the endpoint are the page's ``<ParamField>`` components, which are rendered with the attributes
``data-param``, ``data-in``, ``data-type``, ``data-required``, ``data-default`` and ``data-placeholder``. A component
inside another describes a field of the outer parameter's object.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from html.parser import HTMLParser
from typing import Any, Final
from urllib.parse import parse_qsl, urlsplit

from tenantry_site.config.model import SiteConfig
from tenantry_site.diagnostic import Diagnostic, Severity
from tenantry_site.page import Page
from tenantry_site.reference.bodies import as_text, form_of, sample
from tenantry_site.reference.documents import METHODS
from tenantry_site.reference.endpoints import clean, of_addresses
from tenantry_site.reference.operation import Body, Endpoint, Example, Media, Parameter, Server
from tenantry_site.reference.parameters import AUTH_METHODS, LOCATIONS, configured_authorization
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
    """The parameters that the ``<ParamField>`` components of a page describe, and the fields of the request body."""
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
            shape = _shape(given, inner)
            one = Parameter(
                name=given["data-param"],
                location=location,
                required="data-required" in given or location == "path",
                shape=shape,
                style="simple" if location in ("path", "header") else "form",
                explode=location in ("query", "cookie"),
                example=shape.default,
                placeholder=given.get("data-placeholder", ""),
            )
            parameters.setdefault((location, one.name), one)
        elif location in ("body", "form"):
            fields.setdefault(given["data-param"], _field(given, inner))
    return tuple(parameters.values()), tuple(fields.values())


def body(fields: tuple[Field, ...], content_type: str) -> Body | None:
    """A request body with these fields, or None without fields. An empty content type means JSON."""
    if not fields:
        return None
    shape = Shape(type="object", kind="object", fields=fields)
    kind = content_type.strip() or "application/json"
    form = form_of(kind, shape)
    value = sample(shape, request=True)
    example = Example("example", as_text(value, form), generated=True)
    return Body((Media(kind, form, shape, (example,)),), required=any(field.required for field in fields))


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
    """The shape of the items of an array type: strings for ``string[]``, ``array<string>`` and ``list of strings``."""
    kinds = (_KINDS.get(word.removesuffix("s")) for word in _WORD.findall(words.lower()))
    kind = next((kind for kind in kinds if kind and kind != "array"), "string")
    return Shape(type=kind, kind=kind)


def _inner(inner: list[Any]) -> Iterator[Field]:
    for given, deeper in inner:
        yield _field(given, deeper)


def _default(text: str, kind: str) -> Any:
    """The default as a value of the type; the text itself if it is not valid JSON."""
    if not text:
        return ABSENT
    if kind == "string":
        return text.strip("\"'") if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'" else text
    try:
        return json.loads(text, parse_constant=str)
    except (ValueError, RecursionError):
        return text


_ENTRY: Final = re.compile(r"(?:(?P<method>[A-Za-z]+)\s+)?(?P<target>\S.*)")
_COLON: Final = re.compile(r"(?<=/):([A-Za-z_][\w-]*)")
_BRACED: Final = re.compile(r"\{([^{}]+)\}")
_KNOWN: Final = frozenset(method.upper() for method in METHODS) - {"X-QUERY"}


@dataclass(frozen=True, slots=True)
class ApiEntry:
    """A parsed ``api`` field."""

    method: str
    """The HTTP method in upper case."""
    base: str | None
    """Scheme and host of an absolute address, else None."""
    path: str
    """The path, with ``{name}`` for parameters."""
    query: tuple[tuple[str, str], ...] = ()
    has_method: bool = True
    """Whether the author wrote a method."""


def parse(text: str) -> ApiEntry | None:
    """Parse an ``api`` field; None if it is neither a path nor an http(s) address."""
    match = _ENTRY.fullmatch(" ".join(text.split()))
    if match is None:
        return None
    method, target = match["method"], match["target"]
    if method is None and target.upper() in _KNOWN:
        return None
    try:
        parts = urlsplit(target)
    except ValueError:
        return None
    base = None
    if "://" in target or parts.netloc or (parts.scheme and not target.startswith("/")):
        base = clean(f"{parts.scheme}://{parts.netloc}")
        if base is None or "://" not in base:
            return None
    path = _COLON.sub(r"{\1}", parts.path if parts.path.startswith("/") or not parts.path else f"/{parts.path}")
    query = tuple(parse_qsl(parts.query, keep_blank_values=True))
    return ApiEntry((method or "GET").upper(), base, path, query, method is not None)


def endpoint(entry: ApiEntry, page: Page, config: SiteConfig) -> Endpoint:
    """The endpoint of a page. It has the parameters that the page describes, and the parameters in the path and query
    of ``api``."""
    listed, fields = param_fields(page.html)
    known = {(one.location, one.name) for one in listed}
    added = [
        Parameter(name, "path", required=True, style="simple", explode=False)
        for name in dict.fromkeys(_BRACED.findall(entry.path))
        if ("path", name) not in known
    ]
    added += [
        Parameter(name, "query", required=True, example=value)
        for name, value in entry.query
        if ("query", name) not in known
    ]
    in_path = set(_BRACED.findall(entry.path))
    kept = tuple(one for one in listed if one.location != "path" or one.name in in_path)
    method = page.front.auth_method.strip().lower()
    chosen = method if method in AUTH_METHODS else config.api.auth.method
    servers = (Server(entry.base),) if entry.base is not None else of_addresses(config.api.base_url) or (Server(""),)
    return Endpoint(
        method=entry.method,
        path=entry.path,
        servers=servers,
        parameters=(*kept, *added),
        body=body(fields, page.front.content_type),
        authorization=configured_authorization(chosen, config.api.auth) if chosen else (),
        documented=True,
    )


def problems(
    entry: ApiEntry | None, page: Page, config: SiteConfig, rendered: Endpoint | None
) -> tuple[Diagnostic, ...]:
    """Diagnostics about the ``api`` field of a page, and about its path parameters."""
    written, source = page.front.api.strip(), page.source
    if entry is None or rendered is None:
        message, fix = f"api: {written!r} is not a path or an http(s) address", 'write "METHOD /path"'
        return (Diagnostic(Severity.WARNING, "API012", message, fix, path=source),)
    found = []
    if not entry.has_method:
        message = f"api: {written!r} has no method, and is shown as GET"
        found.append(Diagnostic(Severity.WARNING, "API011", message, f'write "GET {written}"', path=source))
    elif entry.method not in _KNOWN:
        message = f"api: {entry.method} is not a known HTTP method"
        found.append(Diagnostic(Severity.WARNING, "API011", message, "write GET, POST, PUT, PATCH…", path=source))
    if entry.base is None and not config.api.base_url:
        message = f"api: {written!r} is a path, and the configuration has no api.baseUrl"
        fix = "set api.baseUrl; until then the playground calls the host of the docs"
        found.append(Diagnostic(Severity.INFO, "API017", message, fix, path=source))
    listed = {one.name for one in param_fields(page.html)[0] if one.location == "path"}
    for name in sorted(listed - set(_BRACED.findall(entry.path))):
        message = f"the path parameter {name!r} is not in {entry.path}"
        fix = f"add {{{name}}} to the path, or use query, header or body instead of path"
        found.append(Diagnostic(Severity.WARNING, "API013", message, fix, path=source))
    return tuple(found)
