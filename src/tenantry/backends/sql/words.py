"""Words: this host's words for a store, which are found by the id that the store has."""

from __future__ import annotations

import threading
from collections.abc import Awaitable, Callable
from pathlib import Path

from tenantry.slots import Slots


class Words:
    """Opens ``<run folder>/<store id>.slots`` when it is first needed, and again when another file has come there.

    ``read_id`` asks the store for its id, by a deadline. The folder is made and checked by ``tenantry.slots``.
    """

    def __init__(self, folder: str | Path | None, read_id: Callable[[float], Awaitable[str]]) -> None:
        self._folder = folder
        self._read_id = read_id
        self._known: str | None = None
        self._lock = threading.Lock()
        self._opened: tuple[str, Slots] | None = None

    @property
    def slots(self) -> Slots | None:
        """What was opened last; None before."""
        return self._opened[1] if self._opened else None

    async def for_writing(self, deadline: float) -> tuple[str, Slots]:
        """The id of the store, as far as is known, and its words. Raises StoreUnavailable: then nobody may write, for
        whoever keeps answers on this host would not hear of it."""
        store_id = self._known or await self._read_id(deadline)
        return store_id, self.of(store_id)

    def of(self, store_id: str) -> Slots:
        """The words of the store with this id, of the file that is at the path now. Raises StoreUnavailable."""
        with self._lock:
            opened = self._opened
            slots = opened[1].renewed() if opened and opened[0] == store_id else Slots.open(store_id, self._folder)
            self._opened, self._known = (store_id, slots), store_id
            return slots

    def forget(self) -> None:
        """Another database may have come to the URL: the next write asks for its id. The words stay mapped."""
        self._known = None
