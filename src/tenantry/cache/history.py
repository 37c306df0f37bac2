"""History: which groups were written to, in an unbroken list of the store's last changes. Pure."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence

from tenantry.groups import Change, Changes

BLOCK = 1_000
"""How many handles a block holds. One is dropped at a time, and no table ever grows large: neither takes long."""

NOTES = 10_000
"""How many handles are remembered that a bus told of and no poll has confirmed yet."""


class Block:
    """Changes that follow one another: the last generation of each handle in it, and of them all."""

    __slots__ = ("last", "touched")

    def __init__(self) -> None:
        self.touched: dict[bytes, int] = {}
        self.last = -1


class History:
    """The changes in (``since``, ``generation``] of one store, and what buses say beyond it.

    Both are -1, and ``store_id`` is None, until the first list was learned. At most ``blocks`` times BLOCK handles are
    kept; the oldest go first, and ``since`` moves on.
    """

    __slots__ = ("_blocks", "_gone", "_heard", "_limit", "_told", "generation", "since", "store_id")

    def __init__(self, blocks: int = 100) -> None:
        self.store_id: str | None = None
        self.generation = -1
        self.since = -1
        self._limit = blocks
        self._blocks: deque[Block] = deque()
        self._gone: deque[Block] = deque()
        self._heard: dict[bytes, int] = {}
        self._told: dict[bytes, int] = {}

    @property
    def known(self) -> int | None:
        """The generation up to which all changes are known; None before the first list."""
        return None if self.store_id is None else self.generation

    def touched(self, handle: bytes, generation: int) -> bool | None:
        """True if the group was written to after ``generation``, False if not; None if this cannot be told.

        False is about what was committed before the last question to the store: later changes are the lease's affair.
        """
        if max(self._heard.get(handle, -1), self._told.get(handle, -1)) > generation:
            return True
        for block in reversed(self._blocks):
            if block.last <= generation:
                break
            last = block.touched.get(handle)
            if last is not None:
                return last > generation
        if self.store_id is None or generation < self.since:
            return None
        return False

    def note(self, handle: bytes, generation: int) -> None:
        """What a bus said. It is believed until two polls later, by when the list itself has it if it was true."""
        if generation <= self.generation:
            return  # the list knows better
        if len(self._heard) >= NOTES:
            self._heard.pop(next(iter(self._heard)))
        self._heard[handle] = max(generation, self._heard.pop(handle, -1))

    def follows(self, changes: Changes) -> bool:
        """True if this list goes on where ours ends: of the same store, not trimmed between, not gone back, not even
        behind a list that was not learned to its end."""
        newest = self._blocks[-1].last if self._blocks else -1
        return (
            changes.store_id == self.store_id
            and changes.generation >= max(self.generation, newest)
            and changes.since <= self.generation
        )

    def begin(self, changes: Changes) -> None:
        """Forgets everything: this list is the first of another life of the store. Its changes are yet to be added."""
        self._gone.extend(self._blocks)
        self._blocks = deque()
        self._heard, self._told = {}, {}
        self.store_id = changes.store_id
        self.since = self.generation = min(changes.since, changes.generation)

    def add(self, changes: Sequence[Change]) -> Iterator[Change]:
        """Takes changes that follow, oldest first; gives those that are news. What comes before the last of them is
        known from then on: a list too long to be learned in one go is not begun again from its first change."""
        for change in changes:
            if change.generation <= self.generation or self._has(change):
                continue
            self.generation = max(self.generation, change.generation - 1)
            block = self._last()
            block.touched[change.handle] = block.last = change.generation
            yield change

    def end(self, changes: Changes) -> None:
        """All changes of the list were added."""
        if self._gone:
            self._gone.pop()  # one at a time: this takes no longer than learning does
        self.generation = changes.generation
        self._told, self._heard = self._heard, {}

    def _has(self, change: Change) -> bool:
        """True for a change that was added before: its list was not learned to the end."""
        return bool(self._blocks) and (
            change.generation < self._blocks[-1].last
            or self._blocks[-1].touched.get(change.handle, -1) >= change.generation
        )

    def _last(self) -> Block:
        if not self._blocks or len(self._blocks[-1].touched) >= BLOCK:
            self._blocks.append(Block())
            self._blocks[-1].last = self.generation
            if len(self._blocks) > self._limit:
                self.since = self._blocks.popleft().last
        return self._blocks[-1]
