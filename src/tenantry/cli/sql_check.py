from __future__ import annotations

import json
import re
import sys
from collections.abc import AsyncIterator, Collection, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

import click

from tenantry.cli.check_schema import NOT_LOOKED_FOR, find_schema
from tenantry.cli.options import choose_environment, with_store
from tenantry.cli.output import print_note, printable
from tenantry.datasources import is_within, read_query_text
from tenantry.errors import TemplateError
from tenantry.groups import Environment, PropertySchema, UserGroup, read_schema
from tenantry.ports import Store
from tenantry.sql import Query
from tenantry.sql.checks import (
    Coverage,
    Finding,
    PropertyTypes,
    Severity,
    compares_loosely,
    coverage_findings,
    template_error,
    wanted_properties,
)
from tenantry.sql.inspect import lint
from tenantry.tokens import mask_within

_INCLUDES: Final = re.compile(r"\{\{\s*>")
_COLLATIONS: Final = (
    "mysql, mariadb: the collation of a column may take texts for equal that differ in capitals, accents or spaces at "
    "the end, so that acme sees the rows of ACME and of acmé; give the tenant's column a binary collation"
)
PAGE: Final = 500
"""Groups per read."""


@dataclass(frozen=True, slots=True)
class Report:
    """Findings with their files, and the numbers of templates and groups checked.

    ``groups`` is None without a store, ``tenant_column`` without a schema that names one. ``compares_loosely``: a
    collation may treat different values of groups as equal.
    """

    findings: tuple[tuple[str, Finding], ...]
    templates: int
    groups: int | None
    tenant_column: str | None
    compares_loosely: bool = False

    @property
    def errors(self) -> int:
        """The number of findings that fail the check."""
        return self.count(Severity.ERROR)

    def count(self, severity: Severity) -> int:
        return sum(finding.severity is severity for _, finding in self.findings)


class Check:
    """Call ``gather`` and ``use_schema``, if wanted, then ``run``."""

    def __init__(
        self,
        paths: Iterable[str],
        dialect: str,
        *,
        optional: Collection[str],
        given: Collection[str],
        paramstyle: str | None,
        queries: Path | None,
    ) -> None:
        self._paths = [*paths]
        self._queries = queries
        self._given = given
        self._paramstyle = paramstyle
        self._templates: dict[str, Query] = {}
        self._unreadable: list[tuple[str, Finding]] = []
        self._order: dict[str, int] = {}
        self._folders: dict[Path, dict[str, Query]] = {}
        for found in _files(self._paths, queries):
            self._order[found.name] = len(self._order)
            try:
                self._templates[found.name] = self._read(found, dialect, optional)
            except TemplateError as error:
                self._unreadable.append((found.name, template_error(error)))
        self._schema: PropertySchema | None = None
        self._types: PropertyTypes | None = None
        self._sessions: tuple[tuple[str, Finding], ...] = ()
        self._environment: str | None = None

    def _read(self, found: _Found, dialect: str, optional: Collection[str]) -> Query:
        """The query of a file, which may include files of its folder. Raises TemplateError."""
        name, file = found.name, found.file
        text = sys.stdin.read() if file is None else read_query_text(file)
        fragments = self._fragments(found.folder) if _INCLUDES.search(text) else {}
        query = Query(text, name, file=name, dialect=dialect, optional=optional, fragments=fragments, trusted=found.own)
        query.check()
        return query

    def _fragments(self, root: Path) -> dict[str, Query]:
        """The readable queries of a folder by name; the others have findings."""
        if root not in self._folders:
            found = self._folders[root] = {}
            for file in _query_files(root):
                with suppress(TemplateError):
                    name = file.relative_to(root).with_suffix("").as_posix()
                    found[name] = Query(read_query_text(file), name, file=str(file), fragments=found, trusted=True)
        return self._folders[root]

    def gather(self, *, database: str | None, environment: str | None) -> None:
        """Read the store's groups and data sources. Raises StoreUnavailable, UnknownEnvironment, InvalidSource."""
        from tenantry.datasources.checks import SessionCheck  # imports SQLAlchemy, which only --groups needs

        types = self._types = PropertyTypes(wanted_properties(self._templates.values()))

        @with_store
        async def read(store: Store) -> None:
            target = await choose_environment(store, environment)
            self._environment = target.name
            sessions = SessionCheck(await store.sources.list(target))
            async for group in groups_of(store, target):
                types.add(group.provided_id, group.properties)
                sessions.add(group)
            self._sessions = tuple(sessions.findings())

        read(database=database)
        if not len(types):
            print_note("this environment has no groups, so properties are not checked")

    def use_schema(self, path: str | None, environment: str | None) -> None:
        """Read the schema from a file, or the environment's from the first given folder that has one. Raises
        InvalidPropertySchema; UsageError if an environment that is not in the store has none."""
        if path is not None:
            self._schema = read_schema(path)
            return
        given = [Path(each) for each in self._paths if each != "-"]
        folders = [each if each.is_dir() else each.parent for each in given]
        folders += [self._queries] if self._queries is not None else []
        self._schema = find_schema(folders, stored=self._environment, asked_for=environment)

    def run(self) -> Report:
        """All findings, ordered by file and position."""
        types = self._types
        counted = None if types is None else len(types)
        known = types.paths if types is not None and counted else None
        coverage = Coverage(types) if types is not None and counted else None
        found: list[tuple[str, Finding]] = [*self._unreadable]
        for name, template in self._templates.items():
            findings = lint(
                template, paramstyle=self._paramstyle, properties=known, given=self._given, schema=self._schema
            )
            covered = coverage_findings(template, coverage, given=self._given) if coverage is not None else ()
            found += [(finding.file or name, finding) for finding in (*findings, *covered)]
        found += self._sessions
        order, last = self._order, len(self._order)  # fragments may be in other folders, data sources in none
        found.sort(key=lambda each: (order.get(each[0], last), each[1].line, each[1].column))
        column = None if self._schema is None else self._schema.tenant_column
        loosely = any(map(compares_loosely, self._templates.values()))
        return Report(tuple(dict.fromkeys(found)), len(self._order), counted, column, loosely)


