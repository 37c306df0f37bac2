"""ChangeLog: recent changes of a store."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from typing import Final

from tenantry.groups import Change, Changes

BLOCK_SIZE: Final = 1_000
"""Handles per block."""

MAX_HINTS: Final = 10_000
"""The most handles reported by buses but not yet confirmed by a poll."""


class ChangeBlock:
    """Consecutive changes."""

    __slots__ = ("changed", "last")

    def __init__(self) -> None:
        self.changed: dict[bytes, int] = {}  # handle -> its last generation
        self.last: int = -1


class ChangeLog:
    """All changes in (``since``, ``generation``], plus hints from buses."""

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
        """The last known generation; None before the first list."""
        return None if self.store_id is None else self.generation

    def changed_since(self, handle: bytes, generation: int) -> bool | None:
        """Whether the group changed after ``generation``; None if unknown."""
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
        """Record a bus message for two polls."""
        if generation <= self.generation:
            return  # the list has it
        if len(self._recent_hints) >= MAX_HINTS:
            self._recent_hints.pop(next(iter(self._recent_hints)))
        self._recent_hints[handle] = max(generation, self._recent_hints.pop(handle, -1))

    def continues(self, changes: Changes) -> bool:
        """Whether this list follows without a gap."""
        newest = self._blocks[-1].last if self._blocks else -1
        return (
            changes.store_id == self.store_id
            and changes.generation >= max(self.generation, newest)
            and changes.since <= self.generation
        )

    def restart(self, changes: Changes) -> None:
        """Start over from this list."""
        self._discarded.extend(self._blocks)
        self._blocks = deque()
        self._recent_hints, self._previous_hints = {}, {}
        self.store_id = changes.store_id
        self.since = self.generation = min(changes.since, changes.generation)

    def add(self, changes: Sequence[Change]) -> Iterator[Change]:
        """Add changes, oldest first, and yield new ones."""
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
        """Mark the list as added."""
        if self._discarded:
            self._discarded.pop()  # one per poll, to bound the time
        self.generation = changes.generation
        self._previous_hints, self._recent_hints = self._recent_hints, {}
