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
"""AUTHORIZED and SERVER together. (Introspection uses only AUTHORIZED, because SERVER errors are not sent in the format
of its errors.)"""

USER: Final = (*COMMON, "bad_json", "invalid_body", "signing_key_missing", "outcome_unknown")
"""Error codes that every operation on user groups can return."""

SOURCES: Final = (*COMMON, "bad_json", "invalid_body", "invalid_source", "data_source_test_failed", "outcome_unknown")
"""Error codes that every operation that writes a data source can return."""

IDEMPOTENT: Final = ("idempotency_in_flight", "idempotency_superseded", "idempotency_key_reused")
"""Error codes that are only returned for a request with an Idempotency-Key."""


_KINDS: Final[tuple[type[errors.TenantryError], ...]] = (
    errors.AmbiguousAuthorization,
    errors.BadRequest,
    errors.BadJson,
    errors.InvalidRequest,
    errors.Unauthorized,
    errors.ApiTokenExpired,
    errors.MissingScope,
    errors.GroupExpired,
    errors.GroupSuspended,
    errors.UnknownGroup,
    errors.UnknownToken,
    errors.RequestTimeout,
    errors.TokenAlreadyRotated,
    errors.TooManyRevokedViewers,
    errors.SigningKeyMissing,
    errors.BreaksSavedQuery,
    errors.DataSourceNotFound,
    errors.AlreadyExists,
    errors.SourceInUse,
    errors.InvalidSource,
    errors.SourceTestFailed,
    errors.IdempotencyInFlight,
    errors.IdempotencySuperseded,
    errors.BodyTooLarge,
    errors.HeadersTooLarge,
    errors.UnsupportedMediaType,
    errors.InvalidBody,
    errors.InvalidProperties,
    errors.AmbiguousRequest,
    errors.UnknownDataSource,
    errors.IdempotencyKeyReused,
    errors.TenantryError,
    errors.StoreUnavailable,
    errors.MigrationNeeded,
    errors.OutcomeUnknown,
    errors.TooManyConnections,
    errors.Draining,
)
_FIELDS: Final[dict[type[errors.TenantryError], str]] = {
    errors.UnknownGroup: "/user_group_id",
    errors.UnknownToken: "/current_token",
    errors.TokenAlreadyRotated: "/current_token",
    errors.TooManyRevokedViewers: "/viewer_id",
    errors.BreaksSavedQuery: "/properties",
    errors.DataSourceNotFound: "/name",
    errors.AlreadyExists: "/name",
    errors.InvalidSource: "/url",
    errors.SourceTestFailed: "/url",
    errors.InvalidBody: "/user_group_id",
    errors.InvalidProperties: "/properties/region",
    errors.AmbiguousRequest: "",
    errors.UnknownDataSource: "/mapping/main",
}


class _Example(NamedTuple):
    kind: type[errors.TenantryError]
    when: str

    def error(self) -> errors.TenantryError:
        message = getattr(self.kind, "MESSAGE", self.when[0].lower() + self.when[1:])
        field = _FIELDS.get(self.kind)
        return self.kind(message) if field is None else self.kind(message, field=field)


def _example(kind: type[errors.TenantryError]) -> _Example:
    if kind is errors.TenantryError:
        return _Example(kind, "Internal error: the server's log has details under the request id")
    doc = kind.__doc__ or kind.code  # `python -OO` removes docstrings
    return _Example(kind, doc.partition("\n\n")[0].removesuffix(".").replace("``", "`"))


_EXAMPLES: Final = {kind.code: _example(kind) for kind in _KINDS}

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
            response = api_error_response(case.error(), REQUEST_ID, problem=bool(form), error_format=error_format)
            yield f"{style}{form}{code}", {"summary": case.when, "value": json.loads(bytes(response.body))}


def _headers(case: _Example, error_format: ErrorFormat) -> Iterator[str]:
    for each in (error_format, error_format.for_scheme(b"bearer")):  # some headers depend on how the API token was sent
        response = api_error_response(case.error(), REQUEST_ID, problem=False, error_format=each)
        yield from (name.decode("ascii").title().replace("Www", "WWW") for name, _ in response.raw_headers)
