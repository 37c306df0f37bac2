from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TextIO

import click

from tenantry.cli.options import (
    OptionDecorator,
    as_name,
    choose_environment,
    database_option,
    environment_option,
    get_group,
    json_option,
    parse_pairs,
    setting_option,
    tables_option,
    with_store,
)
from tenantry.cli.output import FAILED
from tenantry.cli.tables_check import declaration_of
from tenantry.datasources import QueryFolder, find_tables, is_within
from tenantry.datasources.checks import read_declaration
from tenantry.errors import Location, TemplateError, did_you_mean
from tenantry.groups import extend
from tenantry.ports import Store
from tenantry.sql import DIALECTS, PARAMSTYLES, VARIABLE_PATH, Query, is_viewer_input
from tenantry.sql.parameters import RANGE_ENDS


def _paths(_context: click.Context, _parameter: click.Parameter, paths: tuple[str, ...]) -> tuple[str, ...]:
    for path in paths:
        if not VARIABLE_PATH.fullmatch(path):
            raise click.BadParameter(
                f"{path!r} is not the path of a variable: write names joined by dots, such as user_group.name"
            )
    return paths


dialect_option: OptionDecorator = click.option(
    "--dialect",
    type=click.Choice(sorted(DIALECTS)),
    default="postgresql",
    show_default=True,
    help="Dialect of files that do not declare a dialect.",
)
optional_option: OptionDecorator = click.option(
    "--optional",
    multiple=True,
    metavar="PATH",
    callback=_paths,
    help="A variable that your program declares optional, such as params.city; repeatable.",
)
paramstyle_option: OptionDecorator = click.option(
    "--paramstyle", type=click.Choice(sorted(PARAMSTYLES)), help="Style of the placeholders; default: the dialect's."
)


queries_option: OptionDecorator = setting_option(
    "--queries",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    metavar="DIR",
    help="Your program's folder of saved queries. A template includes one of these queries with {{> name }}.",
)


@click.group()
def sql() -> None:
    """Work with SQL templates."""


@sql.command("render")
@click.argument("file", type=click.File(encoding="utf-8"))
@click.option(
    "--group",
    "provided_id",
    type=as_name,
    required=True,
    metavar="ID",
    help="The template gets the properties of this user group.",
)
@click.option(
    "--param", "params", multiple=True, metavar="NAME=VALUE", help="A parameter that a viewer sets; repeatable."
)
@optional_option
@queries_option
@tables_option
@click.option(
    "--dialect",
    type=click.Choice(sorted(DIALECTS)),
    help="SQL dialect; default: the dialect that FILE declares, else postgresql.",
)
@paramstyle_option
@environment_option
@json_option
@with_store
async def render(
    store: Store,
    file: TextIO,
    provided_id: str,
    params: tuple[str, ...],
    optional: tuple[str, ...],
    queries: Path | None,
    tables: Path | None,
    dialect: str | None,
    paramstyle: str | None,
    environment: str | None,
    as_json: bool,
) -> None:
    """Print the SQL that the template FILE produces for a group. Comments after the SQL show the values of its
    parameters, and which rows of each guarded table it reads. No query is run."""
    template = _query(file, optional, queries)
    dialect = dialect or template.dialect or "postgresql"
    target = await choose_environment(store, environment)
    issued = await get_group(store, target, provided_id)
    found = tables or find_tables(queries or Path(file.name).parent)
    declared = await declaration_of(issued.group, store) if found is None else read_declaration(found)
    if declared is not None:
        template = template.guarded(declared)
    template.check(dialect)
    given: dict[str, list[str]] = {}
    for text in params:
        for param, value in parse_pairs((text,), "--param").items():
            given.setdefault(param, []).append(value)
    _check_names(template, given)
    # As in a query string, each value is a string, and a repeated name has a list of values.
    choices = {param: values[0] if len(values) == 1 else values for param, values in given.items()}
    variables = extend(issued.group.variables, "params", choices)
    bound = template.bind(variables, paramstyle, dialect=dialect, now=datetime.now(UTC))
    if as_json:
        values = bound.params if isinstance(bound.params, dict) else list(bound.params or ())
        document = {"sql": bound.sql, "params": values, "paramstyle": bound.paramstyle, "dialect": bound.dialect}
        if declared is not None:
            document["guards"] = [asdict(each) for each in template.guards(dialect)]
        click.echo(json.dumps(document, ensure_ascii=False, indent=2, default=str))
        return
    click.echo(bound.sql.rstrip("\n"))
    named = bound.params.items() if isinstance(bound.params, dict) else enumerate(bound.params or (), start=1)
    for name, value in named:  # print the values as comments, so that the whole output is SQL
        click.echo(f"-- {name}: {json.dumps(value, ensure_ascii=False, default=str)}")
    for guard in template.guards(dialect):
        rows = f"only rows where {' '.join(guard.condition.split())}" if guard.condition else "shared, all rows"
        click.echo(f"-- table {guard.table} (line {guard.line}, column {guard.column}): {rows}")


