"""What the OpenAPI document says of ``/oauth/introspect``: the words, the form and the two answers."""

from __future__ import annotations

from typing import Any, Final

from tenantry.api.examples import INTROSPECTED, INTROSPECTION
from tenantry.api.introspect import TOKEN_TYPE
from tenantry.groups import Tag

SUMMARY: Final = "Introspect a user group token"
ABOUT: Final = (
    "RFC 7662, for apps that share no database with this service. The API token needs the scope `introspect`, and may "
    "be sent as `Bearer` too. Of a token that is malformed, forged, rotated, of a deleted group or of another "
    "environment than the API token's, the answer tells only that it is not active. Answers of 200 have no `success`."
)
ERRORS: Final = {
    "400": "More than one Authorization header, a header that cannot be read, or a form without `token` or with a "
    "parameter twice (`ambiguous_authorization`, `bad_request`, `invalid_request`)",
    "401": "The API token is missing, unknown or revoked (`unauthorized`)",
    "403": "The API token lacks the scope `introspect` (`missing_scope`)",
    "408": "The body did not arrive within 10 seconds (`request_timeout`)",
    "413": "The body is larger than 64 KiB (`body_too_large`)",
    "415": "The body is not `application/x-www-form-urlencoded` in UTF-8 (`unsupported_media_type`)",
    "500": "A mistake of the server; its log has more under the request id (`internal`)",
    "503": "The store is not available; try again (`store_unavailable`, `migration_needed`)",
}
SECURITY: Final[dict[str, Any]] = {
    "type": "http",
    "scheme": "bearer",
    "description": "The API token after the word `Bearer`, for programs that know no other.",
}
REQUEST: Final[dict[str, Any]] = {
    "required": True,
    "content": {
        "application/x-www-form-urlencoded": {
            "schema": {
                "type": "object",
                "required": ["token"],
                "properties": {
                    "token": {"type": "string", "minLength": 1, "description": "The user group token."},
                    "token_type_hint": {"type": "string", "description": "Ignored."},
                },
                "additionalProperties": {"type": "string", "description": "Ignored. None may come twice."},
            },
            "examples": INTROSPECTION,
        }
    },
}
ANSWER: Final[dict[str, Any]] = {"schema": {"$ref": "#/components/schemas/Introspection"}, "example": INTROSPECTED}

_COUNT: Final = {"type": "integer", "minimum": 1}
_ENVIRONMENT: Final[dict[str, Any]] = {
    "type": "object",
    "required": ["id", "name", "tag", "external_data_sources", "grace_seconds"],
    "properties": {
        "id": {"type": "integer"},
        "name": {"type": "string"},
        "tag": {"type": "string", "enum": [tag.value for tag in Tag]},
        "external_data_sources": {"type": "boolean"},
        "grace_seconds": {"type": "integer", "minimum": 0},
    },
    "additionalProperties": False,
}
_GROUP: Final[dict[str, Any]] = {
    "type": "object",
    "description": "The whole group, without its token.",
    "properties": {
        "team_id": {"type": "integer"},
        "provided_id": {"type": "string"},
        "name": {"type": "string"},
        "environment": _ENVIRONMENT,
        "properties": {"anyOf": [{"$ref": "#/components/schemas/Properties"}, {"type": "null"}]},
        "mapping": {"anyOf": [{"$ref": "#/components/schemas/Mapping"}, {"type": "null"}]},
        "handle": {"type": "string", "pattern": "^[0-9a-f]{16}$"},
        "token_version": _COUNT,
        "revision": _COUNT,
        "grace_until": {"type": ["string", "null"], "format": "date-time"},
    },
    "additionalProperties": False,
}
_ACTIVE: Final[dict[str, Any]] = {
    "type": "object",
    "required": ["active", "token_type", "sub", "user_group"],
    "properties": {
        "active": {"const": True},
        "token_type": {"const": TOKEN_TYPE},
        "sub": {"type": "string", "description": "The `provided_id` of the group."},
        "user_group": {**_GROUP, "required": list(_GROUP["properties"])},
        "exp": {"type": "integer", "description": "Of a token in its grace: when it ends, in seconds since 1970."},
        "seconds": {"type": "number", "description": "Of a token in its grace: how much of it was left."},
    },
    "additionalProperties": False,
}
_INACTIVE: Final[dict[str, Any]] = {
    "type": "object",
    "required": ["active"],
    "properties": {"active": {"const": False}},
    "additionalProperties": False,
}
SCHEMA: Final[dict[str, Any]] = {"oneOf": [_ACTIVE, _INACTIVE]}
