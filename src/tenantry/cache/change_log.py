from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from typing import Final

from tenantry.groups import Change, Changes

BLOCK_SIZE: Final = 1_000
"""Maximum number of handles in one ChangeBlock. Old changes are dropped one block at a time."""

MAX_HINTS: Final = 10_000
"""Maximum number of hints that are kept between two polls. A hint is a change that a bus has reported before a poll."""


class ChangeBlock:
    __slots__ = ("changed", "last")

    def __init__(self) -> None:
        self.changed: dict[bytes, int] = {}  # handle -> generation of its last change in this block
        self.last: int = -1


class ChangeLog:
    """Records the generation of each group's last change, from polls and from hints (changes that a bus reports
    before a poll). Not thread-safe."""

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
        """The generation that the last poll reached. None before the first poll."""
        return None if self.store_id is None else self.generation

    def changed_since(self, handle: bytes, generation: int) -> bool | None:
        """Whether the group changed after ``generation``. None if the log does not go back that far."""
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
        """Record a change that a bus reported. Keep it until two polls have ended."""
        # The first of them may have begun before the change.
        if generation <= self.generation:
            return  # a poll has already listed this change
        if len(self._recent_hints) >= MAX_HINTS:
            self._recent_hints.pop(next(iter(self._recent_hints)))
        self._recent_hints[handle] = max(generation, self._recent_hints.pop(handle, -1))

    def continues(self, changes: Changes) -> bool:
        """Whether ``changes`` is from the same store as the log, and continues it without a gap."""
        newest = self._blocks[-1].last if self._blocks else -1
        return (
            changes.store_id == self.store_id
            and changes.generation >= max(self.generation, newest)
            and changes.since <= self.generation
        )

    def restart(self, changes: Changes) -> None:
        """Forget all changes and hints. The log then begins where ``changes`` begins."""
        self._discarded.extend(self._blocks)
        self._blocks = deque()
        self._recent_hints, self._previous_hints = {}, {}
        self.store_id = changes.store_id
        self.since = self.generation = min(changes.since, changes.generation)

    def add(self, changes: Sequence[Change]) -> Iterator[Change]:
        """Add the changes that are not in the log yet, and yield them."""
        for change in changes:
            if change.generation <= self.generation:
                continue
            if self._blocks:  # skip changes that an interrupted call has already added
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
        """Finish a poll, after ``add`` has added its changes."""
        if self._discarded:
            self._discarded.pop()  # free one block in each poll: freeing all at once would block the event loop
        self.generation = changes.generation
        self._previous_hints, self._recent_hints = self._recent_hints, {}
