from __future__ import annotations

import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from tenantry.errors.suggestions import Edit


class TenantryError(Exception):
    """Base class of Tenantry's errors."""

    code: str = "internal"
    """Identifies the kind of error. The code stays the same in all releases."""
    status: int = 500
    """The HTTP status of a response with this error."""
    field: str | None = None
    """JSON pointer (RFC 6901) to the invalid value in the request body."""
    retry_after: int | None = None
    """Seconds after which a client may try again (the Retry-After header)."""
    generic_message: str | None = None
    """If set, HTTP clients get this text instead of ``message``. It is for errors whose ``message`` may name files or
    hosts of the operator."""

    def __init__(self, message: str, *, field: str | None = None, retry_after: int | None = None) -> None:
        # No super().__init__: __new__ has stored ``args``, and this is the slowest step of refusing a forged token.
        if field is not None:
            self.field = field
        if retry_after is not None:
            self.retry_after = retry_after

    @property
    def message(self) -> str:
        """The full message. It may name files or hosts, so show it only to the operator."""
        return str(self.args[0])

    @property
    def public_message(self) -> str:
        """The message for HTTP clients."""
        return self.message if self.generic_message is None else self.generic_message

    def __reduce__(self) -> tuple[Any, ...]:
        # Lets errors be pickled, for example by a process pool. By default, pickle would call the constructor without
        # keyword arguments.
        return _restored, (type(self), self.args, vars(self))


def _restored(kind: type[TenantryError], args: tuple[Any, ...], attributes: dict[str, Any]) -> TenantryError:
    error = kind.__new__(kind, *args)
    vars(error).update(attributes)
    return error


class InvalidKeys(TenantryError):
    """Signing keys are missing or unusable."""

    code = "invalid_keys"


class InvalidSettings(TenantryError):
    """A setting is missing or invalid."""

    code = "invalid_settings"


class InvalidPropertySchema(TenantryError):
    """A property schema is invalid or uses an unsupported keyword."""

    code = "invalid_property_schema"


# --- the user group token ---------------------------------------------------------------------------------------------


class MissingToken(TenantryError):
    """The request has no user group token."""

    code = "missing_token"
    status = 401
    MESSAGE = "this request has no user group token"


class InvalidToken(TenantryError):
    """The user group token is invalid or revoked."""

    code = "invalid_token"
    status = 401
    MESSAGE = "the user group token is malformed, was not issued here, or is no longer valid"
    # The message is the same for every cause, so that clients cannot find out the cause.


class AmbiguousToken(TenantryError):
    """The request has two different user group tokens."""

    code = "ambiguous_token"
    status = 400
    MESSAGE = "this request has two different user group tokens: send one"


class OriginNotAllowed(TenantryError):
    """A page from another origin may have made the browser send this request."""

    code = "origin_not_allowed"
    status = 403


class EmbeddingNotAllowed(TenantryError):
    """The page that embeds a dashboard is from a host that is not allowed."""

    code = "embedding_not_allowed"
    status = 403


class CodeUsed(TenantryError):
    """The single-use code was already used, has expired or is unknown."""

    code = "code_used"
    status = 410
    MESSAGE = "this code has already been used, has expired or never existed: request a new one"


class MiddlewareMissing(TenantryError):
    """UserGroupMiddleware is not installed."""

    code = "middleware_missing"


# --- the data source --------------------------------------------------------------------------------------------------


NOT_CONNECTED: Final = "the user group has no data source for this: the operator can see the reason in the log"


class DataSourceError(TenantryError):
    """Base class of data source errors. Their messages contain no passwords."""

    code = "data_source_error"
    status = 502


class UnmappedSchema(DataSourceError):
    """The group's mapping has no entry for this schema."""

    code = "unmapped_schema"
    status = 422
    generic_message = NOT_CONNECTED


class UnregisteredSource(DataSourceError):
    """The group's mapping names a data source that is not registered in the environment."""

    code = "unregistered_source"
    status = 422
    generic_message = NOT_CONNECTED


class InvalidSource(DataSourceError):
    """A data source cannot be used: its URL, settings or database are unsuitable, or its driver is missing."""

    code = "invalid_source"
    status = 422
    problem: str | None = None  # of the guarded tables, without the fix; None if the error has another subject
    fix: str = ""


class NotOneStatement(DataSourceError):
    """The SQL is not exactly one query."""

    code = "not_one_statement"
    status = 422


