"""TenantryError: the root of the tree, which holds what every error has."""

from __future__ import annotations

from typing import Any


class TenantryError(Exception):
    """The root. ``field`` is a JSON pointer (RFC 6901) into the body that was sent, where one is to blame."""

    code = "internal"
    status = 500
    field: str | None = None
    retry_after: int | None = None
    public: str | None = None

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

    @property
    def told(self) -> str:
        """What is told over HTTP: the message, or ``public`` where messages name the operator's files and hosts."""
        return self.message if self.public is None else self.public

    def __reduce__(self) -> tuple[Any, ...]:
        # A renderer may run in another process, and its errors come back: those with keywords of their own too, which
        # the constructor would ask for.
        return _restored, (type(self), self.args, vars(self))


def _restored(kind: type[TenantryError], args: tuple[Any, ...], evidence: dict[str, Any]) -> TenantryError:
    error = kind.__new__(kind, *args)
    vars(error).update(evidence)
    return error
