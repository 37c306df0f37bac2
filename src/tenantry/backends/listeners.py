"""Listeners: who hears of the writes of a store in this process."""

from __future__ import annotations

import logging

from tenantry.ports import ChangeListener

_log = logging.getLogger("tenantry")


class Listeners:
    """Tells every listener of each change that was committed."""

    def __init__(self) -> None:
        self._listeners: list[ChangeListener] = []

    def subscribe(self, listener: ChangeListener) -> None:
        self._listeners.append(listener)

    def tell(self, handle: bytes, generation: int) -> None:
        """The write is done and its caller is to hear so: a listener that fails keeps neither it nor the others."""
        for listener in self._listeners:
            try:
                listener.changed(handle, generation)
            except Exception:  # noqa: BLE001 - whatever a listener does
                _log.exception("a listener to changes failed")
