from __future__ import annotations

from collections.abc import Iterator
from shlex import quote

from tenantry.datasources.catalogue.guesses import guess_tables
from tenantry.datasources.catalogue.model import Catalogue, CatalogueTable, ForeignKey
from tenantry.datasources.catalogue.yaml_writer import flow_yaml

_MOST_COLUMNS = 12


def draft_tables(catalogue: Catalogue, source: str) -> str:
    """Return a draft of ``tables.yaml``. Guesses are marked; tables without a guess are commented out."""
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
    shown, more = table.columns[:_MOST_COLUMNS], len(table.columns) - _MOST_COLUMNS
    names = ", ".join(map(flow_yaml, shown)) + (f" and {more} more" if more > 0 else "")
    kind = "a view" if table.is_view else "columns"
    if not table.is_declarable:
        return f"  # {flow_yaml(table.name)} cannot be declared: its name has a quote, a bracket or a control character"
    of_parent = "" if key is None else " " + flow_yaml({key.column: f"{key.parent}.{key.parent_column}"})
    return f"  # {flow_yaml(table.name)}:{of_parent}  # shared or guarded? {kind}: {names or 'unknown'}"


def _comment(text: str) -> str:
    return "".join(character if character.isprintable() else "?" for character in text)
