"""The examples of the OpenAPI document. The tokens have the right length and no more: none is valid anywhere."""

from __future__ import annotations

from typing import Any, Final

_TOKEN: Final = "ugtc_k1_" + "A" * 39 + "." + "A" * 43 + "000000"

REQUESTS: Final[dict[str, dict[str, Any]]] = {
    "GetOrCreate": {
        "group": {
            "summary": "A customer",
            "value": {
                "user_group_id": "acme",
                "name": "Acme Ltd",
                "properties": {"region": "eu", "statuses": ["open", "paid"]},
            },
        }
    },
    "Update": {"properties": {"summary": "New properties", "value": {"user_group_id": "acme", "properties": None}}},
    "Rotate": {"rotation": {"summary": "A new token", "value": {"current_token": _TOKEN}}},
}

_GROUP: Final[dict[str, Any]] = {"team_id": 7, "token": _TOKEN, "name": "Acme Ltd", "provided_id": "acme"}
_PROPERTIES: Final[dict[str, Any]] = {"region": "eu", "statuses": ["open", "paid"]}

CREATED: Final[dict[str, Any]] = {
    "success": 1,
    "new_user_group": True,
    "user_group": {**_GROUP, "properties": _PROPERTIES},
}
UPDATED: Final[dict[str, Any]] = {
    "success": 1,
    "user_group": {**_GROUP, "properties": None, "api_environment_tag": "Customer"},
}
ROTATED: Final[dict[str, Any]] = {"success": 1, "user_group": {**_GROUP, "api_environment_tag": "Customer"}}
ERROR: Final[dict[str, Any]] = {
    "success": 0,
    "error": {"code": "invalid_body", "message": "this field is required", "field": "/user_group_id"},
    "request_id": "9f3c2b1a7d5e4f60",
}
INTROSPECTION: Final[dict[str, Any]] = {"token": {"summary": "A token", "value": {"token": _TOKEN}}}
INTROSPECTED: Final[dict[str, Any]] = {
    "active": True,
    "token_type": "user_group_token",
    "sub": "acme",
    "user_group": {
        "team_id": 7,
        "provided_id": "acme",
        "name": "Acme Ltd",
        "environment": {
            "id": 1,
            "name": "production",
            "tag": "Customer",
            "external_data_sources": False,
            "grace_seconds": 0,
        },
        "properties": _PROPERTIES,
        "mapping": None,
        "handle": "8f14e45fceea167a",
        "token_version": 1,
        "revision": 1,
        "grace_until": None,
    },
}
