from __future__ import annotations

from typing import Any, Final

from tenantry.groups import MAX_INT, Scope
from tenantry.provisioning.http.endpoint import DEFAULT_FORMAT
from tenantry.provisioning.http.fields import TEXT_SCHEMA
from tenantry.provisioning.http.introspection import OAUTH_FORMAT
from tenantry.provisioning.http.openapi.errors import AUTHORIZED, COMMON, IDEMPOTENT, SERVER, USER, error_responses
from tenantry.provisioning.http.openapi.examples import (
    CREATED,
    DELETED,
    INTROSPECTED,
    INTROSPECTION_REQUESTS,
    LISTED,
    MERGED,
    PASS_MADE,
    PASS_REQUESTS,
    POSTED,
    REQUESTS,
    REVOCATION_REQUESTS,
    ROTATED,
    UPDATED,
    VIEWER_REVOKED,
)
from tenantry.provisioning.http.openapi.links import GROUP_LINKS
from tenantry.provisioning.http.openapi.schema_parts import reference
from tenantry.provisioning.http.users import DEFAULT_PAGE, LARGEST_PAGE

JsonObject = dict[str, Any]

INTROSPECTION_CODES: Final = (*AUTHORIZED, "invalid_request")
HEALTH_CODES: Final = ("internal",)
READY_CODES: Final = ("internal", "store_unavailable", "migration_needed", "draining")

_GET: Final = (
    "Gets the group with this id, or creates it. An existing group is not changed. The request has a JSON body: a "
    "client that cannot send a body with GET sends the same body with QUERY or POST."
)
_QUERY: Final = "The same as GET with a body, using the method designed for it (RFC 10008)."
_PUT: Final = (
    "Fields that the body does not contain stay as they are. `properties` and `mapping` replace the old values "
    "completely, without merging; null clears them."
)
_PATCH: Final = (
    "A merge patch (RFC 7396), also accepted as `application/merge-patch+json`. Fields that the body does not contain "
    "stay as they are. Members of `properties` and `mapping` are merged into the old ones. A member that is null is "
    "removed; a field that is null is cleared. The limits apply to the patch and to the result. `expires_at` is the "
    "end date of the group, and `suspended` true suspends the group. Only this operation, bulk reports, lists and "
    "DELETE show these two fields."
)
_DELETE: Final = (
    "On this host, the group's token is invalid before the answer arrives; on other hosts, within the staleness bound. "
    "A group that is created later with the same id is a new group. The request has no body. The answer shows the "
    "deleted group, without its token."
)
_POST: Final = (
    "With `user_group_id`, the same as GET, but the answer also has `api_environment_tag`. With `current_token`, the "
    "same as `POST /api/user/rotate`: the answer has neither `new_user_group` nor `properties`. Send exactly one of "
    "these two fields."
)
_ROTATE: Final = (
    "Gives the group a new token. The old token stays valid for the grace period of the environment. Without a grace "
    "period, the old token is invalid on this host before the answer arrives, and on other hosts within the staleness "
    "bound. The same as `POST /api/user` with `current_token`, at a separate address."
)
_LIST: Final = (
    "The user groups of the API token's environment, ordered by `team_id`, in pages, without their tokens. Nothing is "
    "created, so the scope `provision:read` is enough. Request the next page with `after`, until `next` is null. With "
    "`user_group_id`, the page holds only the group with this id, or no group."
)
_INTROSPECT: Final = (
    "RFC 7662, for apps that share no database with this service. The API token needs the scope `introspect`. Send it "
    "in exactly one way: as `Token` or `Bearer`, as the password of `Basic` (any user name), or as `client_secret` in "
    "the form. If a token is malformed, forged, rotated, of a deleted group or of another environment, the answer says "
    "only that it is not active. Answers with status 200 have no `success`. Errors have the form of RFC 6749 section "
    "5.2. But errors that the server sends before it has read the request (`headers_too_large`, "
    "`too_many_connections`, `request_timeout` of the head) have the form of the other operations."
)
_FOR_ONE_VIEWER: Final = (
    "A pass is a short-lived credential of one viewer. Give the browser the pass in place of the token, which stays on "
    "your server. The API token needs the scope `passes`, which does not permit reading tokens. A pass is not stored. "
    "It ends when the token of its group ends: when the group is rotated, suspended or deleted."
)
_REVOKE: Final = (
    "Refuses all passes that were issued to the viewer so far: at once on this host, within the staleness bound on "
    "other hosts. Later passes are accepted, so your server decides whether to issue one. A group has at most 200 "
    "revocations, each of which is kept for a day."
)
WRITES: Final = [{"apiToken": [Scope.PROVISION_WRITE.value]}]
"""The scope that every operation of ``/api/user`` needs."""
# Even GET needs it, because it creates groups and shows tokens.
# OpenAPI 3.1 allows scopes with every security scheme (Security Requirement Object).

