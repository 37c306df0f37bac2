from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

from tenantry.datasources.declared_tables import TABLES_FILE, find_tables
from tenantry.errors import TemplateError
from tenantry.groups import PropertySchema, RegisteredSource
from tenantry.sql import SQLTemplate
from tenantry.sql.checks import (
    Coverage,
    Finding,
    Located,
    Severity,
    coverage_findings,
    reads_every_customer,
    reads_tables,
)
from tenantry.sql.inspect import lint

if TYPE_CHECKING:
    from tenantry.sql.guarding import GuardedTables


def read_declaration(file: Path) -> GuardedTables:
    """Read a declaration of guarded tables. Raises TemplateError for a malformed file, and OSError for an unreadable
    one."""
    state = file.stat()
    return _read_file(file, state.st_mtime_ns, state.st_size)


@lru_cache(maxsize=64)
def _read_file(file: Path, *_state: int) -> GuardedTables:
    from tenantry.sql.guarding import read_tables_file  # slow to import

    return read_tables_file(file)


class TablesCheck:
    """Finds the declaration of guarded tables for each query: ``file`` if given, otherwise the declaration of a data
    source (``add_source``), otherwise tables.yaml in the query's folder or its parent.

    ``find``, ``guarded`` and ``findings`` raise the errors of ``read_declaration``.
    """

    def __init__(self, file: Path | None) -> None:
        self._given = file
        self._declared: dict[GuardedTables, None] = {}
        self._undeclared: list[str] = []
        self._files: dict[Path, list[GuardedTables]] = {}
        self._without: dict[Path, list[SQLTemplate]] = {}
        self._accepted: dict[tuple[SQLTemplate, GuardedTables], bool] = {}

    def add_source(self, source: RegisteredSource) -> None:
        """Also use this source's declaration. Raises TemplateError if it is invalid."""
        if source.tables:
            from tenantry.sql.guarding import read_stored_tables  # slow to import

            self._declared[read_stored_tables(source.tables)] = None
        else:
            self._undeclared.append(source.provided_id)

    def find(self, template: SQLTemplate, folder: Path) -> GuardedTables | None:
        """Return the declaration for a query in ``folder``. If several data sources have declarations, return the first
        declaration that accepts the query. If all refuse it, return the first."""
        alternatives = self._alternatives(folder)
        return next((each for each in alternatives if self._accepts(each, template)), next(iter(alternatives), None))

    def guarded(self, template: SQLTemplate, folder: Path) -> SQLTemplate:
        tables = self.find(template, folder)
        return template.guarded(tables) if tables is not None and self._accepts(tables, template) else template

    def unguarded(self, template: SQLTemplate, folder: Path) -> Iterator[Finding]:
        """For a query without a declaration: yield a finding if it uses no value of the group. ``undeclared`` will
        report the missing declaration."""
        if not template.definition.header.no_tenant:
            self._without.setdefault(folder, []).append(template)
        found = reads_every_customer(template)
        if found is not None:
            yield found

    def findings(
        self,
        template: SQLTemplate,
        folder: Path,
        *,
        coverage: Coverage | None = None,
        properties: Collection[str] | None = None,
        schema: PropertySchema | None = None,
        given: Collection[str] = (),
        paramstyle: str | None = None,
    ) -> Iterator[Finding]:
        """Yield the findings of ``lint``, and findings about guarded tables. With ``coverage``, also about the groups'
        properties."""
        tables = self.find(template, folder)
        yield from lint(
            template, paramstyle=paramstyle, properties=properties, given=given, schema=schema, tables=tables
        )
        if coverage is not None:
            yield from coverage_findings(self.guarded(template, folder), coverage, given=given)
        if tables is None:
            yield from self.unguarded(template, folder)

    def undeclared(self) -> Iterator[Located]:
        for folder, templates in self._without.items():
            reading = [each for each in templates if _reads_tables(each)]
            if not reading:
                continue
            place = folder.parent / TABLES_FILE  # the parent of "." is "." itself
            message = (
                f"this file is missing, so no query in the folder {folder} is guarded: each must filter the rows itself"
            )
            yield str(place), _undeclared(message, _draft(reading))
        file = self._given or next(filter(None, map(find_tables, self._files)), None)
        for source in self._undeclared:
            message = "this data source declares no tables, so each query must filter the rows itself"
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


def _reads_tables(template: SQLTemplate) -> bool:
    try:
        return reads_tables(template)
    except TemplateError:
        return False


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
    return f"replace each COLUMN by the column that holds the customer's id, or by `shared`:\ntables:{lines}"
