"""TenantryError, the base class of all errors; the errors of the operator's files and settings, and those of a
dashboard: its token, its templates, its data sources.
"""

from __future__ import annotations

import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final


class TenantryError(Exception):
    """The base class. ``field`` is a JSON pointer (RFC 6901) into the request body, of the value that is wrong.

    ``code`` is stable, ``status`` is the HTTP status, ``retry_after`` is in seconds.
    """

    code: str = "internal"
    status: int = 500
    field: str | None = None
    retry_after: int | None = None
    generic_message: str | None = None
    """What HTTP clients get instead of the message, where messages name the operator's files and hosts."""

    def __init__(self, message: str, *, field: str | None = None, retry_after: int | None = None) -> None:
        # Refusing a forgery is mostly the price of its exception, so the common case does as little as it can:
        # BaseException.__new__ has kept the message in ``args`` already.
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
        """What HTTP clients get: the message, or ``generic_message`` if the class has one."""
        return self.message if self.generic_message is None else self.generic_message

    def __reduce__(self) -> tuple[Any, ...]:
        # A renderer may run in another process, and its errors come back: those with keywords of their own too, which
        # the constructor would ask for.
        return _restored, (type(self), self.args, vars(self))


def _restored(kind: type[TenantryError], args: tuple[Any, ...], evidence: dict[str, Any]) -> TenantryError:
    error = kind.__new__(kind, *args)
    vars(error).update(evidence)
    return error


class InvalidKeys(TenantryError):
    """The signing-key file is missing, readable by others, malformed, or holds a short or published key."""

    code = "invalid_keys"


class InvalidSettings(TenantryError):
    """A setting is missing or has a value that cannot be used. The message names the setting."""

    code = "invalid_settings"


class InvalidPropertySchema(TenantryError):
    """The schema of an environment's properties is no JSON Schema, or says what would not be checked."""

    code = "invalid_property_schema"


# --- the user group token ---------------------------------------------------------------------------------------------


class MissingToken(TenantryError):
    """The request carries no user group token."""

    code = "missing_token"
    status = 401
    MESSAGE = "this request carries no user group token"


class InvalidToken(TenantryError):
    """The user group token is malformed, forged, rotated away or of a deleted group: callers cannot tell which."""

    code = "invalid_token"
    status = 401
    MESSAGE = "the user group token is malformed, was not issued here, or is no longer valid"
    """The message for every cause: another one would reveal which it was."""


class UserGroupExpired(InvalidToken):
    """The end date of the token's user group has passed. A later one lets the same token in again."""

    code = "user_group_expired"
    MESSAGE = "the access of this user group has ended"
    """The date itself is for the operator."""


class AmbiguousToken(TenantryError):
    """One request carries two different user group tokens."""

    code = "ambiguous_token"
    status = 400
    MESSAGE = "this request carries two different user group tokens: send one"


class OriginNotAllowed(TenantryError):
    """The token came in a cookie, and the websocket or writing request from a page of an origin that is not allowed."""

    code = "origin_not_allowed"
    status = 403


class EmbeddingNotAllowed(TenantryError):
    """The page that embeds the dashboard is of an origin that is not among the hosts of its group or environment."""

    code = "embedding_not_allowed"
    status = 403


class CodeUsed(TenantryError):
    """The single-use code was used already, its time has passed, or it never was one: callers cannot tell which."""

    code = "code_used"
    status = 410
    MESSAGE = "this code can be used once and for a short time: ask for a new one"


class MiddlewareMissing(TenantryError):
    """``user_group(request)`` was asked where UserGroupMiddleware is not installed: a mistake of the host program."""

    code = "middleware_missing"
    status = 500


# --- the data source --------------------------------------------------------------------------------------------------


class DataSourceError(TenantryError):
    """The base class of what can go wrong between a group and its rows. No message holds a URL's password."""

    code = "data_source_error"
    status = 502


class UnmappedSchema(DataSourceError):
    """The group's mapping has no entry for this schema. There is no default data source, on purpose."""

    code = "unmapped_schema"
    status = 422


class UnregisteredSource(DataSourceError):
    """The group's mapping names a data source that its environment does not have."""

    code = "unregistered_source"
    status = 422


class InvalidSource(DataSourceError):
    """A data source's URL or session variables cannot be used, or its dialect is not held read-only and not trusted."""

    code = "invalid_source"
    status = 422


class NotOneStatement(DataSourceError):
    """The SQL is not exactly one statement that reads."""

    code = "not_one_statement"
    status = 422


