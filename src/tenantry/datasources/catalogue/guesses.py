"""Guesses the declaration of guarded tables from names of columns and from foreign keys, without I/O."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from tenantry.datasources.catalogue.model import Catalogue, CatalogueTable, ForeignKey

_TENANT: Final = re.compile(
    r"(?:tenant|customer|client|account|organi[sz]ation|org|company|workspace|team|merchant|shop|user_?group)"
    r"(_?(?:id|uuid|key|code|number|no|ref))?"
)
_ID: Final = re.compile(r".+_id|.+_uuid")


class Guess(NamedTuple):
    entry: str | Mapping[str, str]
    """The table's entry in the declaration."""
    reason: str


def guess_tables(catalogue: Catalogue) -> dict[str, Guess]:
    # The order: the tables with the tenant's column, the table to which that column refers, and the tables that refer
    # to a guessed table.
    tables = [table for table in catalogue.tables if table.is_declarable]
    column = tenant_column(tables)
    if column is None:
        return {}
    having = {table.name: own for table in tables if (own := _named(table.columns, column)) is not None}
    reason = f"{len(having)} of {len(tables)} tables have this column"
    guesses = {name: Guess(own, reason) for name, own in having.items()}
    for key in catalogue.foreign_keys:
        if key.parent not in guesses and having.get(key.table) == key.column:
            guesses[key.parent] = Guess(key.parent_column, f"{key.table}.{key.column} refers to it")
    for table in tables:
        if table.name not in guesses and table.name.lower() in _parents(column) and "id" in table.columns:
            guesses[table.name] = Guess("id", f"{column} seems to refer to it")
    _add_children(guesses, catalogue.foreign_keys)
    return guesses


def _parents(column: str) -> tuple[str, str]:
    """Return, for example, customer and customers for customer_id."""
    stem = column.removesuffix("_id")
    return stem, f"{stem}s"


def tenant_column(tables: Iterable[CatalogueTable]) -> str | None:
    """Return, in lower case, the column that most likely holds the tenant."""
    # It has a name such as `tenant_id`; otherwise it is an id column that at least two tables have. Of several such
    # columns, it is the one that most tables have. A name without the suffix (`account`, not `account_id`) counts only
    # if at least two tables have it, or if there is only one table.
    tables = list(tables)
    counts = Counter(name for table in tables for name in {column.lower().strip('"') for column in table.columns})
    found = ((name, count, _TENANT.fullmatch(name)) for name, count in counts.items())
    named = {name: count for name, count, match in found if match and (match[1] or count > 1 or len(tables) == 1)}
    shared = {name: count for name, count in counts.items() if count > 1 and _ID.fullmatch(name)}
    likely = named or shared
    return min(likely, key=lambda name: (-likely[name], name)) if likely else None


def _named(columns: Iterable[str], lower: str) -> str | None:
    return next((column for column in columns if column.lower().strip('"') == lower), None)


def _add_children(guesses: dict[str, Guess], keys: Iterable[ForeignKey]) -> None:
    while True:
        found: dict[str, Guess] = {}
        for key in keys:
            if key.table not in guesses and key.parent in guesses and key.table != key.parent:
                entry = {key.column: f"{key.parent}.{key.parent_column}"}
                found.setdefault(key.table, Guess(entry, f"its foreign key refers to {key.parent}"))
        if not found:
            return
        guesses.update(found)
