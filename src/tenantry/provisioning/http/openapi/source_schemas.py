from __future__ import annotations

from typing import Final

from tenantry.provisioning.http.data_sources import MAX_SESSION
from tenantry.provisioning.http.openapi.schema_parts import SUCCESS, JsonObject, closed, reference

SOURCE_SCHEMAS: Final[JsonObject] = {
    "GuardedTables": {
        "type": "object",
        "description": "A declaration of guarded tables; written as in `tables.yaml`.",
        "additionalProperties": True,
    },
    "SessionVariables": {
        "type": "object",
        "maxProperties": MAX_SESSION,
        "additionalProperties": {"type": "string"},
        "description": "Session variables of PostgreSQL, each with a template tag.",
    },
    "DataSource": closed(
        {
            "id": {"type": "string", "description": "Tenantry's id (`ds_…`); empty in a dry run of POST."},
            "name": {"type": "string", "description": "Your name."},
            "environment": {"type": "string"},
            "engine": {"type": "string"},
            "url": {"type": "string", "description": "Secrets are `***`."},
            "secrets": {
                "enum": ["plain", "encrypted", "reference", None],
                "description": "How the store keeps the secrets of the URL; null if the URL has none.",
            },
            "trusted": {
                "type": "boolean",
                "description": "Whether the data source was registered with `--trusted`: only the rights of its "
                "database user keep queries read-only.",
            },
            "session": reference("SessionVariables"),
            "groups": {"type": "integer", "minimum": 0, "description": "The number of groups that map to it."},
            "tables": {"anyOf": [reference("GuardedTables"), {"type": "null"}]},
        }
    ),
    "WrittenSource": closed({"success": SUCCESS, "data_source": reference("DataSource")}),
    "ListedSources": closed(
        {
            "success": SUCCESS,
            "data_sources": {"type": "array", "items": reference("DataSource")},
            "next": {"type": ["string", "null"], "description": "`after` of the next page; null on the last page."},
        }
    ),
}
