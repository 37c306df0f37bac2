"""The operations of the OpenAPI document: what each takes, what it answers, the errors that it can give, and examples.

The tokens of the examples have the right length and no more: none is valid anywhere. ``x-status`` is the status when an
example of a request is sent as it is to a new service that has made only the group ``acme``.
"""

from __future__ import annotations

from typing import Any, Final

from tenantry.api.endpoint import DEFAULT_FORMAT
from tenantry.api.introspection import OAUTH_FORMAT
from tenantry.api.openapi.errors import COMMON, IDEMPOTENT, USER, error_responses
from tenantry.api.openapi.schemas import reference

JsonObject = dict[str, Any]

INTROSPECTION_CODES: Final = (*COMMON, "invalid_request")
HEALTH_CODES: Final = ("internal",)
READY_CODES: Final = ("internal", "store_unavailable", "migration_needed", "draining")

_GET: Final = (
    "Finds the group with this id, or creates it; one that exists is never changed. The request has a JSON body. A "
    "client that cannot send one with GET sends the same body with QUERY or POST."
)
_QUERY: Final = "The same as GET with a body, by the method that is made for it (RFC 10008)."
_PUT: Final = (
    "Absent fields stay as they are; `properties` and `mapping` are replaced whole, never merged; null clears them."
)
_POST: Final = (
    "With `user_group_id`: the same as GET, and the answer has `api_environment_tag` too. With `current_token`: the "
    "same as `POST /api/user/rotate`, and the answer has neither `new_user_group` nor `properties`. Exactly one of the "
    "two."
)
_ROTATE: Final = (
    "The group gets a new token; the old one is dead when the answer arrives. The same as `POST /api/user` with "
    "`current_token`, at an address of its own."
)
_INTROSPECT: Final = (
    "RFC 7662, for apps that share no database with this service. The API token needs the scope `introspect`. It comes "
    "as `Token` or `Bearer`, as the password of `Basic` (any user name), or in the form as `client_secret`: in one of "
    "these ways. Of a token that is malformed, forged, rotated, of a deleted group or of another environment than the "
    "API token's, the answer says only that it is not active. Answers of 200 have no `success`; errors have the form "
    "of RFC 6749 section 5.2."
)
_KEY: Final[JsonObject] = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "description": "Makes the request happen once: the same key with the same body within 24 hours gets the same "
    "answer again.",
    "schema": {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[!-~]+$"},
    "example": "5f0c7be2-rotate-acme",
}

_DRY_RUN: Final[JsonObject] = {
    "name": "dry_run",
    "in": "query",
    "required": False,
    "description": "`true`: nothing is written. The answer is what it would have been, or the refusal; a success has "
    "the header `Dry-Run`. A token that would be new is an empty text, and the `team_id` of a group that would be new "
    "is 0. What would break a saved query is refused, also where the service only reports it. An `Idempotency-Key` is "
    "not looked at and stays free.",
    "schema": {"type": "boolean"},
    "example": False,
}

# --- examples ---------------------------------------------------------------------------------------------------------

_TOKEN: Final = "ugtc_k1_" + "A" * 39 + "." + "A" * 43 + "000000"

REQUESTS: Final[dict[str, dict[str, Any]]] = {
    "GetOrCreate": {
        "group": {
            "summary": "A customer",
            "x-status": 200,
            "value": {
                "user_group_id": "acme",
                "name": "Acme Ltd",
                "properties": {"region": "eu", "statuses": ["open", "paid"]},
            },
        }
    },
    "Update": {
        "properties": {
            "summary": "New properties",
            "description": "They replace the old ones whole.",
            "x-status": 200,
            "value": {"user_group_id": "acme", "properties": {"region": "us"}},
        },
        "clear": {
            "summary": "No properties",
            "description": "null clears them.",
            "x-status": 200,
            "value": {"user_group_id": "acme", "properties": None},
        },
    },
    "Rotate": {
        "rotation": {
            "summary": "A new token",
            "description": "Put the group's live token in. The token of this example is nobody's: as it stands, the "
            "answer is 404 `unknown_token`.",
            "x-status": 404,
            "value": {"current_token": _TOKEN},
        }
    },
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
    "user_group": {**_GROUP, "properties": {"region": "us"}, "api_environment_tag": "Customer"},
}
ROTATED: Final[dict[str, Any]] = {"success": 1, "user_group": {**_GROUP, "api_environment_tag": "Customer"}}
POSTED: Final[dict[str, Any]] = {
    "success": 1,
    "new_user_group": True,
    "user_group": {**_GROUP, "api_environment_tag": "Customer", "properties": _PROPERTIES},
}
INTROSPECTION_REQUESTS: Final[dict[str, Any]] = {
    "token": {
        "summary": "A token",
        "description": "Put a user group token in. The one of this example is nobody's: `active` is false.",
        "x-status": 200,
        "value": {"token": _TOKEN},
    }
}
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
_INTROSPECTION_REQUEST: Final[JsonObject] = {
    "required": True,
    "content": {
        "application/x-www-form-urlencoded": {
            "schema": {"$ref": "#/components/schemas/IntrospectionRequest"},
            "examples": INTROSPECTION_REQUESTS,
        }
    },
}

