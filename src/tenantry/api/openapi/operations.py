"""The operations of the document: what each takes, what it answers, and the errors that it can give."""

from __future__ import annotations

from typing import Any, Final

from tenantry.api.answers import Terms
from tenantry.api.introspect import FORM_TERMS
from tenantry.api.openapi import introspection
from tenantry.api.openapi.errors import COMMON, IDEMPOTENT, USER, error_responses
from tenantry.api.openapi.examples import CREATED, POSTED, REQUESTS, ROTATED, UPDATED
from tenantry.api.openapi.schemas import reference

JsonObject = dict[str, Any]

TERMS: Final = Terms()
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
_KEY: Final[JsonObject] = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "description": "Makes the request happen once: the same key with the same body within 24 hours gets the same "
    "answer again.",
    "schema": {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[!-~]+$"},
    "example": "5f0c7be2-rotate-acme",
}


def user_path(query: str) -> JsonObject:
    """``/api/user``; ``query`` is the name that QUERY has in this version of OpenAPI."""
    found = (reference("GetOrCreate"), REQUESTS["GetOrCreate"], reference("Found"), CREATED)
    codes = (*USER, "unknown_data_source")
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
            (*codes, "unknown_group"),
        ),
        "post": _once(
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
    return {"post": _once(operation)}


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
    return {
        "operationId": name,
        "summary": summary,
        "description": about,
        "tags": ["User groups"],
        "requestBody": {"required": True, "content": {"application/json": media}},
        "responses": {"200": _success("Done", answer, example), **error_responses(codes, TERMS)},
    }


def _once(operation: JsonObject) -> JsonObject:
    """The same operation, which takes an Idempotency-Key."""
    operation["parameters"] = [_KEY]
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
    answer = _success("What is known of the token", reference("Introspection"), introspection.EXAMPLE)
    operation = {
        "operationId": "introspectUserGroupToken",
        "summary": introspection.SUMMARY,
        "description": introspection.ABOUT,
        "tags": ["Introspection"],
        "security": [{"apiToken": []}, {"bearer": []}, {"basic": []}],
        "requestBody": introspection.REQUEST,
        "responses": {"200": answer, **error_responses(INTROSPECTION_CODES, FORM_TERMS, prefix="OAuth")},
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
            **error_responses(codes, TERMS),
        },
    }
    return {"get": operation}
