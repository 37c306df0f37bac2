from __future__ import annotations

import json
import sys
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

import click

from tenantry.cli.options import (
    choose_environment,
    groups_of,
    print_declarations_once,
    settings,
    with_store,
)
from tenantry.cli.output import print_note, printable
from tenantry.cli.tables_check import check_declarations
from tenantry.datasources import is_within, read_query_text
from tenantry.datasources.checks import TablesCheck
from tenantry.errors import TemplateError, did_you_mean
from tenantry.groups import PropertySchema, read_schema, schema_file, schema_names
from tenantry.ports import Store
from tenantry.sql import MAY_INCLUDE, Query, SQLTemplate
from tenantry.sql.checks import (
    Coverage,
    Finding,
    PropertyTypes,
    Severity,
    compares_loosely,
    template_error,
    wanted_properties,
)
from tenantry.tokens import mask_within

_COLLATIONS: Final = (
    "mysql, mariadb: the collation of a column may treat strings as equal that differ only in case, accents or "
    "trailing spaces, so that acme sees the rows of ACME and of acmé; give the tenant's column a binary collation"
)


@dataclass(frozen=True, slots=True)
class Report:
    findings: tuple[tuple[str, Finding], ...]
    templates: int
    groups: int | None
    """Number of groups in the environment; None if no store was read."""
    guarded: int
    """Number of templates that pass the checks of their guarded tables."""
    compares_loosely: bool = False
    """Whether a database's collation may treat values of different groups as equal."""

    @property
    def errors(self) -> int:
        return self.count(Severity.ERROR)

    def count(self, severity: Severity) -> int:
        return sum(finding.severity is severity for _, finding in self.findings)


class Check:
    """Checks SQL templates. Call ``use_schema``, then ``run``. To check against the groups of a store, call ``gather``
    before both."""

    def __init__(
        self,
        paths: Iterable[str],
        dialect: str,
        *,
        optional: Collection[str],
        given: Collection[str],
        paramstyle: str | None,
        queries: Path | None,
        tables: Path | None = None,
    ) -> None:
        self._tables = TablesCheck(tables)
        self._paths = [*paths]
        self._queries = queries
        self._given = given
        self._paramstyle = paramstyle
        self._templates: dict[str, Query] = {}
        self._unreadable: list[tuple[str, Finding]] = []
        self._order: dict[str, int] = {}
        self._folders: dict[Path, dict[str, Query]] = {}
        self._homes: dict[str, Path] = {}
        for found in _files(self._paths, queries):
            self._order[found.name] = len(self._order)
            self._homes[found.name] = found.folder
            try:
                self._templates[found.name] = self._read(found, dialect, optional)
            except TemplateError as error:
                self._unreadable.append((found.name, template_error(error)))
        self._schema: PropertySchema | None = None
        self._types: PropertyTypes | None = None
        self._of_sources: tuple[tuple[str, Finding], ...] = ()
        self._environment: str | None = None

    def _read(self, found: _Found, dialect: str, optional: Collection[str]) -> Query:
        name, file = found.name, found.file
        text = sys.stdin.read() if file is None else read_query_text(file)
        fragments = self._fragments(found.folder) if MAY_INCLUDE.search(text) else {}
        query = Query(text, name, file=name, dialect=dialect, optional=optional, fragments=fragments, trusted=found.own)
        query.check()
        return query

    def _fragments(self, root: Path) -> dict[str, Query]:
        if root not in self._folders:
            found = self._folders[root] = {}
            for file in _query_files(root):
                with suppress(TemplateError):
                    name = file.relative_to(root).with_suffix("").as_posix()
                    found[name] = Query(read_query_text(file), name, file=str(file), fragments=found, trusted=True)
        return self._folders[root]

    def gather(self, *, database: str | None, environment: str | None) -> None:
        from tenantry.datasources.checks import SessionCheck  # imports SQLAlchemy, which only --groups needs

        print_declarations_once()

        @with_store
        async def read(store: Store) -> None:
            target = await choose_environment(store, environment)
            self._environment = target.name
            sources = await store.sources.list(target)
            for source in sources:
                self._tables.add_source(source)
            types = self._types = PropertyTypes(wanted_properties(map(self._guarded, self._templates)))
            sessions = SessionCheck(sources)
            async for group in groups_of(store, target):
                types.add(group.provided_id, group.properties)
                sessions.add(group)
            self._of_sources = (*sessions.findings(), *await check_declarations(sources))

        read(database=database)
        if not self._types:
            print_note("this environment has no groups, so properties are not checked")

    def use_schema(self, path: str | None, environment: str | None) -> None:
        """Choose the schema in the file ``path``. If ``path`` is None, choose the environment's schema from the first
        checked folder that has it."""
        if path is not None:
            self._schema = read_schema(path)
            return
        given = [Path(each) for each in self._paths if each != "-"]
        folders = [each if each.is_dir() else each.parent for each in given]
        folders += [self._queries] if self._queries is not None else []
        self._schema = find_schema(folders, stored=self._environment, asked_for=environment)

    def run(self) -> Report:
        types = self._types
        counted = None if types is None else len(types)
        known = types.paths if types is not None and counted else None
        coverage = Coverage(types) if types is not None and counted else None
        found: list[tuple[str, Finding]] = [*self._unreadable]
        guarded = 0
        for name, template in self._templates.items():
            guarded += self._guarded(name) is not template
            findings = self._tables.findings(
                template,
                self._homes[name],
                coverage=coverage,
                properties=known,
                schema=self._schema,
                given=self._given,
                paramstyle=self._paramstyle,
            )
            found += [(finding.file or name, finding) for finding in findings]
        found += [*self._of_sources, *self._tables.undeclared()]
        order, last = self._order, len(self._order)  # a finding may be in an included file, or in a data source
        found.sort(key=lambda each: (order.get(each[0], last), each[1].line, each[1].column))
        loosely = any(map(compares_loosely, self._templates.values()))
        return Report(tuple(dict.fromkeys(found)), len(self._order), counted, guarded, loosely)

    def _guarded(self, name: str) -> SQLTemplate:
        return self._tables.guarded(self._templates[name], self._homes[name])