_READS: Final = [{"apiToken": [Scope.PROVISION_READ.value]}]
_KEY: Final[JsonObject] = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "description": "Makes the request take effect once: the same key with the same body within 24 hours gets the "
    "same answer again.",
    "schema": {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[!-~]+$"},
    "example": "5f0c7be2-rotate-acme",
}

DRY_RUN: Final[JsonObject] = {
    "name": "dry_run",
    "in": "query",
    "required": False,
    "description": "With `true`, nothing is written, and the answer is the same as for the write. A success has the "
    "header `Dry-Run`. A new token is shown as an empty string, and the `team_id` of a new group as 0. A change that "
    "would break a saved query is refused, even if the service only reports such changes. An `Idempotency-Key` is "
    "ignored and stays unused.",
    "schema": {"type": "boolean"},
    "example": False,
}


def query_parameter(name: str, description: str, schema: JsonObject) -> JsonObject:
    return {"name": name, "in": "query", "required": False, "description": description, "schema": schema}


_GROUP_ID: Final = {**query_parameter("user_group_id", "The id of the group.", TEXT_SCHEMA), "required": True}
_LIST_PARAMETERS: Final = [
    query_parameter("user_group_id", "Only the group with this id.", TEXT_SCHEMA),
    query_parameter(
        "match",
        "Only groups whose id begins with this string (case-sensitive), or whose name contains it (in any ASCII case).",
        TEXT_SCHEMA,
    ),
    query_parameter(
        "after",
        "Only groups with a greater `team_id`. Send `next` of the previous page.",
        {"type": "integer", "minimum": 0, "maximum": MAX_INT},
    ),
    query_parameter(
        "limit",
        f"Maximum number of groups per page. Default: {DEFAULT_PAGE}.",
        {"type": "integer", "minimum": 1, "maximum": LARGEST_PAGE},
    ),
]

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


def user_path(query_field: str) -> JsonObject:
    found = (reference("GetOrCreate"), REQUESTS["GetOrCreate"], reference("Found"), CREATED)
    codes = (*USER, "unknown_data_source", "invalid_properties")
    get = _operation("getOrCreateUserGroup", "Get or create a user group", _GET, *found, (*codes, "group_suspended"))
    get["responses"]["200"]["links"] = GROUP_LINKS
    return {
        "get": get,
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
        "patch": _operation(
            "mergeUserGroup",
            "Change members of a user group",
            _PATCH,
            reference("Merge"),
            REQUESTS["Merge"],
            reference("Merged"),
            MERGED,
            (*codes, "unknown_group", "breaks_saved_query"),
        ),
        "delete": _delete_operation(),
        "post": _idempotent(
            _operation(
                "postUserGroup",
                "Get or create a user group, or rotate its token",
                _POST,
                {"oneOf": [reference("GetOrCreate"), reference("Rotate")]},
                {**REQUESTS["GetOrCreate"], **REQUESTS["Rotate"]},
                reference("Posted"),
                POSTED,
                (*codes, "group_suspended", "unknown_token", "token_already_rotated", "ambiguous_request", *IDEMPOTENT),
            )
        ),
        query_field: _operation(
            "getOrCreateUserGroupByQuery",
            "Get or create a user group, by QUERY",
            _QUERY,
            *found,
            (*codes, "group_suspended"),
        ),
    }


def rotate_path() -> JsonObject:
    operation = _operation(
        "rotateUserGroupToken",
        "Rotate the token of a user group",
        _ROTATE,
        reference("Rotate"),
        REQUESTS["Rotate"],
        reference("Rotated"),
        ROTATED,
        (*USER, "group_suspended", "unknown_token", "token_already_rotated", *IDEMPOTENT),
    )
    return {"post": _idempotent(operation)}


