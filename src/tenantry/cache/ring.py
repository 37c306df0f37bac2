"""Ring: every entry has a seat, and a hand goes round: CLOCK (second chance)."""

from __future__ import annotations

from tenantry.cache.entry import Entry

CHANCES = 8
"""How many used entries an insert may pass over before it evicts one all the same."""


class Ring:
    """At most ``capacity`` seats. No call looks at more than a few of them."""

    __slots__ = ("_capacity", "_free", "_hand", "_seats")

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._seats: list[Entry | None] = []
        self._free: list[int] = []
        self._hand = 0

    def __len__(self) -> int:
        return len(self._seats) - len(self._free)

    def under_hand(self) -> Entry | None:
        """Moves the hand on by one seat, and gives who sits there."""
        if not self._seats:
            return None
        self._hand = (self._hand + 1) % len(self._seats)
        return self._seats[self._hand]

    def full(self) -> bool:
        return not self._free and len(self._seats) >= self._capacity

    def take(self) -> int:
        """A free seat. The ring must not be full."""
        if self._free:
            return self._free.pop()
        self._seats.append(None)
        return len(self._seats) - 1

    def sit(self, entry: Entry) -> None:
        self._seats[entry.seat] = entry

    def leave(self, entry: Entry) -> None:
        self._seats[entry.seat] = None
        self._free.append(entry.seat)
