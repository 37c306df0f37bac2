"""TenantryError and the errors of settings, files, dashboards, templates and data sources."""

from __future__ import annotations

import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final


class TenantryError(Exception):
    """The base class. ``code`` is stable; ``status`` is the HTTP status; ``field`` is the JSON pointer (RFC 6901) of
    the wrong value in a request body; ``retry_after`` is in seconds."""

    code: str = "internal"
    status: int = 500
    field: str | None = None
    retry_after: int | None = None
    generic_message: str | None = None
    """Sent to HTTP clients instead of a message that names the operator's files or hosts."""

    def __init__(self, message: str, *, field: str | None = None, retry_after: int | None = None) -> None:
        # The exception is most of the cost of refusing a forgery; BaseException.__new__ keeps the message in ``args``.
        if field is not None:
            self.field = field
        if retry_after is not None:
            self.retry_after = retry_after

    @property
    def message(self) -> str:
        """What is wrong and how to fix it."""
        return str(self.args[0])

    @property
    def public_message(self) -> str:
        """The message for HTTP clients."""
        return self.message if self.generic_message is None else self.generic_message

    def __reduce__(self) -> tuple[Any, ...]:
        # Errors come back from renderers in other processes; the constructor would require their keywords.
        return _restored, (type(self), self.args, vars(self))


def _restored(kind: type[TenantryError], args: tuple[Any, ...], evidence: dict[str, Any]) -> TenantryError:
    error = kind.__new__(kind, *args)
    vars(error).update(evidence)
    return error


class InvalidKeys(TenantryError):
    """The signing-key file is missing, malformed or readable by others, or a key is short or published."""

    code = "invalid_keys"


class InvalidSettings(TenantryError):
    """A setting is missing or invalid. The message names it."""

    code = "invalid_settings"


class InvalidPropertySchema(TenantryError):
    """The schema of an environment's properties is not JSON Schema, or uses a keyword that is not checked."""

    code = "invalid_property_schema"


# --- the user group token ---------------------------------------------------------------------------------------------


class MissingToken(TenantryError):
    """The request has no user group token: open the dashboard from your product."""

    code = "missing_token"
    status = 401
    MESSAGE = "this request has no user group token"


class InvalidToken(TenantryError):
    """The user group token is malformed, forged, rotated, or of a deleted group: get a new one. Callers cannot tell
    which."""

    code = "invalid_token"
    status = 401
    MESSAGE = "the user group token is malformed, was not issued here, or is no longer valid"
    """One message for every cause: another would reveal it."""


class UserGroupExpired(InvalidToken):
    """The end date of the token's user group has passed. A later end date makes the same token valid again."""

    code = "user_group_expired"
    MESSAGE = "the access of this user group has ended"
    """Without the date, which is for the operator."""


class AmbiguousToken(TenantryError):
    """The request has two different user group tokens: send one."""

    code = "ambiguous_token"
    status = 400
    MESSAGE = "this request has two different user group tokens: send one"


class OriginNotAllowed(TenantryError):
    """A websocket or writing request has its token in a cookie and comes from a page of another origin: allow the
    origin, or send the token in a header."""

    code = "origin_not_allowed"
    status = 403


class EmbeddingNotAllowed(TenantryError):
    """The embedding page is not among the hosts of the group or its environment."""

    code = "embedding_not_allowed"
    status = 403


class CodeUsed(TenantryError):
    """The single-use code was used, has expired or never existed: request a new one. Callers cannot tell which."""

    code = "code_used"
    status = 410
    MESSAGE = "this code was used, has expired or never existed: request a new one"


class MiddlewareMissing(TenantryError):
    """``user_group(request)`` needs UserGroupMiddleware: add it to the app."""

    code = "middleware_missing"
    status = 500


# --- the data source --------------------------------------------------------------------------------------------------


class DataSourceError(TenantryError):
    """The base class of errors of data sources and queries. No message holds a URL's password."""

    code = "data_source_error"
    status = 502


class UnmappedSchema(DataSourceError):
    """The group's mapping has no entry for this schema: add one. There is no default data source."""

    code = "unmapped_schema"
    status = 422


class UnregisteredSource(DataSourceError):
    """The group's mapping names a data source that its environment does not have: register it."""

    code = "unregistered_source"
    status = 422


class InvalidSource(DataSourceError):
    """A data source's URL or session variables are invalid, or its dialect has no read-only mode and is not trusted."""

    code = "invalid_source"
    status = 422