class _Found(NamedTuple):
    """``file`` is None for standard input. Only the program's ``own`` templates may declare properties optional in
    their header."""

    name: str
    file: Path | None
    folder: Path
    own: bool


async def groups_of(store: Store, target: Environment) -> AsyncIterator[UserGroup]:
    page = await store.groups.list(target, limit=PAGE)
    while page:
        for group in page:
            yield group
        page = await store.groups.list(target, after=page[-1].team_id, limit=PAGE)


def _files(paths: Iterable[str], queries: Path | None) -> Iterator[_Found]:
    """Folders, and files in the folder ``queries``, are the program's own. Raises UsageError for a file not named .sql:
    in another language, mistakes would go unnoticed."""
    for path in paths:
        given = Path(path)
        if path == "-":
            yield _Found(path, None, queries or Path(), own=False)
        elif given.is_dir():
            yield from (_Found(str(file), file, queries or given, own=True) for file in _query_files(given))
        elif given.suffix.lower() != ".sql":
            raise click.UsageError(
                f"{path} is not named .sql; for SQL under another name give - and send the SQL to stdin"
            )
        else:
            own = queries is not None and is_within(given, queries)
            yield _Found(path, given, queries or given.parent, own=own)


def _query_files(folder: Path) -> Iterator[Path]:
    """The files below a folder, without hidden ones."""
    for file in sorted(folder.rglob("*.sql")):
        if file.is_file() and not any(part.startswith(".") for part in file.relative_to(folder).parts):
            yield file


def print_report(report: Report, style: str) -> None:
    """Findings on stdout, as text or one JSON object; totals on stderr."""
    if report.compares_loosely:
        print_note(_COLLATIONS)
    if style == "json":
        about = {"templates": report.templates, "groups": report.groups, "tenant_column": report.tenant_column}
        print_document(about, report.findings)
        return
    print_findings(report.findings)
    counts = count_by_severity(report.findings)
    over = "" if report.groups is None else f" and {report.groups} group{'s' * (report.groups != 1)}"
    summary = f"{report.templates} template{'s' * (report.templates != 1)}{over}: {counts or 'nothing found'}"
    print_note(
        summary if report.tenant_column is not None else f"{summary}; {NOT_LOOKED_FOR} (--schema or --environment)"
    )


def print_document(about: dict[str, Any], findings: Iterable[tuple[str, Finding]]) -> None:
    document = {**about, "findings": [{"file": name, **finding.as_dict()} for name, finding in findings]}
    click.echo(mask_within(json.dumps(document, ensure_ascii=False, indent=2)))


def print_findings(findings: Iterable[tuple[str, Finding]]) -> None:
    for name, finding in findings:
        where = f"{name}:{finding.line}:{finding.column}"
        click.echo(_plain(f"{where}: {finding.severity} {finding.code}: {finding.message}"))
        if finding.fix:
            click.echo(_plain(f"    fix: {finding.fix}"))


def count_by_severity(findings: Collection[tuple[str, Finding]]) -> str:
    """``2 errors, 1 note``; empty without findings."""
    counts = {each: sum(finding.severity is each for _, finding in findings) for each in Severity}
    return ", ".join(f"{count} {each.value}{'s' * (count != 1)}" for each, count in counts.items() if count)


def _plain(text: str) -> str:
    return printable(mask_within(text))
