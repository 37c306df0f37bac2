from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import Final

from tenantry.datasources.catalogue import Catalogue
from tenantry.editor.requests import TextBody
from tenantry.errors import Edit, TemplateError, misspelt
from tenantry.sql import DIALECTS, Source
from tenantry.sql.checks import Finding, Severity, template_error
from tenantry.sql.guarding import GuardedTables, TableEntry, read_tables_node
from tenantry.sql.header import YamlNode, read_yaml

_PROPERTY: Final = re.compile(r"(?<=user_group\.properties\.)[\w.]+")
_COLUMN: Final = re.compile(r"\w+")


def tables_findings(
    body: TextBody, catalogue: Catalogue | None, dialect: str | None, properties: Collection[str] | None
) -> list[Finding]:
    """Return the findings for a declaration of tables, as the author typed it. Tables and columns are looked up in
    ``catalogue``, that of the chosen group's data source, and properties in ``properties``, those of all groups. None
    skips the check."""
    try:
        source = Source(body.text, body.path)
        root = read_yaml(source, 0, len(body.text))
        tables = read_tables_node(root, source)
    except TemplateError as error:
        return [template_error(error)]
    found: list[Finding] = []
    if catalogue is not None and dialect is not None:
        found += _unknown_names(root, source, tables, catalogue, dialect)
    if properties is not None:
        found += _unknown_properties(source, properties)
    return found


def _unknown_names(
    root: YamlNode, source: Source, tables: GuardedTables, catalogue: Catalogue, dialect: str
) -> Iterator[Finding]:
    columns_of: dict[str, tuple[str, ...]] = {}
    for table in catalogue.tables:
        entry = tables.entry(table.name, DIALECTS[dialect])
        if entry is not None:
            columns_of[entry.name] = table.columns
    declared = root.value["tables"] if isinstance(root.value, dict) else root
    for entry in tables.entries:
        offset, known = declared.keys.get(entry.name, 0), columns_of.get(entry.name)
        if known is None:
            near = misspelt(entry.name, [each.name for each in catalogue.tables])
            yield _finding(source, offset, f"the data source has no table {entry.name}", near)
            continue
        columns = {each.lower() for each in known}
        for column in _columns(entry):
            if column.lower() not in columns:
                near = misspelt(column, (*known, "shared"))
                at = source.text.find(column, offset + len(entry.name))
                yield _finding(source, max(offset, at), f"the table {entry.name} has no column {column}", near)


def _columns(entry: TableEntry) -> tuple[str, ...]:
    """Return the columns that the rule names; none for a condition, because the data source checks its SQL."""
    if not isinstance(entry.rule, str):
        return tuple(column for column, _ in entry.rule if _COLUMN.fullmatch(column))
    return () if entry.is_shared or not _COLUMN.fullmatch(entry.rule) else (entry.rule,)


def _unknown_properties(source: Source, properties: Collection[str]) -> Iterator[Finding]:
    for found in _PROPERTY.finditer(source.text):
        if found[0] not in properties:
            message = f"no group of this environment has the property {found[0]}"
            yield _finding(source, found.start(), message, misspelt(found[0], properties))


def _finding(source: Source, offset: int, message: str, near: Edit | None) -> Finding:
    at = source.location(offset)
    fix = f"did you mean {near.new}?" if near is not None else "correct the name"
    return Finding("unknown-name", Severity.WARNING, at.line, at.column, message, fix, file=at.file, edit=near)
