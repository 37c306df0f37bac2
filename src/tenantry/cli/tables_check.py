from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, TypeAlias

from tenantry.cli.options import TABLES_FILE, find_tables, settings
from tenantry.cli.output import print_note
from tenantry.errors import TemplateError
from tenantry.groups import RegisteredSource, UserGroup, thaw
from tenantry.ports import Store
from tenantry.sql import SQLTemplate
from tenantry.sql.checks import Finding, Severity, reads_every_customer, reads_tables

if TYPE_CHECKING:
    from tenantry.sql.guarding import GuardedTables

Located: TypeAlias = "tuple[str, Finding]"


def read_declaration(file: Path) -> GuardedTables:
    """Raises TemplateError."""
    from tenantry.sql.guarding import read_tables_file  # slow to import

    return read_tables_file(file)


async def declaration_of(group: UserGroup, store: Store) -> GuardedTables | None:
    """Return the declaration that all data sources in the group's mapping have, and print a note that names them. If
    the declarations differ, print how to choose one and return None."""
    references = dict.fromkeys((thaw(group.mapping) or {}).values())
    found = [await store.sources.get(group.environment, each) for each in references if isinstance(each, str)]
    sources = [each for each in found if each is not None]
    texts = {each.tables for each in sources}
    names = ", ".join(each.provided_id for each in sources)
    if len(texts) > 1:
        print_note(f"not guarded here: the data sources {names} declare different tables; choose some: --tables FILE")
        return None
    text = "".join(texts)
    if not text:
        return None
    print_note(f"guarded by the tables that data source {names} declares")
    return _read(text)


def _read(text: str) -> GuardedTables:
    from tenantry.sql.guarding import read_stored_tables  # slow to import

    return read_stored_tables(text)


async def check_declarations(sources: Iterable[RegisteredSource]) -> list[Located]:
    """Return a finding for each declaration that does not match its source. Print a note for each source that does not
    answer."""
    from tenantry.datasources import check_connections
    from tenantry.datasources.checks import wrong_tables

    found: list[Located] = []
    declared = [each for each in sources if each.tables]
    errors = await check_connections(declared, keys=settings().keys) if declared else []
    for source, error in zip(declared, errors, strict=True):
        finding = wrong_tables(error)
        if finding is not None:
            found.append((f"data source {source.provided_id}", finding))
        elif error is not None:
            print_note(f"the guarded tables of data source {source.provided_id} were not tested: {error.message}")
    return found


class TablesCheck:
    """Finds the guarded tables for each query: those in ``file``, otherwise those that data sources of the store
    declare (``add_source``), otherwise those in tables.yaml, in the folder of the query or next to that folder.

    ``find`` and ``guarded`` raise TemplateError for an unusable file."""

    def __init__(self, file: Path | None) -> None:
        self._given = file
        self._declared: dict[GuardedTables, None] = {}
        self._undeclared: list[str] = []
        self._files: dict[Path, list[GuardedTables]] = {}
        self._without: dict[Path, list[SQLTemplate]] = {}
        self._accepted: dict[tuple[SQLTemplate, GuardedTables], bool] = {}

    def add_source(self, source: RegisteredSource) -> None:
        """Use the source's declaration too. Raises TemplateError."""
        if source.tables:
            self._declared[_read(source.tables)] = None
        else:
            self._undeclared.append(source.provided_id)

    def find(self, template: SQLTemplate, folder: Path) -> GuardedTables | None:
        """Return the declaration for a query in ``folder``. If several data sources have declarations, return the first
        one that accepts the query, otherwise the first of all."""
        alternatives = self._alternatives(folder)
        return next((each for each in alternatives if self._accepts(each, template)), next(iter(alternatives), None))

    def guarded(self, template: SQLTemplate, folder: Path) -> SQLTemplate:
        tables = self.find(template, folder)
        return template.guarded(tables) if tables is not None and self._accepts(tables, template) else template

    def unguarded(self, template: SQLTemplate, folder: Path) -> Iterator[Finding]:
        """Check a query that no declaration guards, and record it for ``undeclared``. Raises TemplateError if the query
        does not compile."""
        if not template.definition.header.no_tenant and reads_tables(template):
            self._without.setdefault(folder, []).append(template)
        found = reads_every_customer(template)
        if found is not None:
            yield found

    def undeclared(self) -> Iterator[Located]:
        for folder, templates in self._without.items():
            place = folder.parent / TABLES_FILE  # of ".", this is the folder itself
            message = f"this file is missing: no query of {folder} is guarded, so each must filter by itself"
            yield str(place), _undeclared(message, _draft(templates))
        file = self._given or next(filter(None, map(find_tables, self._files)), None)
        for source in self._undeclared:
            message = "this data source declares no tables, so each of its queries must filter by itself"
            draft = "" if file else f"tenantry data-source tables {quote(source)} > {TABLES_FILE}; correct it; "
            fix = f"{draft}tenantry data-source update {quote(source)} --tables {quote(str(file or TABLES_FILE))}"
            yield f"data source {source}", _undeclared(message, fix)

    def _alternatives(self, folder: Path) -> Iterable[GuardedTables]:
        if self._declared and self._given is None:
            return self._declared
        if folder not in self._files:
            path = self._given or find_tables(folder)
            self._files[folder] = [read_declaration(path)] if path is not None else []
        return self._files[folder]

    def _accepts(self, tables: GuardedTables, template: SQLTemplate) -> bool:
        key = (template, tables)
        if key not in self._accepted:
            try:
                template.guarded(tables).check()
                self._accepted[key] = True
            except TemplateError:
                self._accepted[key] = False
        return self._accepted[key]


def _undeclared(message: str, fix: str) -> Finding:
    return Finding("undeclared-tables", Severity.ERROR, 1, 1, message, fix)


def _draft(templates: Iterable[SQLTemplate]) -> str:
    from tenantry.sql.guarding import INSTALL, named_tables

    if find_spec("sqlglot") is None:
        return f"{INSTALL}; this check then lists the tables that the file must declare"
    names: set[str] = set()
    for template in templates:
        with suppress(TemplateError):
            names.update(named_tables(template))
    lines = "".join(f"\n  {name}: COLUMN" for name in sorted(names))
    return f"write the column that holds the customer's id for each COLUMN, or `shared`:\ntables:{lines}"
