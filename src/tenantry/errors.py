"""The error tree: each error has a stable ``code``, an HTTP ``status`` and evidence; none ever holds a secret.

A ``code`` never changes its meaning and is listed in docs/errors.md. The message says what is wrong and how to mend it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


class TenantryError(Exception):
    """The root. ``field`` is a JSON pointer (RFC 6901) into the body that was sent, where one is to blame."""

    code = "internal"
    status = 500
    field: str | None = None
    retry_after: int | None = None

    def __init__(self, message: str, *, field: str | None = None, retry_after: int | None = None) -> None:
        # Refusing a forgery is mostly the price of its exception, so the common case does as little as it can:
        # BaseException.__new__ has kept the message in ``args`` already.
        if field is not None:
            self.field = field
        if retry_after is not None:
            self.retry_after = retry_after

    @property
    def message(self) -> str:
        """What is wrong and how to mend it."""
        return str(self.args[0])

    def __reduce__(self) -> tuple[Any, ...]:
        # A renderer may run in another process, and its errors come back: those with keywords of their own too, which
        # the constructor would ask for.
        return _restored, (type(self), self.args, vars(self))


def _restored(kind: type[TenantryError], args: tuple[Any, ...], evidence: dict[str, Any]) -> TenantryError:
    error = kind.__new__(kind, *args)
    vars(error).update(evidence)
    return error


# --- a dashboard request and its user group token ---------------------------------------------------------------------


class MissingToken(TenantryError):
    """The request carries no user group token."""

    code, status = "missing_token", 401


class InvalidToken(TenantryError):
    """The user group token is malformed, forged, rotated away or of a deleted group: callers cannot tell which."""

    code, status = "invalid_token", 401


class AmbiguousToken(TenantryError):
    """One request carries two different user group tokens."""

    code, status = "ambiguous_token", 400


class MiddlewareMissing(TenantryError):
    """``user_group(request)`` was asked where UserGroupMiddleware is not installed: a mistake of the host program."""

    code, status = "middleware_missing", 500


# --- provisioning -----------------------------------------------------------------------------------------------------


class BadJson(TenantryError):
    """The body is not one JSON text: empty, broken, duplicate key, NaN, byte order mark or bad UTF-8."""

    code, status = "bad_json", 400


class BadRequest(TenantryError):
    """A header cannot be read: Content-Length or Idempotency-Key. The message names it."""

    code, status = "bad_request", 400


class AmbiguousAuthorization(TenantryError):
    """The request carries more than one Authorization header."""

    code, status = "ambiguous_authorization", 400


class Unauthorized(TenantryError):
    """The API token is missing, unknown, revoked or sent with another scheme than ``Token``."""

    code, status = "unauthorized", 401


class MissingScope(TenantryError):
    """The API token is good but lacks the scope that this call needs."""

    code, status = "missing_scope", 403


class NotFound(TenantryError):
    """There is nothing at this path."""

    code, status = "not_found", 404


class UnknownGroup(TenantryError):
    """There is no user group with this id in the environment."""

    code, status = "unknown_group", 404


class UnknownToken(TenantryError):
    """``current_token`` is malformed, was never valid, or is of another environment: callers cannot tell which."""

    code, status = "unknown_token", 404


class UnknownEnvironment(TenantryError):
    """There is no environment with this name."""

    code, status = "unknown_environment", 404


class UnknownApiToken(TenantryError):
    """There is no API token with this id in the environment."""

    code, status = "unknown_api_token", 404


class MethodNotAllowed(TenantryError):
    """The path exists, the method does not."""

    code, status = "method_not_allowed", 405


class RequestTimeout(TenantryError):
    """The body of the request did not arrive in time. Nothing was done."""

    code, status = "request_timeout", 408


class TokenAlreadyRotated(TenantryError):
    """``current_token`` is of an earlier version: a reply was lost, or another rotation won."""

    code, status = "token_already_rotated", 409


class SigningKeyMissing(TenantryError):
    """The signing key of the group's token is not in the key file any more: rotate the group."""

    code, status = "signing_key_missing", 409


class AlreadyExists(TenantryError):
    """The name or id is taken in its environment."""

    code, status = "already_exists", 409


class IdempotencyInFlight(TenantryError):
    """The first request with this Idempotency-Key has not been answered yet."""

    code, status = "idempotency_in_flight", 409


class IdempotencySuperseded(TenantryError):
    """The group was rotated or deleted since this Idempotency-Key was answered; a dead token is never replayed."""

    code, status = "idempotency_superseded", 409