class NotOneStatement(DataSourceError):
    """The SQL is not exactly one reading statement."""

    code = "not_one_statement"
    status = 422


class QueryFailed(DataSourceError):
    """The data source rejected the query. ``evidence`` is the engine's code or kind of error, or None; ``position`` is
    the character in the SQL, from 1, if the engine reports it."""

    code = "query_failed"
    status = 502
    evidence: str | None = None
    position: int | None = None


class TooManyRows(DataSourceError):
    """The query returns more rows than the limit."""

    code = "too_many_rows"
    status = 422


class TooManyBytes(DataSourceError):
    """The query's rows take more memory than the limit."""

    code = "too_many_bytes"
    status = 422


class QueryTimeout(DataSourceError):
    """The query exceeded the statement timeout and was stopped."""

    code = "query_timeout"
    status = 504


class QueryOutdated(DataSourceError):
    """The user group or data source changed while the query or stream ran, so it was ended: run it again."""

    code = "query_outdated"
    status = 409
    MESSAGE = "the user group or its data source changed while the query ran: run it again"


class SourceUnavailable(DataSourceError):
    """The data source cannot be reached, or all its connections are busy: try again."""

    code = "source_unavailable"
    status = 503


class SecretUnavailable(SourceUnavailable):
    """The data source's URL cannot be decrypted, or its secret is missing. The message names the key, variable or
    file."""

    code = "secret_unavailable"
    generic_message = "the data source cannot be reached: its operator can see the reason in the log"


class AnswersUnread(TenantryError):
    """Unread answers of the group, or of all groups, take all their memory: read them, then try again."""

    code = "answers_unread"
    status = 503
    MESSAGE: Final = "too many answers have not been read yet: read them, then try again"


class ViewerLeft(DataSourceError):
    """The viewer closed the connection, so the work was stopped. Nobody reads this error."""

    code = "viewer_left"
    status = 499


# --- templates --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Location:
    """A position in a template: ``line`` and ``column`` from 1, in ``file`` if it has a name; ``included_at`` is the
    tag that includes the fragment."""

    line: int
    column: int
    file: str = ""
    included_at: Location | None = None

    def __str__(self) -> str:
        own = f"{self.file}:{self.line}:{self.column}" if self.file else f"{self.line}:{self.column}"
        return f"{own} (included at {self.included_at})" if self.included_at is not None else own


class TemplateError(TenantryError):
    """A template cannot be compiled or rendered. ``location`` is the place; the message says how to fix it."""

    code = "template_error"
    status = 500

    def __init__(self, message: str, *, location: Location | None = None) -> None:
        super().__init__(message)
        self.location = location


class InvalidQueries(TemplateError):
    """Files of a query folder are invalid; ``errors`` has one error per file."""

    code = "invalid_queries"

    def __init__(self, message: str, *, errors: Sequence[TemplateError]) -> None:
        super().__init__(message, location=errors[0].location if errors else None)
        self.errors: tuple[TemplateError, ...] = tuple(errors)


class InvalidDashboards(InvalidQueries):
    """Files of a dashboard folder are invalid; ``errors`` has one error per file."""

    code = "invalid_dashboards"


class MissingVariable(TenantryError):
    """A template reads variables that the group or view does not have; ``names`` lists all."""

    code = "missing_variable"
    status = 422

    def __init__(self, message: str, *, names: Sequence[str]) -> None:
        super().__init__(message)
        self.names: tuple[str, ...] = tuple(names)


class UnbindableValue(TenantryError):
    """A value has the wrong type for its place: an object for a scalar, a NUL, an infinite float."""

    code = "unbindable_value"
    status = 422

    def __init__(self, message: str, *, name: str) -> None:
        super().__init__(message)
        self.name = name


class InvalidParameter(TenantryError):
    """A viewer's parameter has an invalid value; ``names`` lists all, the message says what each accepts."""

    code = "invalid_parameter"
    status = 422

    def __init__(self, message: str, *, names: Sequence[str]) -> None:
        super().__init__(message)
        self.names: tuple[str, ...] = tuple(names)


def error_location(error: Exception) -> str:
    """Type and place of an exception; its message may hold a password or a value."""
    frames = traceback.extract_tb(error.__traceback__)
    where = f" at {frames[-1].filename}:{frames[-1].lineno}" if frames else ""
    return f"{type(error).__module__}.{type(error).__qualname__}{where}"
