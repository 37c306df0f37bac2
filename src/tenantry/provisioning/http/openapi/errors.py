"""Examples of the error responses, made by the code that writes the real ones."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any, Final, NamedTuple

from tenantry import errors
from tenantry.provisioning.http.endpoint import ErrorFormat, api_error_response

JsonObject = dict[str, Any]

REQUEST_ID: Final = "9f3c2b1a7d5e4f60"

SERVER: Final = ("headers_too_large", "too_many_connections")
"""Codes of errors that ``tenantry serve`` sends itself, before the request reaches an operation."""

AUTHORIZED: Final = (
    "ambiguous_authorization",
    "bad_request",
    "unauthorized",
    "api_token_expired",
    "missing_scope",
    "request_timeout",
    "body_too_large",
    "unsupported_media_type",
    "internal",
    "store_unavailable",
    "migration_needed",
)
"""Error codes that every operation with an API token can return."""

COMMON: Final = (*AUTHORIZED, *SERVER)
# Introspection uses only AUTHORIZED, because SERVER errors are not sent in the format of its errors.

USER: Final = (*COMMON, "bad_json", "invalid_body", "signing_key_missing", "outcome_unknown")
"""Error codes that every operation on user groups can return."""

SOURCES: Final = (*COMMON, "bad_json", "invalid_body", "invalid_source", "data_source_test_failed", "outcome_unknown")
"""Error codes that every operation that writes a data source can return."""

IDEMPOTENT: Final = ("idempotency_in_flight", "idempotency_superseded", "idempotency_key_reused")
"""Error codes that are only returned for a request with an Idempotency-Key."""


class _Example(NamedTuple):
    kind: type[errors.TenantryError]
    when: str
    message: str
    field: str | None = None


_EXAMPLES: Final = {
    case.kind.code: case
    for case in (
        _Example(
            errors.AmbiguousAuthorization,
            "The API token comes in two ways",
            "the request has more than one Authorization header: send one",
        ),
        _Example(
            errors.BadRequest,
            "A header or a query parameter cannot be used",
            "the header Content-Length must be a single number of bytes",
        ),
        _Example(
            errors.BadJson, "The body is not JSON", "the body is not JSON: expecting ',' delimiter, at character 24"
        ),
        _Example(
            errors.InvalidRequest,
            "The form has no `token`, or has a parameter more than once",
            "the form has no parameter 'token': add it, with the user group token as its value",
        ),
        _Example(
            errors.Unauthorized,
            "The API token is missing, unknown or revoked",
            "the API token is malformed, unknown or revoked",
        ),
        _Example(
            errors.ApiTokenExpired,
            "The API token has expired",
            "the API token expired at 2027-01-31T00:00:00+00:00: create another with tenantry api-token create",
        ),
        _Example(
            errors.MissingScope,
            "The API token lacks the scope of the operation; the message names the scope",
            "this API token lacks the scope provision:write: create one with --scope provision:write",
        ),
        _Example(
            errors.GroupExpired,
            "The end date of the user group has passed, so the group gets no pass",
            errors.GroupExpired.MESSAGE,
        ),
        _Example(
            errors.GroupSuspended,
            "The user group is suspended, so it gets no token",
            errors.GroupSuspended.MESSAGE,
        ),
        _Example(
            errors.UnknownGroup,
            "There is no user group with this id",
            "there is no user group with this id in this environment",
            "/user_group_id",
        ),
        _Example(
            errors.UnknownToken,
            "No user group of this environment has the token",
            "no user group of this environment has this token",
            "/current_token",
        ),
        _Example(
            errors.RequestTimeout,
            "The body did not arrive within 10 seconds",
            "the body did not arrive within 10 seconds",
        ),
        _Example(
            errors.TokenAlreadyRotated,
            "The token was rotated already; GET returns the current token",
            "this token was rotated already: GET gives the live one",
            "/current_token",
        ),
        _Example(
            errors.TooManyRevokedViewers,
            "200 viewers of the user group were revoked within a day",
            "200 viewers of this user group were revoked within a day: rotate its token instead, which ends the passes "
            "of all its viewers",
            "/viewer_id",
        ),
        _Example(
            errors.SigningKeyMissing,
            "The signing key of the group's token is gone",
            "the signing key of this group's token is not in the key file any more: rotate the group",
        ),
        _Example(
            errors.BreaksSavedQuery,
            "The properties would break a saved query that works for the group today, if the operator checks this",
            "with these properties 1 saved query could not run: sales/by_day needs region, which is missing",
            "/properties",
        ),
        _Example(
            errors.DataSourceNotFound,
            "There is no data source with this name or id in the environment",
            "environment 'production' has no data source 'warehouse'",
            "/name",
        ),
        _Example(
            errors.AlreadyExists,
            "The name is taken",
            "environment 'production' already has a data source 'warehouse': choose another name",
            "/name",
        ),
        _Example(
            errors.SourceInUse,
            "Mappings of user groups name the data source",
            "3 user groups map to data source 'warehouse': their queries fail when it is deleted",
        ),
        _Example(
            errors.InvalidSource,
            "The URL, the session variables or the declaration of guarded tables is not accepted, or the service does "
            "not allow the host",
            "over HTTP the password of a data source cannot be a reference: send the password itself",
            "/password",
        ),
        _Example(
            errors.SourceTestFailed,
            "The data source did not pass the test; nothing was changed",
            "the database refuses the user or the password. Nothing was changed: fix this, or set `test` to false if "
            "only your apps can reach the data source",
            "/url",
        ),
        _Example(
            errors.IdempotencyInFlight,
            "The first request with this Idempotency-Key is still running",
            "the first request with this Idempotency-Key is still running: try again shortly",
        ),
        _Example(
            errors.IdempotencySuperseded,
            "The group was rotated or deleted since this Idempotency-Key was answered",
            "the group was rotated or deleted since this Idempotency-Key was answered: GET gives the live token",
        ),
        _Example(errors.BodyTooLarge, "The body is larger than 64 KiB", "the body is larger than 65536 bytes"),
        _Example(
            errors.HeadersTooLarge,
            "The address and the headers are larger than 64 KiB",
            "the head of the request is larger than 65536 bytes",
        ),
        _Example(
            errors.UnsupportedMediaType,
            "The body does not have the accepted media type, in UTF-8",
            "send the body in UTF-8, with the Content-Type of this operation",
        ),
        _Example(
            errors.InvalidBody,
            "The body has a wrong shape, breaks a limit, or holds a secret; `field` points at the mistake",
            "this field is required",
            "/user_group_id",
        ),
        _Example(
            errors.InvalidProperties,
            "The properties violate the schema of the environment, if the operator has set one",
            "region is of type array, and the environment's schema wants string",
            "/properties/region",
        ),
        _Example(
            errors.AmbiguousRequest,
            "The body has both `current_token` and `user_group_id`, or neither",
            "send either current_token (to rotate) or user_group_id (to get or create)",
            "",
        ),
        _Example(
            errors.UnknownDataSource,
            "The mapping names a data source that is not registered",
            "there is no data source 'warehouse_eu' in the environment production; register it with: tenantry "
            "data-source create warehouse_eu --environment production --url …",
            "/mapping/main",
        ),
        _Example(
            errors.IdempotencyKeyReused,
            "The Idempotency-Key was used with another body before",
            "this Idempotency-Key came with another body before: send a new one",
        ),
        _Example(
            errors.TenantryError,
            "An internal error; the server's log has details under the request id",
            "internal error: the server's log has details under the request id",
        ),
        _Example(errors.StoreUnavailable, "The store is not available; nothing was changed; try again", ""),
        _Example(errors.MigrationNeeded, "The tables of the store are missing or old", ""),
        _Example(errors.OutcomeUnknown, "The store did not confirm the write; check with GET before you try again", ""),
        _Example(
            errors.TooManyConnections,
            "The server has as many connections as it can serve; nothing was done; try again",
            "this server has as many connections as it can serve: try again",
        ),
        _Example(
            errors.Draining,
            "The server is about to stop",
            "this server is about to stop: send requests to another server",
        ),
    )
}

KNOWN_CODES: Final = (*_EXAMPLES, errors.MethodNotAllowed.code, errors.NotFound.code)
"""All error codes that this version sends over HTTP."""


def error_responses(codes: Iterable[str], error_format: ErrorFormat, *, prefix: str = "") -> JsonObject:
    by_status: dict[int, list[_Example]] = {}
    for code in codes:
        by_status.setdefault(_EXAMPLES[code].kind.status, []).append(_EXAMPLES[code])
    return {str(status): _response(by_status[status], error_format, prefix) for status in sorted(by_status)}


def _response(cases: list[_Example], error_format: ErrorFormat, prefix: str) -> JsonObject:
    sent = {name for case in cases for name in _headers(case, error_format)}
    headers = {name: {"$ref": f"#/components/headers/{reference}"} for name, reference in _HEADERS if name in sent}
    return {
        "description": "; ".join(f"{case.when} (`{case.kind.code}`)" for case in cases),
        "headers": {"X-Request-Id": {"$ref": "#/components/headers/RequestId"}, **headers},
        "content": {
            "application/json": _media(cases, f"{prefix}ErrorAnswer", ""),
            "application/problem+json": _media(cases, f"{prefix}ProblemAnswer", "problem_"),
        },
    }


_HEADERS: Final = (("WWW-Authenticate", "Challenge"), ("Retry-After", "RetryAfter"), ("Accept", "Accepted"))


def _media(cases: list[_Example], schema: str, form: str) -> JsonObject:
    style = "oauth_" if schema.startswith("OAuth") else ""
    return {
        "schema": {"$ref": f"#/components/schemas/{schema}"},
        "examples": {
            case.kind.code: {"$ref": f"#/components/examples/{style}{form}{case.kind.code}"} for case in cases
        },
    }


def error_examples(
    codes: Iterable[str], error_format: ErrorFormat, *, style: str = ""
) -> Iterator[tuple[str, JsonObject]]:
    for code in codes:
        case = _EXAMPLES[code]
        for form in ("", "problem_"):
            response = api_error_response(_error_of(case), REQUEST_ID, problem=bool(form), error_format=error_format)
            yield f"{style}{form}{code}", {"summary": case.when, "value": json.loads(bytes(response.body))}


def _headers(case: _Example, error_format: ErrorFormat) -> Iterator[str]:
    for each in (error_format, error_format.for_scheme(b"bearer")):  # some headers depend on how the API token was sent
        response = api_error_response(_error_of(case), REQUEST_ID, problem=False, error_format=each)
        yield from (name.decode("ascii").title().replace("Www", "WWW") for name, _ in response.raw_headers)


def _error_of(case: _Example) -> errors.TenantryError:
    return case.kind(case.message) if case.field is None else case.kind(case.message, field=case.field)
