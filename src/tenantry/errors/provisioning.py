from __future__ import annotations

from collections.abc import Sequence

from tenantry.errors.base import TenantryError


class BadJson(TenantryError):
    """The body is not strict JSON in UTF-8."""

    code = "bad_json"
    status = 400


class BadRequest(TenantryError):
    """A header or query parameter is invalid."""

    code = "bad_request"
    status = 400


class InvalidRequest(TenantryError):
    """The form parameters of a token introspection request are invalid (RFC 6749 section 5.2)."""

    code = "invalid_request"
    status = 400


class AmbiguousAuthorization(TenantryError):
    """The request has more than one API token."""

    code = "ambiguous_authorization"
    status = 400


class Unauthorized(TenantryError):
    """The API token is missing, malformed, unknown or revoked."""

    code = "unauthorized"
    status = 401


class ApiTokenExpired(Unauthorized):
    """The API token has expired."""

    code = "api_token_expired"


class MissingScope(TenantryError):
    """The API token lacks the required scope."""

    code = "missing_scope"
    status = 403


class GroupExpired(TenantryError):
    """The user group's end date has passed, so the group gets no pass."""

    code = "group_expired"
    status = 403
    MESSAGE = (
        "the end date of this user group has passed: set a later date, or none, with `tenantry group update` or with "
        "a PATCH of `expires_at`"
    )


class GroupSuspended(TenantryError):
    """The user group is suspended, so it gets no token and no pass."""

    code = "group_suspended"
    status = 403
    MESSAGE = (
        "this user group is suspended: to get its token, resume it with `tenantry group resume` or with a PATCH of "
        '`"suspended": false`'
    )


class NotFound(TenantryError):
    """The path does not exist."""

    code = "not_found"
    status = 404


class UnknownGroup(TenantryError):
    """The environment has no such user group."""

    code = "unknown_group"
    status = 404


class UnknownToken(TenantryError):
    """No group of this environment has the token ``current_token``."""

    code = "unknown_token"
    status = 404


class DataSourceNotFound(TenantryError):
    """The environment has no such data source."""

    code = "data_source_not_found"
    status = 404


class UnknownEnvironment(TenantryError):
    """The environment does not exist."""

    code = "unknown_environment"
    status = 404


class UnknownApiToken(TenantryError):
    """The environment has no such API token."""

    code = "unknown_api_token"
    status = 404


class MethodNotAllowed(TenantryError):
    """The path does not support this method."""

    code = "method_not_allowed"
    status = 405


class RequestTimeout(TenantryError):
    """The request arrived too slowly; nothing changed."""

    code = "request_timeout"
    status = 408


class TokenAlreadyRotated(TenantryError):
    """An earlier rotation has already replaced ``current_token``."""

    code = "token_already_rotated"
    status = 409


class SigningKeyMissing(TenantryError):
    """The key file does not contain the key that signed the group's token."""

    code = "signing_key_missing"
    status = 409


class GroupChanged(TenantryError):
    """The group changed after the caller read it, so nothing was written."""

    code = "group_changed"
    status = 409


class AlreadyExists(TenantryError):
    """Something else already has this name or id."""

    code = "already_exists"
    status = 409


class SourceInUse(TenantryError):
    """Mappings of user groups name the data source, so it was neither deleted nor renamed."""

    code = "data_source_in_use"
    status = 409


class TooManyRevokedViewers(TenantryError):
    """The group's list of revoked viewers is full."""

    code = "too_many_revoked_viewers"
    status = 409


class BreaksSavedQuery(TenantryError):
    """A group can run saved queries now, but could not run them with the new properties."""

    code = "breaks_saved_query"
    status = 409

    def __init__(self, message: str, *, field: str | None = None, queries: Sequence[tuple[str, str]] = ()) -> None:
        super().__init__(message, field=field)
        self.queries: tuple[tuple[str, str], ...] = tuple(queries)
        """Pairs of a saved query's name and the variable that would be missing or invalid in the query."""


class IdempotencyInFlight(TenantryError):
    """The first request with this Idempotency-Key is still running."""

    code = "idempotency_in_flight"
    status = 409
    retry_after: int | None = 1


class IdempotencySuperseded(TenantryError):
    """The group was deleted, or its token was rotated, after the first request with this Idempotency-Key."""

    code = "idempotency_superseded"
    status = 409


class BodyTooLarge(TenantryError):
    """The body of a request, or one line of a bulk request, is too large."""

    code = "body_too_large"
    status = 413


class UnsupportedMediaType(TenantryError):
    """The body's media type is not accepted."""

    code = "unsupported_media_type"
    status = 415


class HeadersTooLarge(TenantryError):
    """The request line and the headers together exceed 64 KiB."""

    code = "headers_too_large"
    status = 431


class InvalidBody(TenantryError):
    """The JSON body has the wrong shape."""

    code = "invalid_body"
    status = 422


class InvalidGroupsFile(TenantryError):
    """The file that ``tenantry group sync`` reads is invalid."""

    code = "invalid_groups_file"
    status = 422


class AmbiguousRequest(TenantryError):
    """A POST body has both ``current_token`` and ``user_group_id``, or neither."""

    code = "ambiguous_request"
    status = 422


class UnknownDataSource(TenantryError):
    """A mapping names an unregistered data source."""

    code = "unknown_data_source"
    status = 422


class SourceTestFailed(TenantryError):
    """The data source failed the test, so nothing was changed."""

    code = "data_source_test_failed"
    status = 422


class InvalidProperties(TenantryError):
    """The properties violate their schema."""

    code = "invalid_properties"
    status = 422


class IdempotencyKeyReused(TenantryError):
    """This Idempotency-Key was used with another body."""

    code = "idempotency_key_reused"
    status = 422


class TooManyRequests(TenantryError):
    """A proxy refused a request of ``Client`` with status 429. Tenantry has no rate limit."""

    code = "too_many_requests"
    status = 429


class StoreUnavailable(TenantryError):
    """The store is unavailable. Nothing was changed, unless the error is an OutcomeUnknown."""

    code = "store_unavailable"
    status = 503
    retry_after: int | None = 1
    generic_message: str | None = "the store is unavailable: try again"


class OutcomeUnknown(StoreUnavailable):
    """The store did not confirm a write, so the caller cannot know whether the write was committed."""

    code = "outcome_unknown"
    generic_message: str | None = "the store did not confirm the write: check with GET before you try again"


class MigrationNeeded(StoreUnavailable):
    """The store's tables are missing or old: run ``tenantry migrate``."""

    code = "migration_needed"
    generic_message: str | None = "the store has no tables of this version: its operator must run `tenantry migrate`"


class Draining(TenantryError):
    """The server is stopping."""

    code = "draining"
    status = 503
    retry_after: int | None = 1


class TooManyConnections(TenantryError):
    """The connection limit is reached."""

    code = "too_many_connections"
    status = 503
    retry_after: int | None = 1


class AuditBroken(TenantryError):
    """The audit trail was altered."""

    code = "audit_broken"


class ApiUnreachable(TenantryError):
    """``/api/user`` did not respond, or its response was cut off."""

    code = "api_unreachable"
    status = 503


class UnexpectedAnswer(TenantryError):
    """The response is not from ``/api/user``, or an old server may have ignored ``dry_run``."""

    code = "unexpected_answer"
    status = 502
