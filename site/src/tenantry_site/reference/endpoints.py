"""Reads an operation from an OpenAPI document into an ``Endpoint``, which has everything that the operation's page
shows.

Also finds the addresses of all servers to which the playgrounds of a site send requests.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from urllib.parse import quote, urlsplit

from tenantry_site.config.model import SiteConfig
from tenantry_site.diagnostic import Diagnostic
from tenantry_site.reference.bodies import medias
from tenantry_site.reference.documents import item_operations
from tenantry_site.reference.json_ref import DocumentDiagnostics, JsonRef
from tenantry_site.reference.operation import (
    Authorization,
    Body,
    Callback,
    Endpoint,
    Media,
    Operation,
    Response,
    Server,
    Variable,
)
from tenantry_site.reference.operation_lookup import Reference
from tenantry_site.reference.parameters import (
    all_schemes,
    configured_authorization,
    declared_authorization,
    headers,
    parameters,
)
from tenantry_site.reference.schemas import Known, Schemas

_MOST_RESPONSES = 40
_MOST_CALLBACKS = 20


class Endpoints:
    """Reads operations into endpoints, with the settings of a configuration file."""

    __slots__ = ("_config", "_known")

    def __init__(self, config: SiteConfig) -> None:
        self._config = config
        self._known: Known = {}

    def read(self, operation: Operation, auth_method: str = "") -> tuple[Endpoint, tuple[Diagnostic, ...]]:
        """The endpoint of an operation, and the problems of this part of the document. ``auth_method``: from the page's
        front matter."""
        diagnostics = DocumentDiagnostics()
        noting = replace(
            operation,
            ref=replace(operation.ref, diagnostics=diagnostics),
            around=replace(operation.around, diagnostics=diagnostics),
        )
        return self._endpoint(noting, auth_method), diagnostics.since(0)

    def _endpoint(self, operation: Operation, auth_method: str) -> Endpoint:
        ref, ordered = operation.ref, self._config.api.maintain_order
        schemas = Schemas(self._known, ordered=ordered)
        root = replace(ref, value=ref.loader.value(operation.file, ref.diagnostics), path=operation.file, pointer="")
        return Endpoint(
            method=operation.method,
            path=operation.path,
            servers=servers(operation, root, self._config.api.base_url) or (Server(""),),
            parameters=parameters(operation, schemas, ordered=ordered),
            body=_body(ref, schemas),
            responses=tuple(_responses(ref, schemas, request=operation.is_webhook)),
            authorization=() if operation.is_webhook else self._authorization(ref, root, auth_method),
            callbacks=tuple(_callbacks(ref)),
            path_methods=tuple(one.method for one in item_operations(operation.path, operation.around)),
            description=operation.description,
            deprecated=ref.flag("deprecated"),
        )

    def _authorization(self, ref: JsonRef, root: JsonRef, method: str) -> Authorization:
        """How to authenticate. The first of these decides: the page's ``auth_method``; ``security: []`` in the
        operation (no authentication); the configuration; the document."""
        auth, schemes = self._config.api.auth, root.object("components").object("securitySchemes")
        if not method and ref.value.get("security") == []:
            return ()
        chosen = method or auth.method
        if chosen:
            return configured_authorization(chosen, auth, tuple(all_schemes(schemes)))
        found = declared_authorization(ref if ref.has("security") else root, schemes)
        if auth.input_prefix:
            return tuple(tuple(replace(one, prefix=auth.input_prefix) for one in way) for way in found)
        return found


def _body(ref: JsonRef, schemas: Schemas) -> Body | None:
    body = ref.object("requestBody")
    if not body:
        return None
    media = medias(body, schemas, request=True)
    return Body(media, body.text("description"), body.flag("required")) if media else None


def _responses(ref: JsonRef, schemas: Schemas, *, request: bool) -> Iterator[Response]:
    given = list(ref.entries("responses"))[:_MOST_RESPONSES]
    for status, item in sorted(given, key=lambda pair: _rank(pair[0])):
        response = item.followed().as_object()
        if not response or status.startswith("x-"):
            continue
        found: tuple[Media, ...] = medias(response, schemas, request=request)
        yield Response(status, response.text("description"), tuple(headers(response, schemas)), found)


def _rank(status: str) -> tuple[bool, str]:
    """Sort key of a status: numbers in order, then ``default``."""
    return not status[:1].isdigit(), status.upper()


def _callbacks(ref: JsonRef) -> Iterator[Callback]:
    for name, item in list(ref.entries("callbacks"))[:_MOST_CALLBACKS]:
        callback = item.followed().as_object()
        for expression in callback.value or ():
            if not expression.startswith("x-"):
                for operation in item_operations(name, callback.at(expression)):
                    yield Callback(name, expression, operation)


_KEPT = "/:@!$&*+,;=()-._~%[]{}"


def servers(operation: Operation, root: JsonRef, configured: Iterable[str]) -> tuple[Server, ...]:
    """The servers that the operation lists, else those of the path item, else ``configured`` (``api.baseUrl``), else
    those of the document ``root``."""
    for ref in (operation.ref, operation.around):
        found = tuple(_servers(ref))
        if found:
            return found
    return of_addresses(configured) or tuple(_servers(root))


def of_addresses(addresses: Iterable[str]) -> tuple[Server, ...]:
    cleaned = (clean(address) for address in addresses)
    return tuple(Server(address) for address in dict.fromkeys(cleaned) if address is not None)


def clean(address: str) -> str | None:
    """A server address, without user information, query, fragment and final slash: an http(s) address, or a path on the
    docs' host. None for any other address."""
    try:
        parts = urlsplit(address.strip())
    except ValueError:
        return None
    path = quote(parts.path, safe=_KEPT).rstrip("/")
    if not parts.scheme and not parts.netloc:
        return path if not path or path.startswith("/") else f"/{path.removeprefix('./')}"
    if parts.scheme.lower() not in ("http", "https") or not parts.netloc:
        return None
    return f"{parts.scheme.lower()}://{quote(parts.netloc.rpartition('@')[2], safe=_KEPT)}{path}"