class QueryFailed(DataSourceError):
    """The data source refused the query. ``evidence`` is the engine's code or kind of error, None where it has none;
    ``position`` the character of the SQL, from 1, where the engine says it."""

    code = "query_failed"
    status = 502
    evidence: str | None = None
    position: int | None = None


class TooManyRows(DataSourceError):
    """The query gives more rows than the limit."""

    code = "too_many_rows"
    status = 422


class TooManyBytes(DataSourceError):
    """The rows of the query take more memory than the limit."""

    code = "too_many_bytes"
    status = 422


class QueryTimeout(DataSourceError):
    """The query ran longer than the statement timeout and was stopped."""

    code = "query_timeout"
    status = 504


class QueryOutdated(DataSourceError):
    """While the query or stream ran, its user group or data source was changed, moved or taken away, so it was ended.
    Ask again."""

    code = "query_outdated"
    status = 409
    MESSAGE = "the user group or its data source has changed while the query ran, so it was ended: ask again"


class SourceUnavailable(DataSourceError):
    """The data source cannot be reached, or all of its connections are busy."""

    code = "source_unavailable"
    status = 503


class SecretUnavailable(SourceUnavailable):
    """The URL of the data source cannot be decrypted, or what it refers to is not there. The message names the key, the
    variable or the file."""

    code = "secret_unavailable"
    generic_message = "the data source cannot be reached: its operator finds the reason in the log"


class AnswersUnread(TenantryError):
    """The answers of the group, or of all groups, that wait to be read take all the memory that there is for them."""

    code = "answers_unread"
    status = 503
    MESSAGE: Final = "too much that was asked for here has not been read yet: read it, and try again"


class ViewerLeft(DataSourceError):
    """The viewer closed the connection, so what was under way for them was stopped. Nobody reads the answer."""

    code = "viewer_left"
    status = 499


# --- templates --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Location:
    """A position in a template: ``line`` and ``column`` count from 1.

    ``file`` is the file or the fragment that it is in, where that has a name; ``included_at`` the tag that took the
    fragment into another text.
    """

    line: int
    column: int
    file: str = ""
    included_at: Location | None = None

    def __str__(self) -> str:
        own = f"{self.file}:{self.line}:{self.column}" if self.file else f"{self.line}:{self.column}"
        return f"{own} (included at {self.included_at})" if self.included_at is not None else own


class TemplateError(TenantryError):
    """A template cannot be compiled, or not be rendered to its end. ``location`` is where; the message says the fix."""

    code = "template_error"
    status = 500

    def __init__(self, message: str, *, location: Location | None = None) -> None:
        super().__init__(message)
        self.location = location


class InvalidQueries(TemplateError):
    """Files of a query folder cannot be used. ``errors`` holds one error for each of them."""

    code = "invalid_queries"

    def __init__(self, message: str, *, errors: Sequence[TemplateError]) -> None:
        super().__init__(message, location=errors[0].location if errors else None)
        self.errors: tuple[TemplateError, ...] = tuple(errors)


class InvalidDashboards(InvalidQueries):
    """Files of a dashboard folder cannot be used. ``errors`` holds one error for each of them."""

    code = "invalid_dashboards"


class MissingVariable(TenantryError):
    """A template names variables that this group or view does not have. ``names`` lists all of them."""

    code = "missing_variable"
    status = 422

    def __init__(self, message: str, *, names: Sequence[str]) -> None:
        super().__init__(message)
        self.names: tuple[str, ...] = tuple(names)


class UnbindableValue(TenantryError):
    """A value is not allowed where the template names it: an object for a scalar, a NUL, an infinite float."""

    code = "unbindable_value"
    status = 422

    def __init__(self, message: str, *, name: str) -> None:
        super().__init__(message)
        self.name = name


class InvalidParameter(TenantryError):
    """A viewer's parameter has a value that it does not take. ``names`` lists all; the message says what each takes."""

    code = "invalid_parameter"
    status = 422

    def __init__(self, message: str, *, names: Sequence[str]) -> None:
        super().__init__(message)
        self.names: tuple[str, ...] = tuple(names)


def error_location(error: Exception) -> str:
    """Type and location of an exception. Its message may hold a URL with a password or a query with values."""
    frames = traceback.extract_tb(error.__traceback__)
    where = f" at {frames[-1].filename}:{frames[-1].lineno}" if frames else ""
    return f"{type(error).__module__}.{type(error).__qualname__}{where}"
