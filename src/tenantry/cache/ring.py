"""Ring: every entry has a seat, and a hand goes round: CLOCK (second chance)."""

from __future__ import annotations

from tenantry.cache.entry import Entry

CHANCES = 8
"""How many used entries an insert may pass over before it evicts one all the same."""

ROW = 4_096
"""How many seats a row has. A list of a million is moved as a whole when it grows."""

NOBODY = -1


class Ring:
    """At most ``capacity`` seats, in rows. No call looks at more than a few of them.

    In an empty seat stands the number of the one that was left before it, so the list of free seats takes no room.
    """

    __slots__ = ("_capacity", "_count", "_free", "_hand", "_made", "_rows")

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._rows: list[list[Entry | int]] = []
        self._made = 0
        self._count = 0
        self._free = NOBODY
        self._hand = 0

    def __len__(self) -> int:
        return self._count

    def under_hand(self) -> Entry | None:
        """Moves the hand on by one seat, and gives who sits there."""
        if not self._made:
            return None
        self._hand = (self._hand + 1) % self._made
        entry = self._rows[self._hand // ROW][self._hand % ROW]
        return None if isinstance(entry, int) else entry

    def full(self) -> bool:
        return self._count >= self._capacity

    def take(self) -> int:
        """A free seat, to be sat on next. The ring must not be full."""
        seat = self._free
        if seat == NOBODY:
            seat = self._made
            if seat % ROW == 0:
                self._rows.append([])
            self._rows[-1].append(NOBODY)
            self._made += 1
        return seat

    def sit(self, entry: Entry) -> None:
        row, place = self._rows[entry.seat // ROW], entry.seat % ROW
        before = row[place]
        if isinstance(before, int):
            self._free = before
            self._count += 1
        row[place] = entry

    def leave(self, entry: Entry) -> None:
        self._rows[entry.seat // ROW][entry.seat % ROW] = self._free
        self._free = entry.seat
        self._count -= 1