class QueryFailed(DataSourceError):
    """The data source rejected the query."""

    code = "query_failed"
    status = 502
    evidence: str | None = None
    """The engine's error code, or the type of its exception."""
    position: int | None = None
    """Position of the error in the SQL, counted in characters from 1."""
    word: str = ""  # the word that the engine named: it may be a value, so show it only if the query's own SQL has it


class TooManyRows(DataSourceError):
    """The result exceeds the row limit."""

    code = "too_many_rows"
    status = 422


class TooManyBytes(DataSourceError):
    """The result exceeds the memory limit."""

    code = "too_many_bytes"
    status = 422


class QueryTimeout(DataSourceError):
    """The query exceeded the statement timeout."""

    code = "query_timeout"
    status = 504


class QueryOutdated(DataSourceError):
    """The user group or data source changed during the query."""

    code = "query_outdated"
    status = 409
    MESSAGE = "the user group or its data source changed while the query ran: run it again"


class SourceUnavailable(DataSourceError):
    """The data source is unreachable or busy."""

    code = "source_unavailable"
    status = 503
    retry_after: int | None = 1


class SecretUnavailable(SourceUnavailable):
    """A data source's secret is missing or cannot be decrypted."""

    code = "secret_unavailable"
    retry_after = None
    generic_message = "the data source cannot be reached: its operator can see the reason in the log"


class AnswersUnread(TenantryError):
    """The memory for results is full of results that viewers have not read."""

    code = "answers_unread"
    status = 503
    retry_after: int | None = 1
    MESSAGE: Final = "too many answers have not been read yet: read them, then try again"


class ViewerLeft(DataSourceError):
    """The viewer disconnected, so Tenantry cancelled the work."""

    code = "viewer_left"
    status = 499


# --- templates --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Location:
    """A position in a template. ``line`` and ``column`` count from 1."""

    line: int
    column: int
    file: str = ""
    included_at: Location | None = None
    """If the file is a fragment, which other files include: the location of the tag that includes it."""

    def __str__(self) -> str:
        own = f"{self.file}:{self.line}:{self.column}" if self.file else f"{self.line}:{self.column}"
        return f"{own} (included at {self.included_at})" if self.included_at is not None else own


class TemplateError(TenantryError):
    """A template cannot be compiled or rendered."""

    code = "template_error"

    def __init__(
        self,
        message: str,
        *,
        location: Location | None = None,
        problem: str | None = None,
        fix: str = "",
        variable: str = "",
        edit: Edit | None = None,
    ) -> None:
        super().__init__(message)
        self.location = location
        self.problem: str = message if problem is None else problem
        """The message without the location, the line of the template and the fix."""
        self.fix = fix
        """How to fix the problem; empty if the message has no separate fix."""
        self.variable = variable
        """The path of the variable that has the problem, or empty."""
        self.edit = edit  # the fix, if a program can make it

    @property
    def headline(self) -> str:
        """The first line of the message: the location and the problem."""
        return self.message.partition("\n")[0]


class InvalidQueries(TemplateError):
    """Query files, or the folder that contains them, are invalid."""

    code = "invalid_queries"

    def __init__(self, message: str, *, errors: Sequence[TemplateError]) -> None:
        super().__init__(message, location=errors[0].location if errors else None)
        self.errors: tuple[TemplateError, ...] = tuple(errors)
        """The errors of the invalid files; empty if the folder itself is the problem."""


class InvalidDashboards(InvalidQueries):
    """Dashboard files are invalid."""

    code = "invalid_dashboards"


class MissingVariable(TenantryError):
    """A template needs variables that have no value."""

    code = "missing_variable"
    status = 422

    def __init__(self, message: str, *, names: Sequence[str]) -> None:
        super().__init__(message)
        self.names: tuple[str, ...] = tuple(names)


class UnbindableValue(TenantryError):
    """A value cannot be bound to its placeholder, printed by a template, or converted to JSON."""

    code = "unbindable_value"
    status = 422

    def __init__(self, message: str, *, name: str) -> None:
        super().__init__(message)
        self.name = name


class InvalidParameter(TenantryError):
    """Viewer parameters are invalid."""

    code = "invalid_parameter"
    status = 422

    def __init__(self, message: str, *, names: Sequence[str]) -> None:
        super().__init__(message)
        self.names: tuple[str, ...] = tuple(names)


def error_location(error: Exception) -> str:
    # The message is omitted, because it may contain a password or a value of a row.
    frames = traceback.extract_tb(error.__traceback__)
    where = f" at {frames[-1].filename}:{frames[-1].lineno}" if frames else ""
    return f"{type(error).__module__}.{type(error).__qualname__}{where}"
