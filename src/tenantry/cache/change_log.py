"""ChangeLog: which groups were written to, in an unbroken list of the store's last changes. Pure."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from typing import Final

from tenantry.groups import Change, Changes

BLOCK_SIZE: Final = 1_000
"""How many handles a block holds. One is dropped at a time and no table ever grows large, so neither takes long."""

MAX_HINTS: Final = 10_000
"""How many handles are remembered of which a bus sent a message and that no poll has confirmed yet."""


class ChangeBlock:
    """Changes that follow one another: the last generation of each handle in it, and of them all."""

    __slots__ = ("changed", "last")

    def __init__(self) -> None:
        self.changed: dict[bytes, int] = {}
        self.last: int = -1


class ChangeLog:
    """The changes in (``since``, ``generation``] of one store, and the hints of buses beyond it.

    Both are -1, and ``store_id`` is None, until the first list was applied. At most ``blocks`` times BLOCK_SIZE
    handles are remembered; the oldest go first, and ``since`` moves on.
    """

    __slots__ = (
        "_blocks", "_discarded", "_limit", "_previous_hints", "_recent_hints", "generation", "since", "store_id",
    )  # fmt: skip

    def __init__(self, blocks: int = 100) -> None:
        self.store_id: str | None = None
        self.generation: int = -1
        self.since: int = -1
        self._limit = blocks
        self._blocks: deque[ChangeBlock] = deque()
        self._discarded: deque[ChangeBlock] = deque()
        self._recent_hints: dict[bytes, int] = {}
        self._previous_hints: dict[bytes, int] = {}

    @property
    def known(self) -> int | None:
        """The generation up to which all changes are known; None before the first list."""
        return None if self.store_id is None else self.generation

    def changed_since(self, handle: bytes, generation: int) -> bool | None:
        """True if the group was written to after ``generation``, False if not; None if that is not known.

        False is about what was committed before the last question to the store: later changes are covered by the lease.
        """
        if max(self._recent_hints.get(handle, -1), self._previous_hints.get(handle, -1)) > generation:
            return True
        for block in reversed(self._blocks):
            if block.last <= generation:
                break
            last = block.changed.get(handle)
            if last is not None:
                return last > generation
        if self.store_id is None or generation < self.since:
            return None
        return False

    def hint(self, handle: bytes, generation: int) -> None:
        """A message of a bus. It counts until two polls later, by when the list itself has it if it was true."""
        if generation <= self.generation:
            return  # the list has it
        if len(self._recent_hints) >= MAX_HINTS:
            self._recent_hints.pop(next(iter(self._recent_hints)))
        self._recent_hints[handle] = max(generation, self._recent_hints.pop(handle, -1))

    def continues(self, changes: Changes) -> bool:
        """True if this list goes on where ours ends: of the same store, not trimmed between, not gone back, not even
        behind a list that was not applied to its end."""
        newest = self._blocks[-1].last if self._blocks else -1
        return (
            changes.store_id == self.store_id
            and changes.generation >= max(self.generation, newest)
            and changes.since <= self.generation
        )

    def restart(self, changes: Changes) -> None:
        """Forgets everything: this list is the first of another life of the store. Its changes are yet to be added."""
        self._discarded.extend(self._blocks)
        self._blocks = deque()
        self._recent_hints, self._previous_hints = {}, {}
        self.store_id = changes.store_id
        self.since = self.generation = min(changes.since, changes.generation)

    def add(self, changes: Sequence[Change]) -> Iterator[Change]:
        """Takes changes that follow, oldest first; gives those that are news. What comes before the last of them is
        known from then on: a list too long to be applied in one go is not begun again from its first change."""
        for change in changes:
            if change.generation <= self.generation:
                continue
            if self._blocks:  # a change that was added before: its list was not applied to the end
                last = self._blocks[-1]
                if change.generation < last.last or last.changed.get(change.handle, -1) >= change.generation:
                    continue
            self.generation = max(self.generation, change.generation - 1)
            if not self._blocks or len(self._blocks[-1].changed) >= BLOCK_SIZE:
                self._blocks.append(ChangeBlock())
                self._blocks[-1].last = self.generation
                if len(self._blocks) > self._limit:
                    self.since = self._blocks.popleft().last
            block = self._blocks[-1]
            block.changed[change.handle] = block.last = change.generation
            yield change

    def complete(self, changes: Changes) -> None:
        """All changes of the list were added."""
        if self._discarded:
            self._discarded.pop()  # one at a time: this takes no longer than applying does
        self.generation = changes.generation
        self._previous_hints, self._recent_hints = self._recent_hints, {}