# --- operations -------------------------------------------------------------------------------------------------------


def user_path(query: str) -> JsonObject:
    """``/api/user``; ``query`` is the name that QUERY has in this version of OpenAPI."""
    found = (reference("GetOrCreate"), REQUESTS["GetOrCreate"], reference("Found"), CREATED)
    codes = (*USER, "unknown_data_source", "invalid_properties")
    return {
        "get": _operation("getOrCreateUserGroup", "Get or create a user group", _GET, *found, codes),
        "put": _operation(
            "updateUserGroup",
            "Update a user group",
            _PUT,
            reference("Update"),
            REQUESTS["Update"],
            reference("Updated"),
            UPDATED,
            (*codes, "unknown_group", "breaks_saved_query"),
        ),
        "post": _idempotent(
            _operation(
                "postUserGroup",
                "Get or create a user group, or rotate its token",
                _POST,
                {"oneOf": [reference("GetOrCreate"), reference("Rotate")]},
                {**REQUESTS["GetOrCreate"], **REQUESTS["Rotate"]},
                reference("Posted"),
                POSTED,
                (*codes, "unknown_token", "token_already_rotated", "ambiguous_request", *IDEMPOTENT),
            )
        ),
        query: _operation("getOrCreateUserGroupByQuery", "Get or create a user group, by QUERY", _QUERY, *found, codes),
    }


def rotate_path() -> JsonObject:
    """``/api/user/rotate``."""
    operation = _operation(
        "rotateUserGroupToken",
        "Rotate the token of a user group",
        _ROTATE,
        reference("Rotate"),
        REQUESTS["Rotate"],
        reference("Rotated"),
        ROTATED,
        (*USER, "unknown_token", "token_already_rotated", *IDEMPOTENT),
    )
    return {"post": _idempotent(operation)}


def _operation(
    name: str,
    summary: str,
    about: str,
    body: JsonObject,
    requests: JsonObject,
    answer: JsonObject,
    example: JsonObject,
    codes: tuple[str, ...],
) -> JsonObject:
    media = {"schema": body, "examples": requests}
    done = _success("Done", answer, example)
    done["headers"]["Dry-Run"] = {"$ref": "#/components/headers/DryRun"}
    return {
        "operationId": name,
        "summary": summary,
        "description": about,
        "tags": ["User groups"],
        "parameters": [_DRY_RUN],
        "requestBody": {"required": True, "content": {"application/json": media}},
        "responses": {"200": done, **error_responses(codes, DEFAULT_FORMAT)},
    }


def _idempotent(operation: JsonObject) -> JsonObject:
    """The same operation, which takes an Idempotency-Key."""
    operation["parameters"] = [*operation["parameters"], _KEY]
    operation["responses"]["200"]["headers"]["Idempotency-Replayed"] = {"$ref": "#/components/headers/Replayed"}
    return operation


def _success(description: str, schema: JsonObject, example: JsonObject) -> JsonObject:
    return {
        "description": description,
        "headers": {"X-Request-Id": {"$ref": "#/components/headers/RequestId"}},
        "content": {"application/json": {"schema": schema, "example": example}},
    }


def introspect_path() -> JsonObject:
    """``/oauth/introspect``."""
    answer = _success("What is known of the token", reference("Introspection"), INTROSPECTED)
    operation = {
        "operationId": "introspectUserGroupToken",
        "summary": "Introspect a user group token",
        "description": _INTROSPECT,
        "tags": ["Introspection"],
        "security": [{"apiToken": []}, {"bearer": []}, {"basic": []}],
        "requestBody": _INTROSPECTION_REQUEST,
        "responses": {"200": answer, **error_responses(INTROSPECTION_CODES, OAUTH_FORMAT, prefix="OAuth")},
    }
    return {"post": operation}


def health_path(name: str, summary: str, schema: str, codes: tuple[str, ...]) -> JsonObject:
    """``/healthz`` or ``/readyz``; ``codes`` are those that it can give."""
    status = "ready" if schema == "Readiness" else "ok"
    operation = {
        "operationId": name,
        "summary": summary,
        "tags": ["Health"],
        "security": [],
        "responses": {
            "200": _success(summary, reference(schema), {"success": 1, "status": status}),
            **error_responses(codes, DEFAULT_FORMAT),
        },
    }
    return {"get": operation}
