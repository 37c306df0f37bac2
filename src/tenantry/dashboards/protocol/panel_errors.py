"""Errors of panels for viewers: a code and a plain sentence, never SQL, a value or a host."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tenantry.errors import (
    AnswersUnread,
    InvalidParameter,
    InvalidSource,
    InvalidToken,
    MissingVariable,
    NotOneStatement,
    QueryFailed,
    QueryOutdated,
    QueryTimeout,
    SourceUnavailable,
    StoreUnavailable,
    TemplateError,
    TenantryError,
    TooManyBytes,
    TooManyRows,
    UnbindableValue,
    UnmappedSchema,
    UnregisteredSource,
)

_NOT_CONNECTED: Final = "No data is connected to this panel yet."
_TOO_MUCH: Final = "This is more data than can be shown at once. Narrow the filters."
_NOT_ANSWERED: Final = "The data source could not answer the query of this panel."
_NOT_REACHED: Final = "The data cannot be reached just now. Please try again shortly."
_ELSE: Final = "This panel cannot be shown just now."
INTERNAL: Final = "internal"
"""The code of an unexpected error."""

_SENTENCES: Final[Mapping[type[TenantryError], str]] = {
    UnmappedSchema: _NOT_CONNECTED,
    UnregisteredSource: _NOT_CONNECTED,
    InvalidSource: _NOT_CONNECTED,
    NotOneStatement: _NOT_ANSWERED,
    QueryFailed: _NOT_ANSWERED,
    TemplateError: _NOT_ANSWERED,
    QueryTimeout: "The data source took too long. Narrow the filters, or try again.",
    QueryOutdated: "Your access to this data has changed. Please reload the page.",
    InvalidToken: "Your access to this data has ended. Please reload the page.",
    TooManyRows: _TOO_MUCH,
    TooManyBytes: _TOO_MUCH,
    SourceUnavailable: _NOT_REACHED,
    StoreUnavailable: _NOT_REACHED,
    AnswersUnread: "Too much data is still being sent to your organization. Please try again shortly.",
    UnbindableValue: "A setting of yours does not fit this panel: {names}.",
    MissingVariable: "Something that this panel needs is not set for you: {names}.",
    InvalidParameter: "A filter has a value that this panel does not accept: {names}.",
}


def viewer_error(error: TenantryError) -> dict[str, str]:
    """Return a code, and a sentence that may name parameters and properties."""
    sentence = next((_SENTENCES[kind] for kind in type(error).__mro__ if kind in _SENTENCES), _ELSE)
    return {"code": error.code, "message": sentence.format(names=_names(error))}


def internal_error() -> dict[str, str]:
    return {"code": INTERNAL, "message": _ELSE}


def _names(error: Any) -> str:
    names = getattr(error, "names", None) or [getattr(error, "name", "")]
    return ", ".join(str(name).removeprefix("params.").removeprefix("user_group.properties.") for name in names)
