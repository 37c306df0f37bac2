"""The JSON Schema of a dashboard's file, for editors."""

from __future__ import annotations

from typing import Final

from tenantry.dashboards.definition.controls import controls_schema
from tenantry.dashboards.definition.file_schema import DASHBOARD, MAX_IN_ROW, MAX_ROWS, PANELS
from tenantry.dashboards.definition.value_kinds import Schema, object_schema

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"


def dashboard_schema() -> Schema:
    """The schema (JSON Schema 2020-12) of one file."""
    schema = object_schema(DASHBOARD, required=["title", "rows"])
    schema["properties"] |= {
        "controls": controls_schema() | {"description": "choices of a viewer, read by queries as params.NAME"},
        "rows": {
            "description": "rows of panels: one panel, or a list of them",
            "type": "array",
            "minItems": 1,
            "maxItems": MAX_ROWS,
            "items": {
                "anyOf": [
                    {"$ref": "#/$defs/panel"},
                    {"type": "array", "minItems": 1, "maxItems": MAX_IN_ROW, "items": {"$ref": "#/$defs/panel"}},
                ]
            },
        },
    }
    panels = {str(kind): object_schema(keys) for kind, keys in PANELS.items()}
    definitions = panels | {"panel": {"anyOf": [{"$ref": f"#/$defs/{kind}"} for kind in panels]}}
    return {"$schema": DIALECT, "title": "A dashboard of Tenantry", **schema, "$defs": definitions}
