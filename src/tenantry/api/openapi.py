"""The OpenAPI document of ``/api/user``, made from the models that validate it.

3.1 has no place for the method QUERY (RFC 10008), so it stands under ``x-query``; 3.2 has one.
"""

from __future__ import annotations

from importlib.metadata import version as installed_version
from typing import Any, Final, Literal

from pydantic.json_schema import models_json_schema

from tenantry.api import introspect_schema
from tenantry.api.examples import CREATED, ERROR, REQUESTS, ROTATED, UPDATED
from tenantry.api.models import MAPPING_SCHEMA, PROPERTIES_SCHEMA, VALUE_SCHEMA, GetOrCreate, Rotate, Update
from tenantry.groups import Tag

JsonObject = dict[str, Any]

_REFERENCE: Final = "#/components/schemas/{model}"

_ERRORS: Final = {
    "400": "More than one Authorization header, a header that cannot be read, or a body that is not JSON "
    "(`ambiguous_authorization`, `bad_request`, `bad_json`)",
    "401": "The API token is missing, unknown or revoked (`unauthorized`)",
    "403": "The API token lacks the scope `provision` (`missing_scope`)",
    "404": "No such user group or token (`unknown_group`, `unknown_token`)",
    "408": "The body did not arrive within 10 seconds (`request_timeout`)",
    "409": "The signing key of the group is gone, the token was rotated already, or the Idempotency-Key is in flight "
    "or superseded (`signing_key_missing`, `token_already_rotated`, `idempotency_in_flight`, `idempotency_superseded`)",
    "413": "The body is larger than 64 KiB (`body_too_large`)",
    "415": "The body is not `application/json` in UTF-8 (`unsupported_media_type`)",
    "422": "The body has a wrong shape, or breaks a limit; `field` points at it (`invalid_body`, `ambiguous_request`, "
    "`unknown_data_source`, `idempotency_key_reused`)",
    "500": "A mistake of the server; its log has more under the request id (`internal`)",
    "503": "The store is not available; nothing was changed; try again (`store_unavailable`, `migration_needed`), or "
    "ask with GET first (`outcome_unknown`)",
}


def openapi_document(version: Literal["3.1", "3.2"]) -> JsonObject:
    """The whole document, ready to be written as JSON."""
    path: JsonObject = {
        "get": _operation("getOrCreateUserGroup", "Get or create a user group", "GetOrCreate", CREATED, _GET),
        "put": _operation("updateUserGroup", "Update a user group", "Update", UPDATED, _PUT),
        "post": _post(),
        "query" if version == "3.2" else "x-query": _operation(
            "queryUserGroup", "Get or create, by QUERY", "GetOrCreate", CREATED, _QUERY
        ),
    }
    return {
        "openapi": {"3.1": "3.1.1", "3.2": "3.2.0"}[version],
        "info": {"title": "User group provisioning", "version": installed_version("tenantry"), "description": _ABOUT},
        "servers": [{"url": "/"}],
        "security": [{"apiToken": []}],
        "tags": [{"name": "User groups"}, {"name": "Introspection"}, {"name": "Health"}],
        "paths": {
            "/api/user": path,
            "/oauth/introspect": {"post": _introspect()},
            "/healthz": {"get": _health("healthy", "The process runs", ready=False)},
            "/readyz": {"get": _health("ready", "The service can answer", ready=True)},
        },
        "components": {
            "securitySchemes": {"apiToken": _SECURITY, "bearer": introspect_schema.SECURITY},
            "schemas": _schemas(),
            "headers": _HEADERS,
        },
    }


