"""The JSON Schemas of the OpenAPI document. The schemas of request bodies come from Pydantic models."""
# For client generators (decision 32), every object is a named schema, every operation has one success schema, and the
# JSON inside properties may be anything.

from __future__ import annotations

from typing import Any, Final

from pydantic.json_schema import models_json_schema

from tenantry.groups import LATER_SETTABLE_FIELDS, Tag
from tenantry.provisioning import Outcome
from tenantry.provisioning.http.data_sources import CreateSource, PatchSource
from tenantry.provisioning.http.fields import MAPPING_PATCH_SCHEMA, MAPPING_SCHEMA, PROPERTIES_SCHEMA
from tenantry.provisioning.http.introspection import OAUTH_CODES, PASS_TYPE, TOKEN_TYPE
from tenantry.provisioning.http.openapi.errors import KNOWN_CODES
from tenantry.provisioning.http.openapi.schema_parts import REFERENCE, SUCCESS, JsonObject, closed, reference
from tenantry.provisioning.http.openapi.source_schemas import SOURCE_SCHEMAS
from tenantry.provisioning.http.operations import LISTED_FIELDS, GetOrCreate, Merge, Rotate, Update
from tenantry.provisioning.http.passes import CreatePass, RevokeViewer
from tenantry.provisioning.http.rotations import RotateMany
from tenantry.provisioning.http.upsert_lines import FAILED

_MODELS: Final = (GetOrCreate, Update, Merge, Rotate, CreatePass, RevokeViewer, CreateSource, PatchSource, RotateMany)


def _requests() -> JsonObject:
    models = [(model, "validation") for model in _MODELS]
    _, generated = models_json_schema(models, ref_template=REFERENCE)  # type: ignore[arg-type]  # the mode is a Literal
    requests: JsonObject = _plain(generated["$defs"])
    return requests


