"""Request headers: the names of those that the configuration and the OpenAPI documents of a site declare."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from tenantry_site.config.model import SiteConfig
from tenantry_site.reference.authorization import all_schemes
from tenantry_site.reference.library import Notes
from tenantry_site.reference.reference import Reference


def request_headers(config: SiteConfig, reference: Reference) -> frozenset[str]:
    """``api.auth.name``, the header parameters of all operations, and the keys that are sent as a header."""
    names = {config.api.auth.name} if config.api.auth.name and config.api.auth.method != "basic" else set()
    return frozenset((*names, *_parameters(reference), *_keys(reference)))


def _parameters(reference: Reference) -> Iterator[str]:
    notes = Notes()  # what is wrong with them is said on the page of the operation
    for operation in reference.operations:
        for place in (operation.around, operation.place):
            for item in replace(place, notes=notes).items("parameters"):
                parameter = item.followed().as_object()
                if parameter.text("in") == "header":
                    yield parameter.text("name")


def _keys(reference: Reference) -> Iterator[str]:
    notes = Notes()
    for operation in {operation.file: operation for operation in reference.operations}.values():
        place = replace(operation.place, notes=notes)
        root = replace(place, value=place.library.value(operation.file, notes), path=operation.file, pointer="")
        schemes = root.object("components").object("securitySchemes")
        yield from (one.name for one in all_schemes(schemes) if one.place == "header")
