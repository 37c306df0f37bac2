"""``/api/users/bulk`` in the document: lines of JSON in, lines of JSON out.

3.2 has ``itemSchema`` for what comes line by line; 3.1 has no field for it, so it is under ``x-itemSchema`` there. The
body as a whole is bytes to generators of clients.
"""

from __future__ import annotations

import json
from typing import Any, Final

from tenantry.provisioning.http.bulk import MEDIA_TYPE
from tenantry.provisioning.http.endpoint import DEFAULT_FORMAT
from tenantry.provisioning.http.ndjson_reader import MAX_BULK, MAX_LINE
from tenantry.provisioning.http.openapi.errors import COMMON, error_responses
from tenantry.provisioning.http.openapi.examples import MERGED
from tenantry.provisioning.http.openapi.paths import DRY_RUN, WRITES
from tenantry.provisioning.http.openapi.schemas import reference

JsonObject = dict[str, Any]

BULK_CODES: Final = (*COMMON, "bad_json")

_ABOUT: Final = (
    f"One JSON object a line, each as the body of `PATCH /api/user`: at most {MAX_LINE // 1024} KiB a line and "
    f"{MAX_BULK // 1024**2} MiB in all. A group that is not there is created, one that is there is merged into, and "
    "one that has all of it already is not written. Lines are done in their order; each succeeds or fails alone. The "
    "report has a line for each line that is not blank, as soon as it is done: its number, and what PATCH answers, or "
    "the error that it answers. The last line sums up, and says why the report ends early, if it does: lines without a "
    "report were not done then. Sent again, a body changes nothing that it has done already, so there is no "
    "Idempotency-Key. Send the body and read the report at the same time, or the report afterwards."
)
_REPLACE: Final[JsonObject] = {
    "name": "replace",
    "in": "query",
    "required": False,
    "description": "`true`: lines are as bodies of PUT: `properties` and `mapping` replace those of the group whole.",
    "schema": {"type": "boolean"},
    "example": False,
}
_LINES: Final[list[JsonObject]] = [
    {"user_group_id": "acme", "name": "Acme Ltd", "properties": {"region": "eu"}},
    {"user_group_id": "globex", "properties": {"region": "us", "trial": None}},
    {"user_group_id": "initech", "plan": "pro"},
]
_SUMMARY: Final = {"lines": 3, "created": 1, "updated": 0, "unchanged": 1, "failed": 1}
_GROUP: Final = {**MERGED["user_group"], "expires_at": None}
_REPORT: Final[list[JsonObject]] = [
    {
        "line": 1,
        "success": 1,
        "result": "unchanged",
        "user_group": {**_GROUP, "properties": {"region": "eu"}},
    },
    {
        "line": 2,
        "success": 1,
        "result": "created",
        "user_group": {**_GROUP, "team_id": 8, "name": "globex", "provided_id": "globex"},
    },
    {
        "line": 3,
        "success": 0,
        "error": {
            "code": "invalid_body",
            "message": "there is no such field; the fields are user_group_id, name, mapping, properties, expires_at",
            "field": "/plan",
        },
    },
    {"success": 1, "summary": _SUMMARY},
]


def _text(lines: list[JsonObject]) -> str:
    return "".join(json.dumps(each, separators=(",", ":")) + "\n" for each in lines)


def bulk_path(item: str) -> JsonObject:
    """``/api/users/bulk``; ``item`` is the name of ``itemSchema`` in this version."""
    lines = {"summary": "Three groups", "x-status": 200, "value": _text(_LINES)}
    done = {
        "description": "The report",
        "headers": {
            "X-Request-Id": {"$ref": "#/components/headers/RequestId"},
            "Dry-Run": {"$ref": "#/components/headers/DryRun"},
        },
        "content": {
            MEDIA_TYPE: {"schema": reference("BulkReport"), item: reference("BulkLine"), "example": _text(_REPORT)}
        },
    }
    operation = {
        "operationId": "bulkUserGroups",
        "summary": "Create or change many user groups",
        "description": _ABOUT,
        "tags": ["User groups"],
        "security": WRITES,
        "parameters": [_REPLACE, DRY_RUN],
        "requestBody": {
            "required": True,
            "content": {
                MEDIA_TYPE: {"schema": reference("BulkBody"), item: reference("Merge"), "examples": {"groups": lines}}
            },
        },
        "responses": {"200": done, **error_responses(BULK_CODES, DEFAULT_FORMAT)},
    }
    return {"post": operation}
