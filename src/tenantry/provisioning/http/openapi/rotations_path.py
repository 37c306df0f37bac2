from __future__ import annotations

from typing import Any, Final

from tenantry.errors import GroupSuspended
from tenantry.provisioning.http.endpoint import DEFAULT_FORMAT
from tenantry.provisioning.http.openapi.bulk_path import report_response
from tenantry.provisioning.http.openapi.errors import COMMON, error_responses
from tenantry.provisioning.http.openapi.examples import ROTATED
from tenantry.provisioning.http.openapi.paths import DRY_RUN, WRITES
from tenantry.provisioning.http.openapi.schema_parts import reference

JsonObject = dict[str, Any]

_CODES: Final = (*COMMON, "bad_json", "invalid_body", "ambiguous_request")
_ABOUT: Final = (
    "Gives many groups new tokens: all groups of the environment, or the groups whose token the signing key "
    "`signed_by` signed. Old tokens are refused at once, or after the grace period of the environment. Groups are "
    "rotated in the order of `team_id`. As soon as a group is rotated, the report has a line with its new token. A "
    "suspended group keeps its token. The last line has the totals, and `next`, which is null when no group is left. "
    "To continue a request that ended early, send it again. With `all`, also send `next`, or the last `team_id`, as "
    "`after`."
)
_REPORT: Final[list[JsonObject]] = [
    {"success": 1, "result": "rotated", "user_group": ROTATED["user_group"]},
    {
        "success": 0,
        "error": {"code": "group_suspended", "message": GroupSuspended.MESSAGE},
        "team_id": 2,
        "user_group_id": "globex",
    },
    {"success": 1, "summary": {"rotated": 1, "failed": 1}, "next": None},
]
_REQUESTS: Final[JsonObject] = {
    "key": {"summary": "All groups of a signing key", "x-status": 200, "value": {"signed_by": "k0"}},
    "all": {"summary": "All groups of the environment", "x-status": 200, "value": {"all": True}},
}


def rotations_path(item_field: str) -> JsonObject:
    done = report_response("RotationReport", "RotationLine", item_field, _REPORT)
    operation = {
        "operationId": "rotateUserGroups",
        "summary": "Rotate the tokens of many user groups",
        "description": _ABOUT,
        "tags": ["User groups"],
        "security": WRITES,
        "parameters": [DRY_RUN],
        "requestBody": {
            "required": True,
            "content": {"application/json": {"schema": reference("RotateMany"), "examples": _REQUESTS}},
        },
        "responses": {"200": done, **error_responses(_CODES, DEFAULT_FORMAT)},
    }
    return {"post": operation}