_ABOUT: Final = (
    "Each customer is a user group with a secret token that dashboard requests carry. Every answer of `/api/user` is "
    "JSON with `success` 1 or 0. Errors come as RFC 9457 when `application/problem+json` is asked for."
)
_GET: Final = (
    "The request has a JSON body. A client that cannot send one with GET sends the same body with QUERY or POST."
)
_QUERY: Final = "The same as GET with a body, by the method that is made for it (RFC 10008)."
_PUT: Final = (
    "Absent fields stay as they are; `properties` and `mapping` are replaced whole, never merged; null clears them."
)
_POST: Final = (
    "With `current_token`: the group gets a new token, the old one is dead. With `user_group_id`: the same as GET, and "
    "the answer has `api_environment_tag` too. Exactly one of the two."
)
_SECURITY: Final = {
    "type": "apiKey",
    "in": "header",
    "name": "Authorization",
    "description": "The word `Token`, a space and the API token: `Token <API_TOKEN>`.",
}
_HEADERS: Final = {
    "RequestId": {
        "description": "The X-Request-Id of the request if it has a plain shape, else a new one.",
        "schema": {"type": "string", "pattern": "^[A-Za-z0-9._-]{1,64}$"},
    },
    "RetryAfter": {"description": "Seconds.", "schema": {"type": "integer", "minimum": 0}},
    "Replayed": {
        "description": "`true` when the answer to a repeated Idempotency-Key is given again.",
        "schema": {"const": "true"},
    },
    "Challenge": {"schema": {"type": "string"}},
}


# --- operations -------------------------------------------------------------------------------------------------------


def _operation(name: str, summary: str, body: str, example: JsonObject, about: str) -> JsonObject:
    return {
        "operationId": name,
        "summary": summary,
        "description": about,
        "tags": ["User groups"],
        "requestBody": _request_body({"$ref": _REFERENCE.format(model=body)}, REQUESTS[body]),
        "responses": {"200": _success(_REFERENCE.format(model=_ANSWERS[body]), example), **_errors()},
    }


_ANSWERS: Final = {"GetOrCreate": "Found", "Update": "Updated"}


