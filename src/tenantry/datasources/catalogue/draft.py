from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from shlex import quote
from typing import Any, Final, NamedTuple

from tenantry.datasources.catalogue.model import Catalogue, CatalogueTable, ForeignKey

_MAX_COLUMNS = 12
_TENANT: Final = re.compile(
    r"(?:tenant|customer|client|account|organi[sz]ation|org|company|workspace|team|merchant|shop|user_?group)"
    r"(_?(?:id|uuid|key|code|number|no|ref))?"
)
_ID: Final = re.compile(r".+_id|.+_uuid")
_PLAIN: Final = re.compile(r"[A-Za-z_][\w.]*(?: [\w.]+)*", re.ASCII)
_READ_OTHERWISE: Final = frozenset({"null", "true", "false", "yes", "no", "on", "off", "y", "n"})


def draft_tables(catalogue: Catalogue, source: str) -> str:
    """Return a draft of ``tables.yaml``, guessed from column names and foreign keys. Guesses are marked; tables without
    a guess are commented out."""
    return "".join(f"{line}\n" for line in _lines(catalogue, source))


def _lines(catalogue: Catalogue, source: str) -> Iterator[str]:
    yield f"# A first list of the tables of {flow_yaml(source)}, guessed from its catalogue. Check each line: a wrong"
    yield "# column shows customers the rows of others, or none. Then save the list as tables.yaml and run:"
    yield _comment(f"#   tenantry data-source update {quote(source)} --tables tables.yaml")
    guesses, tables = guess_tables(catalogue), {table.name: table for table in catalogue.tables}
    yield "tables:" if guesses else "tables:  # nothing could be guessed"
    for name, guess in guesses.items():
        if name in tables:
            kind = " (a view)" if tables[name].is_view else ""
            yield f"  {flow_yaml(name)}: {flow_yaml(guess.entry)}  # a guess: {_comment(guess.reason)}{kind}"
    rest = [table for table in catalogue.tables if table.name not in guesses]
    if rest:
        yield "  # Queries may not read the tables below until you remove the # and write `shared` or a condition."
    for table in rest:
        yield _unknown(table, next((key for key in catalogue.foreign_keys if key.table == table.name), None))


def _unknown(table: CatalogueTable, key: ForeignKey | None) -> str:
    shown, more = table.columns[:_MAX_COLUMNS], len(table.columns) - _MAX_COLUMNS
    names = ", ".join(map(flow_yaml, shown)) + (f" and {more} more" if more > 0 else "")
    kind = "a view" if table.is_view else "columns"
    if not table.is_declarable:
        return f"  # {flow_yaml(table.name)} cannot be declared: its name has a quote, a bracket or a control character"
    of_parent = "" if key is None else " " + flow_yaml({key.column: f"{key.parent}.{key.parent_column}"})
    return f"  # {flow_yaml(table.name)}:{of_parent}  # shared or guarded? {kind}: {names or 'unknown'}"


def _comment(text: str) -> str:
    return "".join(character if character.isprintable() else "?" for character in text)


# --- guesses ---------------------------------------------------------------------------------------------------------


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
    # For example, customer and customers for customer_id.
    stem = column.removesuffix("_id")
    return stem, f"{stem}s"


def tenant_column(tables: Iterable[CatalogueTable]) -> str | None:
    """Return, in lower case, the column that most likely holds the tenant."""
    # The column has a name such as `tenant_id`; otherwise it is an id column that at least two tables have. Of several
    # such columns, the one in most tables is chosen. A name without the suffix (`account`, not `account_id`) counts
    # only if at least two tables have it, or if there is only one table.
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


# --- YAML -------------------------------------------------------------------------------------------------------------


def tables_yaml(declaration: Mapping[str, Any]) -> str:
    """Return YAML, as an author would write it, for a declaration that ``GuardedTables.as_json`` returned."""
    return "".join(f"{line}\n" for line in _yaml_lines(declaration))


def _yaml_lines(declaration: Mapping[str, Any]) -> Iterator[str]:
    # First guard, then tables, then the other keys.
    for key in sorted(declaration, key=lambda key: (key != "guard", key != "tables", key)):
        value = declaration[key]
        if isinstance(value, Mapping) and value:
            yield f"{flow_yaml(key)}:"
            yield from (f"  {flow_yaml(name)}: {flow_yaml(entry)}" for name, entry in value.items())
        else:
            yield f"{flow_yaml(key)}: {flow_yaml(value)}"


def flow_yaml(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{flow_yaml(key)}: {flow_yaml(each)}" for key, each in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(flow_yaml, value)) + "]"
    if isinstance(value, str) and _PLAIN.fullmatch(value) and value.lower() not in _READ_OTHERWISE:
        return value
    return json.dumps(value, ensure_ascii=isinstance(value, str) and not value.isprintable())