@sql.command("check")
@click.argument("paths", type=click.Path(exists=True, allow_dash=True), nargs=-1, required=True, metavar="FILE|DIR…")
@click.option("--groups", "with_groups", is_flag=True, help="Check against the properties of the groups in the store.")
@click.option("--schema", type=click.Path(exists=True, dir_okay=False), help="JSON Schema of the properties.")
@click.option(
    "--given",
    multiple=True,
    metavar="PATH",
    callback=_paths,
    help="A variable whose value your program sets itself; repeatable.",
)
@tables_option
@optional_option
@queries_option
@dialect_option
@paramstyle_option
@click.option(
    "--format",
    "style",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="Format of the findings.",
)
@environment_option
@database_option
def check(
    paths: tuple[str, ...],
    with_groups: bool,
    schema: str | None,
    given: tuple[str, ...],
    tables: Path | None,
    optional: tuple[str, ...],
    queries: Path | None,
    dialect: str,
    paramstyle: str | None,
    style: str,
    environment: str | None,
    database: str | None,
) -> None:
    """Find mistakes in SQL templates; docs/sql-checks.md lists the checks. No query is run.

    The name of each FILE must end in .sql. If FILE is -, the template is read from stdin. A file's header may declare
    properties optional only if the file is in a DIR or in the --queries folder. Without --schema, the command uses the
    first schemas/ENVIRONMENT.json that it finds in a DIR, next to a FILE, or in the --queries folder.

    Guarded tables are read from --tables. Without --tables, they are read from the data sources of the environment
    (with --groups, if any of them declares tables), otherwise from tables.yaml in the --queries folder (default: DIR,
    or the folder of FILE) or its parent. The command exits with 1 if a finding has the severity error.
    """
    from tenantry.cli.sql_check import Check, print_report

    checked = Check(
        paths, dialect, optional=optional, given=given, paramstyle=paramstyle, queries=queries, tables=tables
    )
    if with_groups:
        checked.gather(database=database, environment=environment)
    checked.use_schema(schema, environment)
    report = checked.run()
    print_report(report, style)
    if report.errors:
        sys.exit(FAILED)


def _check_names(template: Query, given: Iterable[str]) -> None:
    declared = template.parameters
    names = list(declared) or sorted(
        {each.path.split(".")[1] for each in template.variables if is_viewer_input(each.path)}
    )
    ends = [f"{name}.{end}" for name, each in declared.items() if each.is_range for end in RANGE_ENDS]
    for name in given:
        if name not in names and name not in ends:
            there = f"there are: {', '.join(names)}" if names else "it has none"
            problem = f"the query has no parameter {name}; {there}. {did_you_mean(name, names)}"
            raise click.BadParameter(problem.strip(), param_hint="--param")


def _query(file: TextIO, optional: tuple[str, ...], queries: Path | None) -> Query:
    folder, path = QueryFolder(queries) if queries is not None else None, Path(file.name)
    own = queries is not None and is_within(path, queries)
    if own and queries is not None and folder is not None:
        name = path.resolve().relative_to(queries.resolve()).with_suffix("").as_posix()
        if name in folder and not optional:
            return folder[name]
    return Query(_text(file), path.stem, file=file.name, fragments=folder, optional=optional, trusted=own)


def _text(file: TextIO) -> str:
    try:
        return file.read()
    except UnicodeDecodeError as error:
        before = error.object[: error.start].decode()
        at = Location(before.count("\n") + 1, len(before) - before.rfind("\n"))
        problem = "this is not UTF-8; save the file as UTF-8"
        raise TemplateError(f"{at}: {problem}", location=at, problem=problem) from None
