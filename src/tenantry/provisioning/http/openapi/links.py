from __future__ import annotations

from typing import Any, Final

_ID: Final = "$response.body#/user_group/provided_id"
GROUP_LINKS: Final[dict[str, Any]] = {
    "update": {"operationId": "updateUserGroup", "requestBody": {"user_group_id": _ID, "name": "Acme Ltd"}},
    "merge": {"operationId": "mergeUserGroup", "requestBody": {"user_group_id": _ID, "properties": {"region": "us"}}},
    "delete": {"operationId": "deleteUserGroup", "parameters": {"user_group_id": _ID}},
    "find": {"operationId": "listUserGroups", "parameters": {"user_group_id": _ID}},
    "rotate": {
        "operationId": "rotateUserGroupToken",
        "requestBody": {"current_token": "$response.body#/user_group/token"},
    },
    "pass": {"operationId": "createPass", "requestBody": {"user_group_id": _ID, "viewer_id": "ann"}},
}
"""Links to the next operations on a group that an operation has created or found (OpenAPI, Link Object)."""
