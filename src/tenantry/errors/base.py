"""TenantryError, the base class of all errors, and the errors of the operator's files and settings."""

from __future__ import annotations

from typing import Any


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
