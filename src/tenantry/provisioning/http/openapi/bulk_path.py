from __future__ import annotations

import json
from typing import Any, Final

from tenantry.provisioning.http.endpoint import DEFAULT_FORMAT
from tenantry.provisioning.http.ndjson_reader import MAX_BULK, MAX_LINE
from tenantry.provisioning.http.openapi.errors import COMMON, error_responses
from tenantry.provisioning.http.openapi.examples import MERGED
from tenantry.provisioning.http.openapi.paths import DRY_RUN, WRITES
from tenantry.provisioning.http.openapi.schema_parts import reference
from tenantry.provisioning.http.report import MEDIA_TYPE

JsonObject = dict[str, Any]

BULK_CODES: Final = (*COMMON, "bad_json")

_ABOUT: Final = (
    f"The body has one JSON object per line, each like the body of `PATCH /api/user`, with at most {MAX_LINE // 1024} "
    f"KiB per line and {MAX_BULK // 1024**2} MiB in all. A group that does not exist is created. An existing group is "
    "merged with its line, and is not written if it already matches. Lines are processed in order, and each succeeds "
    "or fails alone. As soon as a line is processed, the report has a line with its number, and the answer of PATCH or "
    "the error. Blank lines are skipped. The last line of the report has the totals. If the report ends early, this "
    "line also has the reason, and lines without a report were not written. Sending a body twice has no further "
    "effect, so there is no Idempotency-Key. Read the report while you send the body, or afterwards."
)
_REPLACE: Final[JsonObject] = {
    "name": "replace",
    "in": "query",
    "required": False,
    "description": "With `true`, lines are like bodies of PUT: they replace `properties` and `mapping` completely.",
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
            "message": "there is no such field; the fields are user_group_id, name, mapping, properties, expires_at, "
            "suspended",
            "field": "/plan",
        },
    },
    {"success": 1, "summary": _SUMMARY},
]


def _text(lines: list[JsonObject]) -> str:
    return "".join(json.dumps(each, separators=(",", ":")) + "\n" for each in lines)


def bulk_path(item_field: str) -> JsonObject:
    lines = {"summary": "Three groups", "x-status": 200, "value": _text(_LINES)}
    done = report_response("BulkReport", "BulkLine", item_field, _REPORT)
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
                MEDIA_TYPE: {
                    "schema": reference("BulkBody"),
                    item_field: reference("Merge"),
                    "examples": {"groups": lines},
                }
            },
        },
        "responses": {"200": done, **error_responses(BULK_CODES, DEFAULT_FORMAT)},
    }
    return {"post": operation}


def report_response(report: str, line: str, item_field: str, example: list[JsonObject]) -> JsonObject:
    """Return the 200 response of an operation that responds with JSON lines. ``report`` and ``line``: names of
    schemas."""
    return {
        "description": "The report",
        "headers": {
            "X-Request-Id": {"$ref": "#/components/headers/RequestId"},
            "Dry-Run": {"$ref": "#/components/headers/DryRun"},
        },
        "content": {
            MEDIA_TYPE: {"schema": reference(report), item_field: reference(line), "example": _text(example)},
        },
    }
