"""The JSON Schemas of the configuration file (draft 2020-12), made from the shapes that read it."""

from __future__ import annotations

from typing import Any

from tenantry_site.config.marks import Mark
from tenantry_site.config.model import SiteConfig
from tenantry_site.config.record import records
from tenantry_site.config.shapes import Text
from tenantry_site.config.tables import NEWER

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def json_schema(*, strict: bool = False) -> dict[str, Any]:
    """The schema, a new one at each call. It refuses a file exactly when ``loads`` gives a diagnostic that JSON Schema
    can express (``codes.TABLE``): an error, or with ``strict`` also a warning.

    The lenient one is for an editor and lets unknown keys pass; the strict one is for a check before a release.
    """
    definitions: dict[str, Any] = {mark.name.lower(): Text(mark).definition(strict=strict) for mark in Mark}
    definitions |= {shape.part.__name__: shape.definition(strict=strict) for shape in records()}
    site = definitions.pop(SiteConfig.__name__)
    kind = "strict" if strict else "lenient"
    properties = {"$schema": {"description": "Address of this schema."}, **site.pop("properties")}
    whole: dict[str, Any] = {
        "$schema": DIALECT,
        "$id": f"urn:tenantry:site:{kind}",
        "title": "Site configuration file",
        **site,
        "properties": properties,
        "$defs": definitions,
    }
    if not strict:
        whole["required"] = ["name", "navigation"]
        for key in sorted(NEWER):
            properties[key] = {"description": "A field of the newer format: no effect here.", "x-known-extension": True}
    return whole
