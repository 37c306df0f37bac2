"""What the OpenAPI document says of ``/oauth/introspect``: the text, the form and the answer.

The answer is one flat object for clients. What an active and an inactive one has is said by ``if``, which they pass
over and a validator does not.
"""

from __future__ import annotations

from typing import Any, Final

from tenantry.api.introspect import TOKEN_TYPE
from tenantry.api.oauth_errors import OAUTH_CODES
from tenantry.api.openapi.examples import INTROSPECTED, INTROSPECTION

__all__ = ["ABOUT", "EXAMPLE", "OAUTH_CODES", "REQUEST", "SCHEMAS", "SECURITY", "SUMMARY"]

JsonObject = dict[str, Any]

SUMMARY: Final = "Introspect a user group token"
ABOUT: Final = (
    "RFC 7662, for apps that share no database with this service. The API token needs the scope `introspect`. It comes "
    "as `Token` or `Bearer`, as the password of `Basic` (any user name), or in the form as `client_secret`: in one of "
    "these ways. Of a token that is malformed, forged, rotated, of a deleted group or of another environment than the "
    "API token's, the answer says only that it is not active. Answers of 200 have no `success`; errors have the form "
    "of RFC 6749 section 5.2."
)
SECURITY: Final[JsonObject] = {
    "bearer": {
        "type": "http",
        "scheme": "bearer",
        "description": "The API token after the word `Bearer`.",
    },
    "basic": {
        "type": "http",
        "scheme": "basic",
        "description": "The API token as the password (`client_secret_basic`); the user name is not looked at.",
    },
}
EXAMPLE: Final = INTROSPECTED

REQUEST: Final[JsonObject] = {
    "required": True,
    "content": {
        "application/x-www-form-urlencoded": {
            "schema": {"$ref": "#/components/schemas/IntrospectionRequest"},
            "examples": INTROSPECTION,
        }
    },
}

_COUNT: Final = {"type": "integer", "minimum": 1}
_REQUEST_FIELDS: Final[JsonObject] = {
    "token": {"type": "string", "minLength": 1, "description": "The user group token."},
    "token_type_hint": {"type": "string", "description": "Ignored."},
    "client_id": {"type": "string", "description": "Ignored."},
    "client_secret": {
        "type": "string",
        "description": "The API token, where no Authorization header is sent (`client_secret_post`).",
    },
}
_ENVIRONMENT_FIELDS: Final[JsonObject] = {
    "id": {"type": "integer"},
    "name": {"type": "string"},
    "tag": {"$ref": "#/components/schemas/EnvironmentTag"},
    "external_data_sources": {"type": "boolean"},
    "grace_seconds": {"type": "integer", "minimum": 0},
}
_GROUP_FIELDS: Final[JsonObject] = {
    "team_id": {"type": "integer"},
    "provided_id": {"type": "string"},
    "name": {"type": "string"},
    "environment": {"$ref": "#/components/schemas/IntrospectedEnvironment"},
    "properties": {"anyOf": [{"$ref": "#/components/schemas/Properties"}, {"type": "null"}]},
    "mapping": {"anyOf": [{"$ref": "#/components/schemas/DataSourceMapping"}, {"type": "null"}]},
    "handle": {"type": "string", "pattern": "^[0-9a-f]{16}$"},
    "token_version": _COUNT,
    "revision": _COUNT,
    "grace_until": {"type": ["string", "null"], "format": "date-time"},
}
_ANSWER_FIELDS: Final[JsonObject] = {
    "active": {"type": "boolean", "description": "Whether the token is good now. If not, this is the only member."},
    "token_type": {"type": "string", "description": f"`{TOKEN_TYPE}`"},
    "sub": {"type": "string", "description": "The `provided_id` of the group."},
    "user_group": {"$ref": "#/components/schemas/IntrospectedGroup"},
    "exp": {"type": "integer", "description": "Of a token in its grace: when it ends, in seconds since 1970."},
    "seconds": {"type": "number", "description": "Of a token in its grace: how much of it was left."},
}


def _whole(fields: JsonObject, **more: Any) -> JsonObject:
    return {
        "type": "object",
        "required": list(fields),
        "properties": fields,
        "additionalProperties": False,
        **more,
    }


SCHEMAS: Final[JsonObject] = {
    "IntrospectionRequest": {
        "type": "object",
        "required": ["token"],
        "properties": _REQUEST_FIELDS,
        "additionalProperties": {"type": "string", "description": "Ignored. None may come twice."},
    },
    "Introspection": _whole(
        _ANSWER_FIELDS,
        **{
            "required": ["active"],
            "if": {"properties": {"active": {"const": True}}},
            "then": {"required": ["active", "token_type", "sub", "user_group"]},
            "else": {"maxProperties": 1},
        },
    ),
    "IntrospectedGroup": _whole(_GROUP_FIELDS, description="The whole group, without its token."),
    "IntrospectedEnvironment": _whole(_ENVIRONMENT_FIELDS),
}
