"""Errors of provisioning: of a request to ``/api/user``, of the store behind it, and of a client of it."""

from __future__ import annotations

from collections.abc import Sequence

from tenantry.errors.base import TenantryError


class BadJson(TenantryError):
    """The body is not one JSON text: empty, broken, duplicate key, NaN, byte order mark or bad UTF-8."""

    code = "bad_json"
    status = 400


class BadRequest(TenantryError):
    """A header (Content-Length, Idempotency-Key) or a query parameter cannot be used. The message names it."""

    code = "bad_request"
    status = 400


class InvalidRequest(TenantryError):
    """The form of ``/oauth/introspect`` has no token, or a parameter twice (RFC 6749 section 5.2)."""

    code = "invalid_request"
    status = 400


class AmbiguousAuthorization(TenantryError):
    """The API token comes in more than one way: two Authorization headers, or one and ``client_secret``."""

    code = "ambiguous_authorization"
    status = 400


class Unauthorized(TenantryError):
    """The API token is missing, unknown, revoked or sent in a way that the address does not read."""

    code = "unauthorized"
    status = 401


class ApiTokenExpired(Unauthorized):
    """The end of the API token has passed: create another with ``tenantry api-token create``."""

    code = "api_token_expired"


class MissingScope(TenantryError):
    """The API token is good but lacks the scope that this call needs."""

    code = "missing_scope"
    status = 403


class NotFound(TenantryError):
    """There is nothing at this path."""

    code = "not_found"
    status = 404


class UnknownGroup(TenantryError):
    """There is no user group with this id in the environment."""

    code = "unknown_group"
    status = 404


class UnknownToken(TenantryError):
    """``current_token`` is malformed, was never valid, or is of another environment: callers cannot tell which."""

    code = "unknown_token"
    status = 404


class UnknownEnvironment(TenantryError):
    """There is no environment with this name."""

    code = "unknown_environment"
    status = 404


class UnknownApiToken(TenantryError):
    """There is no API token with this id in the environment."""

    code = "unknown_api_token"
    status = 404


class MethodNotAllowed(TenantryError):
    """The path exists, the method does not."""

    code = "method_not_allowed"
    status = 405


class RequestTimeout(TenantryError):
    """The request, its head or its body, did not arrive in time. Nothing was done."""

    code = "request_timeout"
    status = 408


class TokenAlreadyRotated(TenantryError):
    """``current_token`` is of an earlier version: a reply was lost, or another rotation won."""

    code = "token_already_rotated"
    status = 409


class SigningKeyMissing(TenantryError):
    """The signing key of the group's token is not in the key file any more: rotate the group."""

    code = "signing_key_missing"
    status = 409


class GroupChanged(TenantryError):
    """The group was written to between being read and the update that was made for it. Nothing was done."""

    code = "group_changed"
    status = 409


class AlreadyExists(TenantryError):
    """The name or id is taken in its environment."""

    code = "already_exists"
    status = 409


class BreaksSavedQuery(TenantryError):
    """With these properties a saved query that the group can run today could not run. ``queries`` names each one and
    its variable."""

    code = "breaks_saved_query"
    status = 409

    def __init__(self, message: str, *, field: str | None = None, queries: Sequence[tuple[str, str]] = ()) -> None:
        super().__init__(message, field=field)
        self.queries: tuple[tuple[str, str], ...] = tuple(queries)


class IdempotencyInFlight(TenantryError):
    """The first request with this Idempotency-Key has not been answered yet."""

    code = "idempotency_in_flight"
    status = 409
    retry_after: int | None = 1


class IdempotencySuperseded(TenantryError):
    """The group was rotated or deleted since this Idempotency-Key was answered; a dead token is never replayed."""

    code = "idempotency_superseded"
    status = 409


class BodyTooLarge(TenantryError):
    """The body is larger than 64 KiB; of a bulk, a line larger than that, or the body than 128 MiB."""

    code = "body_too_large"
    status = 413


class UnsupportedMediaType(TenantryError):
    """The body is not ``application/json`` in UTF-8; of ``/oauth/introspect``, not a form; of a bulk, not NDJSON."""

    code = "unsupported_media_type"
    status = 415


class HeadersTooLarge(TenantryError):
    """The head of the request, its address and its headers, is larger than 64 KiB."""

    code = "headers_too_large"
    status = 431


class InvalidBody(TenantryError):
    """The body is JSON of the wrong shape: a type, an unknown field, a limit. ``field`` points at it."""

    code = "invalid_body"
    status = 422


class InvalidGroupsFile(TenantryError):
    """A file of groups for ``tenantry group sync`` cannot be used. The message has each place, the rule and the fix."""

    code = "invalid_groups_file"
    status = 422


class AmbiguousRequest(TenantryError):
    """POST with both ``current_token`` and ``user_group_id``, or with neither."""

    code = "ambiguous_request"
    status = 422


class UnknownDataSource(TenantryError):
    """A mapping names a data source that is not registered in the environment."""

    code = "unknown_data_source"
    status = 422


class InvalidProperties(TenantryError):
    """The properties are not as the schema of their environment wants them. ``field`` points at the first that is
    not."""

    code = "invalid_properties"
    status = 422


class IdempotencyKeyReused(TenantryError):
    """This Idempotency-Key came with another body before."""

    code = "idempotency_key_reused"
    status = 422


class StoreUnavailable(TenantryError):
    """The store is locked, down, too slow or being drained. Nothing was changed; try again."""

    code = "store_unavailable"
    status = 503
    generic_message: str | None = "the store is not available just now: try again"

    def __init__(self, message: str, *, retry_after: int = 1) -> None:
        super().__init__(message, retry_after=retry_after)


class OutcomeUnknown(StoreUnavailable):
    """The connection broke, or time ran out, while a write was under way: ask with GET before trying again."""

    code = "outcome_unknown"
    generic_message: str | None = "the store has not confirmed the write: look with GET before trying again"


class MigrationNeeded(StoreUnavailable):
    """The database has no tables of Tenantry, or older ones: run ``tenantry migrate``."""

    code = "migration_needed"
    generic_message: str | None = "the store has no tables of this version: its operator runs `tenantry migrate`"


class Draining(TenantryError):
    """``/readyz`` of a server that is about to stop: it still answers, and wants no new work. A bulk ends there after
    the lines that it has."""

    code = "draining"
    status = 503
    retry_after: int | None = 1


class TooManyConnections(TenantryError):
    """The server, or one client of it, has as many connections as it may have. Nothing was done; try again."""

    code = "too_many_connections"
    status = 503
    retry_after: int | None = 1


class AuditBroken(TenantryError):
    """The audit trail is not what was written: an entry was changed, removed, inserted or moved; or, unless that is
    allowed, it was written without the keys, so that nothing proves it."""

    code = "audit_broken"


class ApiUnreachable(TenantryError):
    """No answer came from ``/api/user``, though it was asked more than once."""

    code = "api_unreachable"
    status = 503


class UnexpectedAnswer(TenantryError):
    """The answer is not one that ``/api/user`` gives: another program, such as a proxy, answered."""

    code = "unexpected_answer"
    status = 502
