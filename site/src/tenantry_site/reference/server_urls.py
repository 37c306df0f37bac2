"""Finds the servers of an operation, and the addresses of all servers to which the playgrounds of a site send
requests."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from urllib.parse import quote, urlsplit

from tenantry_site.reference.json_ref import DocumentDiagnostics, JsonRef
from tenantry_site.reference.operation import Operation, Server, Variable
from tenantry_site.reference.operation_lookup import Reference

_KEPT = "/:@!$&*+,;=()-._~%[]{}"


def servers(operation: Operation, root: JsonRef, configured: Iterable[str]) -> tuple[Server, ...]:
    """The servers of an operation: its own, else those of its path item, else ``configured`` (``api.baseUrl``), else
    those of the document ``root``."""
    for ref in (operation.ref, operation.around):
        found = tuple(_servers(ref))
        if found:
            return found
    return of_addresses(configured) or tuple(_servers(root))


def of_addresses(addresses: Iterable[str]) -> tuple[Server, ...]:
    """Servers with these addresses; invalid addresses are ignored."""
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
        # percent-encoded, as the value becomes part of an address
        safe = quote(default, safe=_KEPT.replace("{", "").replace("}", ""))
        yield Variable(name, safe, tuple(quote(value, safe=_KEPT) for value in enum), variable.text("description"))


_MOST = 64
"""Maximum number of addresses of one server; each variable multiplies their number."""


def server_urls(reference: Reference) -> frozenset[str]:
    """The addresses of the servers of all operations. An address with variables is given for all their values."""
    found: set[Server] = set()
    for operation in reference.operations:
        diagnostics = DocumentDiagnostics()  # dropped: problems are reported for the page of the operation
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
