"""Index: where the entry of a token is, in many small tables.

To grow one table of a million keys takes 100 ms at once, of 15,000 still one; so two characters of the token choose one
of 512. The look is written out where it is made on each hit: ``index[key[ROW_BYTE]][key[TABLE_BYTE]]``.
"""

from __future__ import annotations

from tenantry.cache.entry import Entry

ROW_BYTE, TABLE_BYTE = 12, 13
"""Bytes of a token that belong to its handle, each a character of base64: one of 64."""

TABLES = 8
"""How many tables a row has. It names each of them many times, so that any character leads to one."""

_ASCII = 128

Table = dict[bytes, Entry]
Index = tuple[tuple[Table, ...], ...]


def new_index() -> Index:
    return tuple(_new_row() for _ in range(_ASCII))


def _new_row() -> tuple[Table, ...]:
    tables: tuple[Table, ...] = tuple({} for _ in range(TABLES))
    return tables * (_ASCII // TABLES)
