"""Errors of requests to ``/api/user``, of the store, and of the API's client."""

from __future__ import annotations

from collections.abc import Sequence

from tenantry.errors.base import TenantryError


class BadJson(TenantryError):
    """The body is not one JSON text: empty, broken, duplicate key, NaN, byte order mark or bad UTF-8."""

    code = "bad_json"
    status = 400


class BadRequest(TenantryError):
    """A header (Content-Length, Idempotency-Key) or query parameter is invalid. The message names it."""

    code = "bad_request"
    status = 400


class InvalidRequest(TenantryError):
    """The form of ``/oauth/introspect`` has no token, or a parameter twice (RFC 6749 section 5.2)."""

    code = "invalid_request"
    status = 400


class AmbiguousAuthorization(TenantryError):
    """The API token was sent in more than one way: two Authorization headers, or one and ``client_secret``."""

    code = "ambiguous_authorization"
    status = 400


class Unauthorized(TenantryError):
    """The API token is missing, unknown or revoked, or this address does not accept the way it was sent."""

    code = "unauthorized"
    status = 401


class ApiTokenExpired(Unauthorized):
    """The API token has expired: create another with ``tenantry api-token create``."""

    code = "api_token_expired"


class MissingScope(TenantryError):
    """The API token lacks the scope of this call."""

    code = "missing_scope"
    status = 403


class NotFound(TenantryError):
    """Nothing exists at this path."""

    code = "not_found"
    status = 404


class UnknownGroup(TenantryError):
    """The environment has no user group with this id."""

    code = "unknown_group"
    status = 404


class UnknownToken(TenantryError):
    """``current_token`` is malformed, was never valid, or is of another environment: callers cannot tell which."""

    code = "unknown_token"
    status = 404


class UnknownEnvironment(TenantryError):
    """No environment has this name."""

    code = "unknown_environment"
    status = 404


class UnknownApiToken(TenantryError):
    """The environment has no API token with this id."""

    code = "unknown_api_token"
    status = 404


class MethodNotAllowed(TenantryError):
    """The path exists, but not for this method."""

    code = "method_not_allowed"
    status = 405


class RequestTimeout(TenantryError):
    """The head or body of the request arrived too slowly. Nothing was changed."""

    code = "request_timeout"
    status = 408


class TokenAlreadyRotated(TenantryError):
    """``current_token`` is an earlier version: a reply was lost, or another rotation won. Get the current one with
    GET."""

    code = "token_already_rotated"
    status = 409


class SigningKeyMissing(TenantryError):
    """The signing key of the group's token was removed from the key file: rotate the group."""

    code = "signing_key_missing"
    status = 409


class GroupChanged(TenantryError):
    """The group changed after it was read for this update. Nothing was changed; read it again."""

    code = "group_changed"
    status = 409


class AlreadyExists(TenantryError):
    """The name or id is taken in its environment."""

    code = "already_exists"
    status = 409


class BreaksSavedQuery(TenantryError):
    """These properties would break a saved query that the group can run today. ``queries`` lists each query and its
    variable."""

    code = "breaks_saved_query"
    status = 409

    def __init__(self, message: str, *, field: str | None = None, queries: Sequence[tuple[str, str]] = ()) -> None:
        super().__init__(message, field=field)
        self.queries: tuple[tuple[str, str], ...] = tuple(queries)


class IdempotencyInFlight(TenantryError):
    """The first request with this Idempotency-Key is still running: try again."""

    code = "idempotency_in_flight"
    status = 409
    retry_after: int | None = 1


class IdempotencySuperseded(TenantryError):
    """The group was rotated or deleted after the answer to this Idempotency-Key; a dead token is never replayed."""

    code = "idempotency_superseded"
    status = 409


class BodyTooLarge(TenantryError):
    """The body exceeds 64 KiB; of a bulk, a line exceeds that, or the body 128 MiB."""

    code = "body_too_large"
    status = 413


class UnsupportedMediaType(TenantryError):
    """The body is not ``application/json`` in UTF-8; for ``/oauth/introspect`` not a form, for a bulk not NDJSON."""

    code = "unsupported_media_type"
    status = 415


class HeadersTooLarge(TenantryError):
    """The head of the request (address and headers) exceeds 64 KiB."""

    code = "headers_too_large"
    status = 431


class InvalidBody(TenantryError):
    """The body is JSON of the wrong shape: a type, an unknown field, a limit. ``field`` points at it."""

    code = "invalid_body"
    status = 422


class InvalidGroupsFile(TenantryError):
    """A file for ``tenantry group sync`` is invalid. The message has each place, rule and fix."""

    code = "invalid_groups_file"
    status = 422


class AmbiguousRequest(TenantryError):
    """POST has both ``current_token`` and ``user_group_id``, or neither: send one."""

    code = "ambiguous_request"
    status = 422


class UnknownDataSource(TenantryError):
    """A mapping names a data source that is not registered in the environment."""

    code = "unknown_data_source"
    status = 422


class InvalidProperties(TenantryError):
    """The properties violate the schema of their environment. ``field`` points at the first violation."""

    code = "invalid_properties"
    status = 422


class IdempotencyKeyReused(TenantryError):
    """This Idempotency-Key was used with another body: use a new key."""

    code = "idempotency_key_reused"
    status = 422


class StoreUnavailable(TenantryError):
    """The store is locked, down, too slow or draining. Nothing was changed; try again."""

    code = "store_unavailable"
    status = 503
    generic_message: str | None = "the store is unavailable: try again"

    def __init__(self, message: str, *, retry_after: int = 1) -> None:
        super().__init__(message, retry_after=retry_after)


class OutcomeUnknown(StoreUnavailable):
    """The connection broke or timed out during a write, which may have been done: check with GET before you try
    again."""

    code = "outcome_unknown"
    generic_message: str | None = "the store did not confirm the write: check with GET before you try again"


class MigrationNeeded(StoreUnavailable):
    """The database has no tables of Tenantry, or older ones: run ``tenantry migrate``."""

    code = "migration_needed"
    generic_message: str | None = "the store has no tables of this version: its operator must run `tenantry migrate`"


class Draining(TenantryError):
    """The server is about to stop: ``/readyz`` answers this, and a bulk ends after its current lines."""

    code = "draining"
    status = 503
    retry_after: int | None = 1


class TooManyConnections(TenantryError):
    """The server, or one client, has the most connections allowed. Nothing was changed; try again."""

    code = "too_many_connections"
    status = 503
    retry_after: int | None = 1


class AuditBroken(TenantryError):
    """The audit trail was altered: an entry was changed, removed, inserted or moved, or written without keys where that
    is not allowed."""

    code = "audit_broken"


class ApiUnreachable(TenantryError):
    """``/api/user`` did not answer, after several attempts."""

    code = "api_unreachable"
    status = 503


class UnexpectedAnswer(TenantryError):
    """The answer is not from ``/api/user``: another program, such as a proxy, answered."""

    code = "unexpected_answer"
    status = 502