def passes_path() -> JsonObject:
    operation = _operation(
        "createPass",
        "Make a pass for a viewer",
        _FOR_ONE_VIEWER,
        reference("CreatePass"),
        PASS_REQUESTS,
        reference("CreatedPass"),
        PASS_MADE,
        (*USER, "group_expired", "group_suspended", "unknown_group"),
    )
    return {"post": {**operation, "security": [{"apiToken": [Scope.PASSES.value]}]}}


def revocation_path() -> JsonObject:
    operation = _operation(
        "revokeViewer",
        "Revoke the passes of a viewer",
        _REVOKE,
        reference("RevokeViewer"),
        REVOCATION_REQUESTS,
        reference("RevokedViewer"),
        VIEWER_REVOKED,
        (*USER, "unknown_group", "too_many_revoked_viewers"),
    )
    return {"post": operation}


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
    done = success("Done", answer, example)
    done["headers"]["Dry-Run"] = {"$ref": "#/components/headers/DryRun"}
    return {
        "operationId": name,
        "summary": summary,
        "description": about,
        "tags": ["User groups"],
        "security": WRITES,
        "parameters": [DRY_RUN],
        "requestBody": {"required": True, "content": {"application/json": media}},
        "responses": {"200": done, **error_responses(codes, DEFAULT_FORMAT)},
    }


def _delete_operation() -> JsonObject:
    done = success("Done", reference("Deleted"), DELETED)
    done["headers"]["Dry-Run"] = {"$ref": "#/components/headers/DryRun"}
    codes = (*COMMON, "outcome_unknown", "unknown_group")
    return {
        "operationId": "deleteUserGroup",
        "summary": "Delete a user group",
        "description": _DELETE,
        "tags": ["User groups"],
        "security": WRITES,
        "parameters": [_GROUP_ID, DRY_RUN],
        "responses": {"200": done, **error_responses(codes, DEFAULT_FORMAT)},
    }


def _idempotent(operation: JsonObject) -> JsonObject:
    operation["parameters"] = [*operation["parameters"], _KEY]
    operation["responses"]["200"]["headers"]["Idempotency-Replayed"] = {"$ref": "#/components/headers/Replayed"}
    return operation


def success(description: str, schema: JsonObject, example: JsonObject) -> JsonObject:
    return {
        "description": description,
        "headers": {"X-Request-Id": {"$ref": "#/components/headers/RequestId"}},
        "content": {"application/json": {"schema": schema, "example": example}},
    }


def users_path() -> JsonObject:
    done = success("A page of user groups", reference("ListedGroups"), LISTED)
    operation = {
        "operationId": "listUserGroups",
        "summary": "List user groups",
        "description": _LIST,
        "tags": ["User groups"],
        "security": _READS,
        "parameters": _LIST_PARAMETERS,
        "responses": {"200": done, **error_responses(COMMON, DEFAULT_FORMAT)},
    }
    return {"get": operation}


def introspect_path() -> JsonObject:
    answer = success("The state of the token", reference("Introspection"), INTROSPECTED)
    operation = {
        "operationId": "introspectUserGroupToken",
        "summary": "Introspect a user group token",
        "description": _INTROSPECT,
        "tags": ["Introspection"],
        "security": [{scheme: [Scope.INTROSPECT.value]} for scheme in ("apiToken", "bearer", "basic")],
        "requestBody": _INTROSPECTION_REQUEST,
        "responses": {"200": answer, **error_responses(INTROSPECTION_CODES, OAUTH_FORMAT, prefix="OAuth")},
    }
    return {"post": operation}


def health_path(name: str, summary: str, schema: str, codes: tuple[str, ...]) -> JsonObject:
    status = "ready" if schema == "Readiness" else "ok"
    operation = {
        "operationId": name,
        "summary": summary,
        "tags": ["Health"],
        "security": [],
        "responses": {
            "200": success(summary, reference(schema), {"success": 1, "status": status}),
            **error_responses((*codes, "request_timeout", *SERVER), DEFAULT_FORMAT),
        },
    }
    return {"get": operation}
