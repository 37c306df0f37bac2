from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self


@dataclass(frozen=True, slots=True)
class CatalogueTable:
    name: str
    """The table's name as a declaration spells it. The name includes the schema only where the engine needs it."""
    columns: tuple[str, ...]
    is_view: bool = False
    is_declarable: bool = True
    """Whether a declaration can contain this name."""


@dataclass(frozen=True, slots=True)
class ForeignKey:
    table: str
    column: str
    parent: str
    parent_column: str


@dataclass(frozen=True, slots=True)
class Catalogue:
    tables: tuple[CatalogueTable, ...]
    foreign_keys: tuple[ForeignKey, ...] = ()

    @property
    def names(self) -> frozenset[str]:
        """The names of tables, without schemas, and of columns."""
        return frozenset({name for each in self.tables for name in (each.name.rpartition(".")[2], *each.columns)})

    @classmethod
    def of(cls, tables: Iterable[CatalogueTable], foreign_keys: Iterable[ForeignKey]) -> Self:
        """Return a catalogue sorted by table name."""
        return cls(
            tuple(sorted(tables, key=lambda table: table.name)),
            tuple(sorted(foreign_keys, key=lambda key: key.table)),
        )