def _servers(ref: JsonRef) -> Iterator[Server]:
    for item in ref.items("servers"):
        server = item.as_object()
        if not server:
            continue
        variables = tuple(_variables(server))
        url = clean(server.text("url"))
        if url is None or (not server.has("url")):
            note = f"{server.text('url')[:80]!r} is not the address of a server"
            server.report("API016", note, "write an http(s) address, or a path of the host of the docs")
            continue
        yield Server(url, server.text("description"), variables)


def _variables(server: JsonRef) -> Iterator[Variable]:
    for name, item in server.entries("variables"):
        variable = item.as_object()
        enum = tuple(str(value.value) for value in variable.items("enum") if isinstance(value.value, (str, int, float)))
        default = variable.text("default") or (enum[0] if enum else "")
        # Percent-encode the value, because it becomes part of an address
        safe = quote(default, safe=_KEPT.replace("{", "").replace("}", ""))
        yield Variable(name, safe, tuple(quote(value, safe=_KEPT) for value in enum), variable.text("description"))


_MOST = 64
"""Maximum number of addresses listed for one server: each variable in its address multiplies their number."""


def server_urls(reference: Reference) -> frozenset[str]:
    """The addresses of the servers of all operations. An address with variables is given once for each combination of
    values."""
    found: set[Server] = set()
    for operation in reference.operations:
        diagnostics = DocumentDiagnostics()  # not shown: the operation's page reports its problems
        ref, around = (
            replace(operation.ref, diagnostics=diagnostics),
            replace(operation.around, diagnostics=diagnostics),
        )
        root = replace(ref, value=ref.loader.value(operation.file, diagnostics), path=operation.file, pointer="")
        found.update(servers(replace(operation, ref=ref, around=around), root, ()))
    return frozenset(url for server in found for url in _urls(server))


def _urls(server: Server) -> list[str]:
    urls = [server.url]
    for variable in server.variables:
        values = sorted({variable.default, *variable.enum})
        urls = [url.replace(f"{{{variable.name}}}", value) for url in urls for value in values][:_MOST]
    return urls
