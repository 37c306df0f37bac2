"""Where cached entries are: tables by token, and a ring in which CLOCK (second chance) finds what to evict.

Both grow in small parts: to grow one table of a million keys takes 100 ms at once, of 15,000 still one.
"""

from __future__ import annotations

from typing import Final, TypeAlias

from tenantry.cache.entries import CacheEntry

ROW_BYTE, TABLE_BYTE = 12, 13
"""Bytes of a token that belong to its handle, each a character of base64 (one of 64): they choose one of 512 tables.
Each hit looks there without a call: ``index[key[ROW_BYTE]][key[TABLE_BYTE]]``."""

_TABLES: Final = 8  # of a row, which names each of them many times, so that any character leads to one
_ASCII: Final = 128

TokenTable: TypeAlias = dict[bytes, CacheEntry]
TokenIndex: TypeAlias = tuple[tuple[TokenTable, ...], ...]


def new_index() -> TokenIndex:
    """Empty tables, by two characters of a token."""

    def new_row() -> tuple[TokenTable, ...]:
        tables: tuple[TokenTable, ...] = tuple({} for _ in range(_TABLES))
        return tables * (_ASCII // _TABLES)

    return tuple(new_row() for _ in range(_ASCII))


MAX_CHANCES: Final = 8
"""How many used entries an insert may pass over before it evicts one all the same."""

ROW_SIZE: Final = 4_096
"""How many positions a row has. A list of a million is moved as a whole when it grows."""

_NONE_FREE: Final = -1


class ClockRing:
    """At most ``capacity`` positions, in rows, and a hand that goes round. No call looks at more than a few of them.

    A free position holds the number of the one that was freed before it: the list of free ones takes no memory.
    """

    __slots__ = ("_capacity", "_count", "_first_free", "_hand", "_made", "_rows")

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._rows: list[list[CacheEntry | int]] = []
        self._made = 0
        self._count = 0
        self._first_free = _NONE_FREE
        self._hand = 0

    def __len__(self) -> int:
        return self._count

    def advance(self) -> CacheEntry | None:
        """Moves the hand on by one position, and gives the entry that is there."""
        if not self._made:
            return None
        self._hand = (self._hand + 1) % self._made
        entry = self._rows[self._hand // ROW_SIZE][self._hand % ROW_SIZE]
        return None if isinstance(entry, int) else entry

    def is_full(self) -> bool:
        """True if an entry must be removed before the next is put in."""
        return self._count >= self._capacity

    def free_position(self) -> int:
        """The position of the next entry to be put in. The ring must not be full."""
        position = self._first_free
        if position == _NONE_FREE:
            position = self._made
            if position % ROW_SIZE == 0:
                self._rows.append([])
            self._rows[-1].append(_NONE_FREE)
            self._made += 1
        return position

    def put(self, entry: CacheEntry) -> None:
        """At its position, which ``free_position`` gave."""
        row, column = self._rows[entry.position // ROW_SIZE], entry.position % ROW_SIZE
        next_free = row[column]
        if isinstance(next_free, int):
            self._first_free = next_free
            self._count += 1
        row[column] = entry

    def remove(self, entry: CacheEntry) -> None:
        """Frees its position."""
        self._rows[entry.position // ROW_SIZE][entry.position % ROW_SIZE] = self._first_free
        self._first_free = entry.position
        self._count -= 1