def _post() -> JsonObject:
    operation = _operation("rotateUserGroupToken", "Rotate a token, or get or create", "GetOrCreate", ROTATED, _POST)
    either = [{"$ref": _REFERENCE.format(model=model)} for model in ("Rotate", "GetOrCreate")]
    operation["requestBody"] = _request_body({"oneOf": either}, {**REQUESTS["Rotate"], **REQUESTS["GetOrCreate"]})
    answers = [{"$ref": _REFERENCE.format(model=model)} for model in ("Rotated", "FoundByPost")]
    success = _success("", ROTATED)
    success["content"]["application/json"]["schema"] = {"oneOf": answers}
    success["headers"]["Idempotency-Replayed"] = {"$ref": "#/components/headers/Replayed"}
    operation["responses"]["200"] = success
    operation["parameters"] = [
        {
            "name": "Idempotency-Key",
            "in": "header",
            "required": False,
            "description": "Makes the request happen once: the same key with the same body within 24 hours gets the "
            "same answer again.",
            "schema": {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[!-~]+$"},
            "example": "5f0c7be2-rotate-acme",
        }
    ]
    return operation


def _request_body(schema: JsonObject, examples: JsonObject) -> JsonObject:
    return {"required": True, "content": {"application/json": {"schema": schema, "examples": examples}}}


def _success(reference: str, example: JsonObject) -> JsonObject:
    return {
        "description": "Done",
        "headers": {"X-Request-Id": {"$ref": "#/components/headers/RequestId"}},
        "content": {"application/json": {"schema": {"$ref": reference}, "example": example}},
    }


def _errors(*only: str) -> JsonObject:
    errors: JsonObject = {}
    for status in only or _ERRORS:
        headers = {"X-Request-Id": {"$ref": "#/components/headers/RequestId"}}
        if status == "401":
            headers["WWW-Authenticate"] = {"$ref": "#/components/headers/Challenge"}
        if status == "503":
            headers["Retry-After"] = {"$ref": "#/components/headers/RetryAfter"}
        errors[status] = {
            "description": _ERRORS[status],
            "headers": headers,
            "content": {
                "application/json": {"schema": {"$ref": _REFERENCE.format(model="Error")}, "example": ERROR},
                "application/problem+json": {"schema": {"$ref": _REFERENCE.format(model="Problem")}},
            },
        }
    return errors


def _introspect() -> JsonObject:
    errors = _errors(*introspect_schema.ERRORS)
    for status, description in introspect_schema.ERRORS.items():
        errors[status]["description"] = description
    answer = {
        "description": "What is known of the token",
        "headers": {"X-Request-Id": {"$ref": "#/components/headers/RequestId"}},
        "content": {"application/json": introspect_schema.ANSWER},
    }
    return {
        "operationId": "introspectUserGroupToken",
        "summary": introspect_schema.SUMMARY,
        "description": introspect_schema.ABOUT,
        "tags": ["Introspection"],
        "security": [{"apiToken": []}, {"bearer": []}],
        "requestBody": introspect_schema.REQUEST,
        "responses": {"200": answer, **errors},
    }


def _health(name: str, summary: str, *, ready: bool) -> JsonObject:
    word = "ready" if ready else "ok"
    schema = {
        "type": "object",
        "required": ["success", "status"],
        "properties": {"success": {"const": 1}, "status": {"const": word}},
    }
    answer = {"description": summary, "content": {"application/json": {"schema": schema}}}
    return {
        "operationId": name,
        "summary": summary,
        "tags": ["Health"],
        "security": [],
        "responses": {"200": answer, **_errors("500", *(["503"] if ready else []))},
    }


# --- schemas ----------------------------------------------------------------------------------------------------------


def _schemas() -> JsonObject:
    models = [(model, "validation") for model in (GetOrCreate, Update, Rotate)]
    _, generated = models_json_schema(models, ref_template=_REFERENCE)  # type: ignore[arg-type]  # the mode is a Literal
    requests: JsonObject = _plain(generated["$defs"])
    return {**requests, "Mapping": MAPPING_SCHEMA, "Properties": PROPERTIES_SCHEMA, "Value": VALUE_SCHEMA, **_answers()}


def _plain(schema: Any) -> Any:
    """Without the titles and defaults that pydantic writes: no title says more than its name, and absent is absent."""
    if isinstance(schema, list):
        return [_plain(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    kept = {name: value for name, value in schema.items() if name not in ("title", "default")}
    return {name: value if name == "examples" else _plain(value) for name, value in kept.items()}


_GROUP_FIELDS: Final[JsonObject] = {
    "team_id": {"type": "integer", "description": "Internal id of the user group."},
    "token": {"type": "string", "description": "The user group token. Keep it secret."},
    "name": {"type": "string"},
    "provided_id": {"type": "string", "description": "The `user_group_id` that was sent."},
    "properties": {"anyOf": [{"$ref": "#/components/schemas/Properties"}, {"type": "null"}]},
    "api_environment_tag": {"type": "string", "enum": [tag.value for tag in Tag]},
}


def _answers() -> JsonObject:
    error: JsonObject = {
        "success": {"const": 0},
        "error": _closed(
            {"code": {"type": "string"}, "message": {"type": "string"}, "field": {"type": "string"}},
            optional=("field",),
        ),
        "request_id": {"type": "string"},
    }
    problem = {
        "type": {"type": "string", "format": "uri-reference"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
    }
    return {
        "Found": _found("properties"),
        "FoundByPost": _found("properties", "api_environment_tag"),
        "Updated": _closed({"success": {"const": 1}, "user_group": _group("properties", "api_environment_tag")}),
        "Rotated": _closed({"success": {"const": 1}, "user_group": _group("api_environment_tag")}),
        "Error": _closed(error),
        "Problem": _closed({**problem, **error}),
        "Introspection": introspect_schema.SCHEMA,
    }


def _found(*more: str) -> JsonObject:
    return _closed(
        {
            "success": {"const": 1},
            "new_user_group": {"type": "boolean", "description": "Whether the group was created by this call."},
            "user_group": _group(*more),
        }
    )


def _group(*more: str) -> JsonObject:
    names = ("team_id", "token", "name", "provided_id", *more)
    return _closed({name: _GROUP_FIELDS[name] for name in names})


def _closed(fields: JsonObject, *, optional: tuple[str, ...] = ()) -> JsonObject:
    return {
        "type": "object",
        "required": [name for name in fields if name not in optional],
        "properties": fields,
        "additionalProperties": False,
    }
