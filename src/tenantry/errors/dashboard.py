"""Errors of a dashboard request: of its user group token, its data source, and the templates that it renders."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tenantry.errors.base import TenantryError

# --- the user group token ---------------------------------------------------------------------------------------------


class MissingToken(TenantryError):
    """The request carries no user group token."""

    code = "missing_token"
    status = 401


class InvalidToken(TenantryError):
    """The user group token is malformed, forged, rotated away or of a deleted group: callers cannot tell which."""

    code = "invalid_token"
    status = 401
    MESSAGE = "the user group token is malformed, was not issued here, or is no longer valid"
    """The message for every cause: another one would reveal which it was."""


class AmbiguousToken(TenantryError):
    """One request carries two different user group tokens."""

    code = "ambiguous_token"
    status = 400
    MESSAGE = "this request carries two different user group tokens: send one"


class OriginNotAllowed(TenantryError):
    """The token came in a cookie, and the websocket or writing request from a page of an origin that is not allowed."""

    code = "origin_not_allowed"
    status = 403


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
    """A data source's URL is malformed, or its dialect cannot be held read-only and it is not trusted."""

    code = "invalid_source"
    status = 422


class NotOneStatement(DataSourceError):
    """The SQL is not exactly one statement that reads."""

    code = "not_one_statement"
    status = 422


class QueryFailed(DataSourceError):
    """The data source refused the query."""

    code = "query_failed"
    status = 502


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


class SourceUnavailable(DataSourceError):
    """The data source cannot be reached, or all of its connections are busy."""

    code = "source_unavailable"
    status = 503


# --- templates --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Location:
    """A position in a template: ``line`` and ``column`` count from 1."""

    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.line}:{self.column}"


class TemplateError(TenantryError):
    """A template cannot be compiled, or not be rendered to its end. ``location`` is where; the message says the fix."""

    code = "template_error"
    status = 500

    def __init__(self, message: str, *, location: Location | None = None) -> None:
        super().__init__(message)
        self.location = location


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