def _plain(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_plain(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    named = {name: value for name, value in schema.items() if name not in ("title", "default")}
    return {name: value if name == "examples" else _plain(value) for name, value in named.items()}


_REQUESTS: Final = _requests()


def schemas() -> JsonObject:
    return {
        **_REQUESTS,
        "EnvironmentTag": {"type": "string", "enum": [tag.value for tag in Tag]},
        "DataSourceMapping": MAPPING_SCHEMA,
        "DataSourceMappingPatch": MAPPING_PATCH_SCHEMA,
        "Properties": PROPERTIES_SCHEMA,
        **SOURCE_SCHEMAS,
        **_ANSWERS,
        **_ERRORS,
        **_INTROSPECTION,
    }


_GROUP_FIELDS: Final[JsonObject] = {
    "team_id": {
        "type": "integer",
        "description": "Internal id of the user group; 0 in a dry run that would create it.",
    },
    "token": {
        "type": "string",
        "description": "The user group token. Keep it secret. Empty in a dry run that would make a new one.",
    },
    "name": {"type": "string"},
    "provided_id": {"type": "string", "description": "The `user_group_id` that was sent."},
    "properties": {"anyOf": [reference("Properties"), {"type": "null"}]},
    "api_environment_tag": reference("EnvironmentTag"),
    "mapping": {"anyOf": [reference("DataSourceMapping"), {"type": "null"}]},
    **{
        name: {key: value for key, value in _REQUESTS["Merge"]["properties"][name].items() if key != "examples"}
        for name in LATER_SETTABLE_FIELDS
    },
}
_DEGRADED: Final[JsonObject] = {
    "type": "array",
    "items": {"type": "string"},
    "description": "Parts that do not work as they should; absent if all do.",
    "examples": [["PostgresBus: deaf", "SigningKeys: unreadable"]],
}
_NEW: Final[JsonObject] = {"type": "boolean", "description": "Whether the group was created by this call."}


def _group(*more: str, optional: tuple[str, ...] = ()) -> JsonObject:
    names = ("team_id", "token", "name", "provided_id", *more)
    return closed({name: _GROUP_FIELDS[name] for name in names}, optional=optional)


_BULK: Final[JsonObject] = {
    "BulkBody": {
        "type": "string",
        "format": "binary",
        "description": "Lines of JSON, each of the schema `Merge`.",
    },
    "BulkReport": {
        "type": "string",
        "format": "binary",
        "description": "Lines of JSON, each of the schema `BulkLine`.",
    },
    "BulkSummary": closed(
        {name: {"type": "integer", "minimum": 0} for name in ("lines", *(each.value for each in Outcome), FAILED)}
    ),
    "BulkLine": closed(
        {
            "line": {"type": "integer", "minimum": 1, "description": "The number of the line in the body."},
            "success": {"type": "integer", "enum": [0, 1]},
            "result": {"type": "string", "enum": [each.value for each in Outcome]},
            "user_group": reference("MergedGroup"),
            "error": reference("ErrorDetail"),
            "summary": reference("BulkSummary"),
            "request_id": {"type": "string"},
        },
        optional=("line", "result", "user_group", "error", "summary", "request_id"),
        about="For a successful line `line`, `result` and `user_group`; for a failed line `line` and `error`. The last "
        "line has `summary`, and `error` and `request_id` if the report ends early.",
    ),
}
_ROTATIONS: Final[JsonObject] = {
    "RotationReport": {
        "type": "string",
        "format": "binary",
        "description": "Lines of JSON, each of the schema `RotationLine`.",
    },
    "RotationSummary": closed({name: {"type": "integer", "minimum": 0} for name in ("rotated", "failed")}),
    "RotationLine": closed(
        {
            "success": {"type": "integer", "enum": [0, 1]},
            "result": {"type": "string", "const": "rotated"},
            "user_group": reference("RotatedGroup"),
            "team_id": {"type": "integer"},
            "user_group_id": {"type": "string"},
            "error": reference("ErrorDetail"),
            "summary": reference("RotationSummary"),
            "next": {"type": ["integer", "null"], "description": "The value of `after` for the next request."},
            "request_id": {"type": "string"},
        },
        optional=("result", "user_group", "team_id", "user_group_id", "error", "summary", "next", "request_id"),
        about="For a rotated group `result` and `user_group`; for a group that keeps its token `team_id`, "
        "`user_group_id` and `error`. The last line has `summary` and `next`, and `error` and `request_id` if the "
        "report ends early.",
    ),
}
_ANSWERS: Final[JsonObject] = {
    **_BULK,
    **_ROTATIONS,
    "FoundGroup": _group("properties"),
    "Found": closed({"success": SUCCESS, "new_user_group": _NEW, "user_group": reference("FoundGroup")}),
    "UpdatedGroup": _group("properties", "api_environment_tag"),
    "Updated": closed({"success": SUCCESS, "user_group": reference("UpdatedGroup")}),
    "MergedGroup": _group("properties", "api_environment_tag", *LATER_SETTABLE_FIELDS),
    "Merged": closed({"success": SUCCESS, "user_group": reference("MergedGroup")}),
    "RotatedGroup": _group("api_environment_tag"),
    "Rotated": closed({"success": SUCCESS, "user_group": reference("RotatedGroup")}),
    "PostedGroup": _group("api_environment_tag", "properties", optional=("properties",)),
    "Posted": closed(
        {"success": SUCCESS, "new_user_group": _NEW, "user_group": reference("PostedGroup")},
        optional=("new_user_group",),
        about="`new_user_group` and `properties` are present for a body with `user_group_id`, absent for a rotation.",
    ),
    "CreatedPass": closed(
        {
            "success": SUCCESS,
            "pass": {
                "type": "string",
                "description": "The pass. Until it ends, it lets any client act as this viewer.",
            },
            "expires_at": {
                "type": "string",
                "format": "date-time",
                "description": "When the pass ends: after `seconds`, or at the end date of the group, if earlier.",
            },
        }
    ),
    "RevokedViewer": closed(
        {
            "success": SUCCESS,
            "revoked_before": {
                "type": "string",
                "format": "date-time",
                "description": "Passes whose `iat` is earlier are refused.",
            },
        }
    ),
    "ListedGroup": closed({name: _GROUP_FIELDS[name] for name in LISTED_FIELDS}),
    "Deleted": closed({"success": SUCCESS, "user_group": reference("ListedGroup")}),
    "ListedGroups": closed(
        {
            "success": SUCCESS,
            "user_groups": {"type": "array", "items": reference("ListedGroup")},
            "next": {"type": ["integer", "null"], "description": "`after` of the next page; null on the last page."},
        }
    ),
    "Health": closed({"success": SUCCESS, "status": {"type": "string", "const": "ok"}}),
    "Readiness": closed(
        {"success": SUCCESS, "status": {"type": "string", "const": "ready"}, "degraded": _DEGRADED},
        optional=("degraded",),
    ),
}

_CODE: Final[JsonObject] = {
    "type": "string",
    "description": "A code whose meaning never changes. Later versions may add codes: treat an unknown one by its "
    "status.",
    "x-extensible-enum": sorted(KNOWN_CODES),
}
_PROBLEM: Final[JsonObject] = {
    "type": {"type": "string", "format": "uri-reference"},
    "title": {"type": "string"},
    "status": {"type": "integer"},
    "detail": {"type": "string"},
}
_ERROR: Final[JsonObject] = {
    "success": {"type": "integer", "const": 0},
    "error": reference("ErrorDetail"),
    "request_id": {"type": "string"},
}
_OAUTH_ERROR: Final[JsonObject] = {
    "success": {"type": "integer", "const": 0},
    "error": {
        "type": "string",
        "description": "The code of RFC 6749 section 5.2 or RFC 6750 section 3.1. Treat an unknown one by its status.",
        "x-extensible-enum": list(OAUTH_CODES),
    },
    "error_description": {"type": "string"},
    "code": _CODE,
    "request_id": {"type": "string"},
}
_ERRORS: Final[JsonObject] = {
    "ErrorDetail": closed(
        {
            "code": _CODE,
            "message": {"type": "string", "description": "What is wrong, and how to fix it."},
            "field": {"type": "string", "description": "A JSON pointer (RFC 6901) into the body that was sent."},
        },
        optional=("field",),
    ),
    "ErrorAnswer": closed(_ERROR),
    "ProblemAnswer": closed({**_PROBLEM, **_ERROR}),
    "OAuthErrorAnswer": closed(_OAUTH_ERROR),
    "OAuthProblemAnswer": closed({**_PROBLEM, **_OAUTH_ERROR}),
}

# --- introspection ----------------------------------------------------------------------------------------------------

_COUNT: Final = {"type": "integer", "minimum": 1}
_INTROSPECTION_REQUEST: Final[JsonObject] = {
    "token": {"type": "string", "minLength": 1, "description": "The user group token, or a pass."},
    "token_type_hint": {"type": "string", "description": "Ignored."},
    "client_id": {"type": "string", "description": "Ignored."},
    "client_secret": {
        "type": "string",
        "description": "The API token, if no Authorization header is sent (`client_secret_post`).",
    },
}
_INTROSPECTED_ENVIRONMENT: Final[JsonObject] = {
    "id": {"type": "integer"},
    "name": {"type": "string"},
    "tag": {"$ref": "#/components/schemas/EnvironmentTag"},
    "external_data_sources": {"type": "boolean"},
    "grace_seconds": {"type": "integer", "minimum": 0},
}
_INTROSPECTED_GROUP: Final[JsonObject] = {
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
    "expires_at": {"type": ["string", "null"], "format": "date-time"},
    "suspended": {"type": "boolean"},
    "revoked_viewers": {
        "type": ["object", "null"],
        "additionalProperties": {"type": "integer"},
        "description": "Viewer ids, each with a time in seconds since 1970: the viewer's passes whose `iat` is earlier "
        "are refused.",
    },
}
_INTROSPECTION_ANSWER: Final[JsonObject] = {
    "active": {"type": "boolean", "description": "Whether the token is valid now. If not, this is the only member."},
    "token_type": {"type": "string", "description": f"`{TOKEN_TYPE}` or `{PASS_TYPE}`"},
    "sub": {"type": "string", "description": "The `provided_id` of the group."},
    "user_group": {"$ref": "#/components/schemas/IntrospectedGroup"},
    "exp": {
        "type": "integer",
        "description": "When the token expires (with its grace period or its group), in seconds since 1970; absent if "
        "it does not expire.",
    },
    "viewer": {"$ref": "#/components/schemas/IntrospectedViewer"},
    "scope": {
        "type": "string",
        "description": "What a pass opens, separated by spaces; absent if it opens everything.",
    },
    "seconds": {"type": "number", "description": "The rest of the grace period of a rotated token."},
}
_INTROSPECTION: Final[JsonObject] = {
    "IntrospectionRequest": {
        "type": "object",
        "required": ["token"],
        "properties": _INTROSPECTION_REQUEST,
        "additionalProperties": {"type": "string", "description": "Ignored. None may be repeated."},
    },
    "Introspection": {
        **closed(_INTROSPECTION_ANSWER),
        "required": ["active"],
        "if": {"properties": {"active": {"const": True}}},
        "then": {"required": ["active", "token_type", "sub", "user_group"]},
        "else": {"maxProperties": 1},
    },
    "IntrospectedGroup": closed(_INTROSPECTED_GROUP, about="The whole group, without its token."),
    "IntrospectedViewer": closed(
        {"id": {"type": ["string", "null"]}, "attributes": reference("Properties")},
        about="The person that a pass names.",
    ),
    "IntrospectedEnvironment": closed(_INTROSPECTED_ENVIRONMENT),
}
