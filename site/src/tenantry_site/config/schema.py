"""The JSON Schemas of the configuration file (draft 2020-12), made from the validators that read it."""

from __future__ import annotations

from typing import Any

from tenantry_site.config.model import SiteConfig
from tenantry_site.config.object_validator import object_validators
from tenantry_site.config.string_kinds import StringKind
from tenantry_site.config.unknown_keys import NEWER_KEYS
from tenantry_site.config.validators import StringValidator

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def json_schema(*, strict: bool = False) -> dict[str, Any]:
    """The schema, a new one at each call. It refuses a file exactly when ``loads`` gives a diagnostic that JSON Schema
    can express (``diagnostics.CODE_TABLE``): an error, or with ``strict`` also a warning.

    The lenient one is for an editor and lets unknown keys pass; the strict one is for a check before a release.
    """
    definitions: dict[str, Any] = {
        kind.name.lower(): StringValidator(kind).definition(strict=strict) for kind in StringKind
    }
    definitions |= {validator.model.__name__: validator.definition(strict=strict) for validator in object_validators()}
    site = definitions.pop(SiteConfig.__name__)
    mode = "strict" if strict else "lenient"
    properties = {"$schema": {"description": "Address of this schema."}, **site.pop("properties")}
    whole: dict[str, Any] = {
        "$schema": DIALECT,
        "$id": f"urn:tenantry:site:{mode}",
        "title": "Site configuration file",
        **site,
        "properties": properties,
        "$defs": definitions,
    }
    if not strict:
        whole["required"] = ["name", "navigation"]
        for key in sorted(NEWER_KEYS):
            properties[key] = {"description": "A field of the newer format: no effect here.", "x-known-extension": True}
    return whole