def find_schema(folders: Sequence[Path], *, stored: str | None, asked_for: str | None) -> PropertySchema | None:
    """Return the environment's schema from the first of ``folders`` that has it, or None. The environment is ``stored``
    (its name in the store), else ``asked_for`` (--environment), else the one in the settings. If no folder has the
    schema, and the name may be misspelt because it is not from the store, raises UsageError. If the schema is invalid,
    raises InvalidPropertySchema."""
    name = stored or asked_for or _configured_environment()
    if name is None:
        return None
    chosen = next((file for folder in folders if (file := schema_file(folder, name)).is_file()), None)
    if chosen is not None:
        return read_schema(chosen)
    if stored is None:
        _refuse_without_schema(name, folders, asked_for=asked_for is not None)
    return None


def _configured_environment() -> str | None:
    try:
        return settings().environment
    except ModuleNotFoundError:
        return None


def _refuse_without_schema(name: str, folders: Iterable[Path], *, asked_for: bool) -> None:
    names = list(dict.fromkeys(each for folder in folders for each in schema_names(folder)))
    if names or asked_for:
        there = f"there are schemas for {', '.join(names)}" if names else "no environment has a schema"
        near = did_you_mean(name, names)
        raise click.UsageError(
            f"the environment {name!r} has no schema; {there}. {near}Name another environment, give --schema FILE, or "
            "create a schema: tenantry environment learn-schema"
        )


class _Found(NamedTuple):
    name: str
    file: Path | None
    """None for stdin."""
    folder: Path
    """The template may include files of this folder."""
    own: bool
    """Whether the file is in a checked folder or the folder of --queries. Only then may its header declare properties
    optional."""


def _files(paths: Iterable[str], queries: Path | None) -> Iterator[_Found]:
    for path in paths:
        given = Path(path)
        if path == "-":
            yield _Found(path, None, queries or Path(), own=False)
        elif given.is_dir():
            yield from (_Found(str(file), file, queries or given, own=True) for file in _query_files(given))
        elif given.suffix.lower() != ".sql":
            raise click.UsageError(
                f"the name of {path} does not end in .sql: rename the file, or give - and send the SQL to stdin"
            )
        else:
            own = queries is not None and is_within(given, queries)
            yield _Found(path, given, queries or given.parent, own=own)


def _query_files(folder: Path) -> Iterator[Path]:
    for file in sorted(folder.rglob("*.sql")):
        if file.is_file() and not any(part.startswith(".") for part in file.relative_to(folder).parts):
            yield file


def print_report(report: Report, style: str) -> None:
    if report.compares_loosely:
        print_note(_COLLATIONS)
    if style == "json":
        about = {"templates": report.templates, "groups": report.groups, "guarded": report.guarded}
        print_document(about, report.findings)
        return
    print_findings(report.findings)
    counts = count_by_severity(report.findings)
    over = "" if report.groups is None else f" and {report.groups} group{'s' * (report.groups != 1)}"
    guarded = f", {report.guarded} guarded" if report.guarded else ""
    print_note(
        f"{report.templates} template{'s' * (report.templates != 1)}{guarded}{over}: {counts or 'nothing found'}"
    )


def print_document(about: dict[str, Any], findings: Iterable[tuple[str, Finding]]) -> None:
    document = {**about, "findings": [{"file": name, **finding.as_dict()} for name, finding in findings]}
    click.echo(mask_within(json.dumps(document, ensure_ascii=False, indent=2)))


def print_findings(findings: Iterable[tuple[str, Finding]], *, err: bool = False) -> None:
    for name, finding in findings:
        where = f"{name}:{finding.line}:{finding.column}"
        click.echo(_plain(f"{where}: {finding.severity} {finding.code}: {finding.message}"), err=err)
        fix = f"fix: {finding.fix}" if finding.fix else ""
        for line in (*finding.excerpt.splitlines(), *fix.splitlines()):
            click.echo(_plain(f"    {line}"), err=err)


def count_by_severity(findings: Collection[tuple[str, Finding]]) -> str:
    counts = {each: sum(finding.severity is each for _, finding in findings) for each in Severity}
    return ", ".join(f"{count} {each.value}{'s' * (count != 1)}" for each, count in counts.items() if count)


def _plain(text: str) -> str:
    return printable(mask_within(text))