class BodyTooLarge(TenantryError):
    """The body is larger than 64 KiB."""

    code, status = "body_too_large", 413


class UnsupportedMediaType(TenantryError):
    """The body is not ``application/json`` in UTF-8."""

    code, status = "unsupported_media_type", 415


class InvalidBody(TenantryError):
    """The body is JSON of the wrong shape: a type, an unknown field, a limit. ``field`` points at it."""

    code, status = "invalid_body", 422


class AmbiguousRequest(TenantryError):
    """POST with both ``current_token`` and ``user_group_id``, or with neither."""

    code, status = "ambiguous_request", 422


class UnknownDataSource(TenantryError):
    """A mapping names a data source that is not registered in the environment."""

    code, status = "unknown_data_source", 422


class IdempotencyKeyReused(TenantryError):
    """This Idempotency-Key came with another body before."""

    code, status = "idempotency_key_reused", 422


class StoreUnavailable(TenantryError):
    """The store is locked, down, too slow or being drained. Nothing was changed; try again."""

    code, status = "store_unavailable", 503

    def __init__(self, message: str, *, retry_after: int = 1) -> None:
        super().__init__(message, retry_after=retry_after)


class OutcomeUnknown(StoreUnavailable):
    """The connection broke, or time ran out, while a write was under way: ask with GET before trying again."""

    code = "outcome_unknown"


class MigrationNeeded(StoreUnavailable):
    """The database has no tables of Tenantry, or older ones: run ``tenantry migrate``."""

    code = "migration_needed"


# --- the client of the provisioning interface -------------------------------------------------------------------------


class ApiUnreachable(TenantryError):
    """No answer came from ``/api/user``, though it was asked more than once."""

    code, status = "api_unreachable", 503


class UnexpectedAnswer(TenantryError):
    """The answer is not one that ``/api/user`` gives: another program, such as a proxy, answered."""

    code, status = "unexpected_answer", 502


# --- templates --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Location:
    """Where in a template something stands: ``line`` and ``column`` count from 1."""

    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.line}:{self.column}"


class TemplateError(TenantryError):
    """A template cannot be compiled. ``location`` is where; the message shows the line with a caret and the fix."""

    code, status = "template_error", 500

    def __init__(self, message: str, *, location: Location | None = None) -> None:
        super().__init__(message)
        self.location = location


class MissingVariable(TenantryError):
    """A template names variables that this group or view does not have. ``names`` lists all of them."""

    code, status = "missing_variable", 422

    def __init__(self, message: str, *, names: Sequence[str]) -> None:
        super().__init__(message)
        self.names = tuple(names)


class UnbindableValue(TenantryError):
    """A variable's value cannot stand where the template names it: an object for a scalar, a NUL, an infinite float."""

    code, status = "unbindable_value", 422

    def __init__(self, message: str, *, name: str) -> None:
        super().__init__(message)
        self.name = name


# --- data sources -----------------------------------------------------------------------------------------------------


class DataSourceError(TenantryError):
    """The root of what can go wrong between a group and its rows. No message holds a URL's password."""

    code, status = "data_source_error", 502


class UnmappedSchema(DataSourceError):
    """The group's mapping has no entry for this schema. There is no default data source, on purpose."""

    code, status = "unmapped_schema", 422


class UnregisteredSource(DataSourceError):
    """The group's mapping names a data source that its environment does not have."""

    code, status = "unregistered_source", 422


class InvalidSource(DataSourceError):
    """A data source's URL is malformed, or its dialect cannot be held read-only and it is not trusted."""

    code, status = "invalid_source", 422


class NotOneStatement(DataSourceError):
    """The SQL is not exactly one statement that reads."""

    code, status = "not_one_statement", 422


class QueryFailed(DataSourceError):
    """The data source refused the query."""

    code, status = "query_failed", 502


class TooManyRows(DataSourceError):
    """The query gives more rows than the limit."""

    code, status = "too_many_rows", 422


class QueryTimeout(DataSourceError):
    """The query ran longer than the statement timeout and was stopped."""

    code, status = "query_timeout", 504


class SourceUnavailable(DataSourceError):
    """The data source cannot be reached, or all of its connections are busy."""

    code, status = "source_unavailable", 503


# --- the operator's files and settings --------------------------------------------------------------------------------


class InvalidKeys(TenantryError):
    """The signing-key file is missing, readable by others, malformed, or holds a short or published key."""

    code = "invalid_keys"


class InvalidSettings(TenantryError):
    """A setting is missing or has a value that cannot be used. The message names the setting."""

    code = "invalid_settings"
