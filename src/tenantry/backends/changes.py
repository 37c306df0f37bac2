from __future__ import annotations

import logging
from typing import Final

from tenantry.ports import ChangeListener

_log = logging.getLogger("tenantry")

RETAINED_CHANGES: Final = 100_000
"""A store retains at least this many changes."""

LISTED_CHANGES: Final = 10_000
"""Maximum number of changes in one list. A reader that missed more clears its cache."""


class ChangeListeners:
    def __init__(self) -> None:
        self._listeners: list[ChangeListener] = []

    def subscribe(self, listener: ChangeListener) -> None:
        self._listeners.append(listener)

    def notify(self, handle: bytes, generation: int) -> None:
        """Call all listeners. If one fails, log its error and call the others."""
        for listener in self._listeners:
            try:
                listener.changed(handle, generation)
            except Exception:  # noqa: BLE001 - a listener may raise anything
                _log.exception("a listener to changes failed")
