"""Callees: the addresses that the playgrounds of a site call, as far as the OpenAPI documents say."""

from __future__ import annotations

from dataclasses import replace

from tenantry_site.reference.library import Notes
from tenantry_site.reference.operation import Operation, Server
from tenantry_site.reference.reference import Reference
from tenantry_site.reference.servers import servers

_MOST = 64
"""Addresses of one server: each variable multiplies them."""


def callees(reference: Reference) -> frozenset[str]:
    """The servers of all operations. A variable in an address has its default value, or any that it may have."""
    found: set[Server] = set()
    for operation in reference.operations:
        found.update(_servers(operation))
    return frozenset(url for server in found for url in _urls(server))


def _servers(operation: Operation) -> tuple[Server, ...]:
    notes = Notes()  # what is wrong with them is said on the page of the operation
    place, around = replace(operation.place, notes=notes), replace(operation.around, notes=notes)
    root = replace(place, value=place.library.value(operation.file, notes), path=operation.file, pointer="")
    return servers(replace(operation, place=place, around=around), root, ())


def _urls(server: Server) -> list[str]:
    urls = [server.url]
    for variable in server.variables:
        values = sorted({variable.default, *variable.enum})
        urls = [url.replace(f"{{{variable.name}}}", value) for url in urls for value in values][:_MOST]
    return urls
