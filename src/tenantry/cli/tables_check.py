from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Final, TypeAlias

from tenantry.errors import TemplateError
from tenantry.groups import RegisteredSource
from tenantry.sql import SQLTemplate
from tenantry.sql.checks import Finding, Severity, reads_every_customer, reads_tables

if TYPE_CHECKING:
    from tenantry.sql.guarding import GuardedTables

TABLES_FILE: Final = "tables.yaml"
Located: TypeAlias = "tuple[str, Finding]"


class TablesCheck:
    """Knows the guarded tables that queries are checked with: those in ``file``; else those that data sources of the
    store declare (``add_source``); else those in tables.yaml, in the folder of the queries or next to it.

    ``dashboards``: a folder where tables.yaml would be a dashboard. All methods raise TemplateError for a file that
    cannot be used.
    """

    def __init__(self, file: Path | None, *, dashboards: Path | None = None) -> None:
        self._given = _read(file) if file is not None else None
        self._dashboards = dashboards
        self._declared: dict[GuardedTables, None] = {}
        self._undeclared: list[str] = []
        self._files: dict[Path, GuardedTables | None] = {}
        self._without: dict[Path, list[SQLTemplate]] = {}

    def add_source(self, source: RegisteredSource) -> None:
        """Raises InvalidSource for a declaration that cannot be used."""
        from tenantry.datasources.declared_tables import declared_tables  # imports SQLAlchemy

        tables = declared_tables(source)
        if tables is None:
            self._undeclared.append(source.provided_id)
        else:
            self._declared[tables] = None

    def find(self, template: SQLTemplate, folder: Path) -> GuardedTables | None:
        """Return the tables that guard a query of ``folder``; of several data sources, those of the first that accepts
        the query. None without a declaration."""
        alternatives = self._alternatives(folder)
        return next((each for each in alternatives if _accepts(each, template)), next(iter(alternatives), None))

    def guarded(self, template: SQLTemplate, folder: Path) -> SQLTemplate:
        """Return the query with its guards; unchanged if there are none, or if they refuse it."""
        tables = self.find(template, folder)
        return template.guarded(tables) if tables is not None and _accepts(tables, template) else template

    def unguarded(self, template: SQLTemplate, folder: Path) -> Iterator[Finding]:
        """Yield the finding of a query without a declaration. Remembers the query for ``undeclared``. Raises
        TemplateError for one that does not compile."""
        if not template.definition.header.no_tenant and reads_tables(template):
            self._without.setdefault(folder, []).append(template)
        found = reads_every_customer(template)
        if found is not None:
            yield found

    def undeclared(self) -> Iterator[Located]:
        """Yield a finding for each folder and each data source without a declaration."""
        for folder, templates in self._without.items():
            place = folder / TABLES_FILE if not folder.name else self._beside(folder) / TABLES_FILE
            message = f"this file is missing: no query of {folder} is guarded, so each must filter by itself"
            yield str(place), _undeclared(message, _draft(templates))
        found = (path for folder in self._files if (path := self._path(folder)) is not None)
        for source in self._undeclared:
            message = "this data source declares no tables, so each of its queries must filter by itself"
            file = next(found, None)
            draft = "" if file else f"tenantry data-source tables {quote(source)} > {TABLES_FILE}; correct it; "
            fix = f"{draft}tenantry data-source update {quote(source)} --tables {quote(str(file or TABLES_FILE))}"
            yield f"data source {source}", _undeclared(message, fix)

    def _alternatives(self, folder: Path) -> Iterable[GuardedTables]:
        if self._given is not None:
            return [self._given]
        if self._declared:
            return self._declared
        if folder not in self._files:
            path = self._path(folder)
            self._files[folder] = _read(path) if path is not None else None
        found = self._files[folder]
        return [found] if found is not None else []

    def _path(self, folder: Path) -> Path | None:
        places = (folder / TABLES_FILE, self._beside(folder) / TABLES_FILE)
        return next((each for each in places if each.is_file()), None)

    def _beside(self, folder: Path) -> Path:
        beside = folder.parent if folder.name else folder / ".."
        return folder if beside == self._dashboards else beside


def _read(file: Path) -> GuardedTables:
    from tenantry.sql.guarding import read_tables_file  # slow to import

    return read_tables_file(file)


def _accepts(tables: GuardedTables, template: SQLTemplate) -> bool:
    try:
        template.guarded(tables).check()
    except TemplateError:
        return False
    return True


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
