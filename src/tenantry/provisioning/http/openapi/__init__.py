"""Makes the OpenAPI document. Version 3.2 has the field ``query`` for the method QUERY (RFC 10008), and ``itemSchema``
for NDJSON lines. Version 3.1 has ``x-query`` and ``x-itemSchema`` instead."""

from __future__ import annotations

import json
from importlib.metadata import version as installed_version
from typing import Any, Final, Literal

from tenantry.provisioning.http.contact import read_contact
from tenantry.provisioning.http.endpoint import DEFAULT_FORMAT
from tenantry.provisioning.http.introspection import OAUTH_FORMAT
from tenantry.provisioning.http.openapi.bulk_path import bulk_path
from tenantry.provisioning.http.openapi.data_sources_path import data_sources_path
from tenantry.provisioning.http.openapi.errors import COMMON, IDEMPOTENT, SOURCES, USER, error_examples
from tenantry.provisioning.http.openapi.paths import (
    HEALTH_CODES,
    INTROSPECTION_CODES,
    READY_CODES,
    health_path,
    introspect_path,
    passes_path,
    revocation_path,
    rotate_path,
    user_path,
    users_path,
)
from tenantry.provisioning.http.openapi.rotations_path import rotations_path
from tenantry.provisioning.http.openapi.schemas import schemas

JsonObject = dict[str, Any]


def openapi_document(version: Literal["3.1", "3.2"], *, contact: str | None = None) -> JsonObject:
    """Return the OpenAPI document. ``contact``: the operator's web or email address. Any other string raises
    ValueError."""
    item_field = "itemSchema" if version == "3.2" else "x-itemSchema"
    paths = {
        "/api/user": user_path("query" if version == "3.2" else "x-query"),
        "/api/user/rotate": rotate_path(),
        "/api/user/passes": passes_path(),
        "/api/user/viewers/revoke": revocation_path(),
        "/api/users": users_path(),
        "/api/users/bulk": bulk_path(item_field),
        "/api/users/rotate": rotations_path(item_field),
        "/api/data-sources": data_sources_path(),
        "/oauth/introspect": introspect_path(),
        "/healthz": health_path("getHealth", "The process runs", "Health", HEALTH_CODES),
        "/readyz": health_path("getReadiness", "The service can answer", "Readiness", READY_CODES),
    }
    responses = _share_responses(paths)
    return {
        "openapi": {"3.1": "3.1.1", "3.2": "3.2.0"}[version],
        "info": {
            "title": "User group provisioning",
            "version": installed_version("tenantry"),
            "description": _ABOUT,
            "license": {"name": "Apache License 2.0", "identifier": "Apache-2.0"},
            **({} if contact is None else {"contact": read_contact(contact)}),
        },
        "servers": [{"url": "/"}],
        "security": [{"apiToken": []}],
        "tags": _TAGS,
        "paths": paths,
        "components": {
            "securitySchemes": _SECURITY,
            "schemas": schemas(),
            "responses": responses,
            "headers": _HEADERS,
            "examples": {
                **dict(error_examples(_CODES, DEFAULT_FORMAT)),
                **dict(error_examples(INTROSPECTION_CODES, OAUTH_FORMAT, style="oauth_")),
            },
        },
    }


def _share_responses(paths: JsonObject) -> JsonObject:
    shared: JsonObject = {}
    names: dict[str, str] = {}
    for responses in (operation["responses"] for methods in paths.values() for operation in methods.values()):
        for status, response in responses.items():
            if int(status) < 400:
                continue
            content = json.dumps(response, sort_keys=True)
            name = names.get(content)
            if name is None:
                taken = sum(each.startswith(f"Error{status}") for each in shared)
                name = names[content] = f"Error{status}" + ("" if not taken else chr(ord("A") + taken))
                shared[name] = response
            responses[status] = {"$ref": f"#/components/responses/{name}"}
    return dict(sorted(shared.items()))


_CODES: Final = dict.fromkeys(
    (
        *COMMON,
        *USER,
        *IDEMPOTENT,
        *SOURCES,
        *READY_CODES,
        "data_source_not_found",
        "already_exists",
        "data_source_in_use",
        "unknown_data_source",
        "invalid_properties",
        "breaks_saved_query",
        "group_expired",
        "group_suspended",
        "unknown_group",
        "unknown_token",
        "token_already_rotated",
        "too_many_revoked_viewers",
        "ambiguous_request",
    )
)
_ABOUT: Final = (
    "Each customer is a user group with a secret token that dashboard requests carry. Every answer of `/api/user` is "
    "JSON with `success` 1 or 0. Errors are RFC 9457 problem documents for `Accept: application/problem+json`."
)
_TAGS: Final = [
    {"name": "User groups", "description": "Create, find and update user groups, and rotate their tokens."},
    {"name": "Data sources", "description": "List, register, change and delete data sources."},
    {"name": "Introspection", "description": "Ask whose token this is, without the database (RFC 7662)."},
    {"name": "Health", "description": "Whether the process runs and can answer. Needs no API token."},
]
_SECURITY: Final = {
    "apiToken": {
        "type": "apiKey",
        "in": "header",
        "name": "Authorization",
        "description": "The word `Token`, a space and the API token: `Token <API_TOKEN>`. An API token has scopes, and "
        "each operation names the scope that it needs: `provision:read`, `provision:write`, `passes`, `sources` or "
        "`introspect`; the scope `provision` includes the first two. An API token may have an end date, and is "
        "refused from then on.",
    },
    "bearer": {
        "type": "http",
        "scheme": "bearer",
        "description": "The API token after the word `Bearer`; scopes and end date are as under `apiToken`.",
    },
    "basic": {
        "type": "http",
        "scheme": "basic",
        "description": "The API token as the password (`client_secret_basic`); the user name is ignored. Scopes "
        "and end date are as under `apiToken`.",
    },
}
_HEADERS: Final = {
    "RequestId": {
        "description": "The X-Request-Id of the request if it is well-formed, else a new one.",
        "schema": {"type": "string", "pattern": "^[A-Za-z0-9._-]{1,64}$"},
    },
    "RetryAfter": {"description": "Seconds.", "schema": {"type": "integer", "minimum": 0}},
    "Replayed": {
        "description": "`true` if this answer repeats the answer to an earlier request with this Idempotency-Key.",
        "schema": {"type": "string", "const": "true"},
    },
    "DryRun": {
        "description": "`true` when nothing was written.",
        "schema": {"type": "string", "const": "true"},
    },
    "Challenge": {"description": "How to authenticate.", "schema": {"type": "string"}},
    "Accepted": {"description": "The accepted media type.", "schema": {"type": "string"}},
}


__all__ = ["openapi_document"]
