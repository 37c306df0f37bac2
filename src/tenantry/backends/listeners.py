"""Listeners: who hears of the writes of a store in this process."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from tenantry.ports import ChangeListener


class Listeners:
    """Tells every listener before a write and after it, whatever becomes of the write."""

    def __init__(self) -> None:
        self._listeners: list[ChangeListener] = []

    def subscribe(self, listener: ChangeListener) -> None:
        self._listeners.append(listener)

    @contextmanager
    def announced(self, handle: bytes) -> Iterator[None]:
        """``changing`` on the way in, ``changed`` on the way out. A listener that cannot take the first refuses the
        write; each one that was told of the beginning is told of the end, even if another one fails."""
        with ExitStack() as stack:
            for listener in self._listeners:
                stack.callback(listener.changed, handle)
                listener.changing(handle)
            yield
