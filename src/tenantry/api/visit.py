"""Visit: one request to a room, as spans and metrics tell of it. Names, codes and seconds; never a body or a token."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Self, TypeAlias

from tenantry.api.body import ClientGone
from tenantry.errors import TenantryError
from tenantry.tracing import set_attribute


@dataclass(frozen=True, slots=True)
class Served:
    """A request that was answered. ``operation`` is ``get_or_create``, ``update``, ``rotate``, ``introspect``, or
    ``none`` where the request did not get as far as to say; ``code`` is ``ok`` or that of the error; ``seconds`` is how
    long it took."""

    operation: str
    status: int
    code: str
    seconds: float


Observer: TypeAlias = Callable[[Served], None]
"""Hears of each request that was answered. It must not wait or raise."""


def unobserved(served: Served) -> None:
    """The observer who is not there."""


class Visit:
    """``with Visit(observer) as visit:`` around all the work of one request. What it learns goes into the request's
    span."""

    __slots__ = ("_begun", "_observer", "_operation")

    def __init__(self, observer: Observer) -> None:
        self._observer = observer
        self._operation = "none"

    def __enter__(self) -> Self:
        self._begun = time.monotonic()
        return self

    def came_from(self, environment: str) -> None:
        set_attribute("tenantry.environment", environment)

    def wants(self, operation: str) -> None:
        self._operation = operation
        set_attribute("tenantry.operation", operation)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        status, code = _outcome(error)
        if status and self._observer is not unobserved:
            self._observer(Served(self._operation, status, code, time.monotonic() - self._begun))


def _outcome(error: BaseException | None) -> tuple[int, str]:
    """The status and code of what is answered; 0 where nothing is."""
    if error is None:
        return 200, "ok"
    if isinstance(error, TenantryError):
        return error.status, error.code
    if isinstance(error, ClientGone) or not isinstance(error, Exception):
        return 0, "client_gone"
    return TenantryError.status, TenantryError.code
