"""ChangeLog: the groups in an unbroken list of the store's latest changes. Pure."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from typing import Final

from tenantry.groups import Change, Changes

BLOCK_SIZE: Final = 1_000
"""Handles per block."""

MAX_HINTS: Final = 10_000
"""The most handles reported by buses and not confirmed by a poll."""


class ChangeBlock:
    """Consecutive changes: the last generation of each handle and of all."""

    __slots__ = ("changed", "last")

    def __init__(self) -> None:
        self.changed: dict[bytes, int] = {}
        self.last: int = -1


class ChangeLog:
    """The changes in (``since``, ``generation``] of one store, and hints of buses beyond it.

    Initially both are -1 and ``store_id`` None. At most ``blocks`` blocks are kept; dropping the oldest moves
    ``since``.
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
        """Whether the group was written to after ``generation``; None if unknown. Commits after the last poll are the
        lease's concern."""
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
        """A bus message. It counts until two polls later, when the list has it if it was true."""
        if generation <= self.generation:
            return  # the list has it
        if len(self._recent_hints) >= MAX_HINTS:
            self._recent_hints.pop(next(iter(self._recent_hints)))
        self._recent_hints[handle] = max(generation, self._recent_hints.pop(handle, -1))

    def continues(self, changes: Changes) -> bool:
        """Whether this list continues ours: same store, no gap, not behind, not even a list that was applied in
        part."""
        newest = self._blocks[-1].last if self._blocks else -1
        return (
            changes.store_id == self.store_id
            and changes.generation >= max(self.generation, newest)
            and changes.since <= self.generation
        )

    def restart(self, changes: Changes) -> None:
        """Start over with this list; its changes are added later."""
        self._discarded.extend(self._blocks)
        self._blocks = deque()
        self._recent_hints, self._previous_hints = {}, {}
        self.store_id = changes.store_id
        self.since = self.generation = min(changes.since, changes.generation)

    def add(self, changes: Sequence[Change]) -> Iterator[Change]:
        """Add consecutive changes, oldest first, and yield the new ones. A list may be applied in several polls."""
        for change in changes:
            if change.generation <= self.generation:
                continue
            if self._blocks:  # added before, from a list that was applied in part
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
            self._discarded.pop()  # one per poll, to bound the time
        self.generation = changes.generation
        self._previous_hints, self._recent_hints = self._recent_hints, {}
