"""``tenantry sql``: what a template becomes for a group, and what a review of templates looks at."""

from __future__ import annotations

import json
import sys
from datetime import UTC, datetime
from typing import TextIO

import click

from tenantry.cli.options import (
    OptionDecorator,
    as_name,
    choose_environment,
    environment_option,
    json_option,
    parse_pairs,
    with_store,
)
from tenantry.errors import Location, TemplateError, UnknownGroup
from tenantry.groups import extend
from tenantry.ports import Store
from tenantry.sql import DIALECTS, PARAMSTYLES, SQLTemplate

FAILED = 1


def _paths(_context: click.Context, _parameter: click.Parameter, paths: tuple[str, ...]) -> tuple[str, ...]:
    try:
        SQLTemplate("", optional=paths)
    except ValueError as error:
        raise click.BadParameter(str(error)) from None
    return paths


dialect_option: OptionDecorator = click.option(
    "--dialect", type=click.Choice(sorted(DIALECTS)), default="postgresql", show_default=True
)
optional_option: OptionDecorator = click.option(
    "--optional",
    multiple=True,
    metavar="PATH",
    callback=_paths,
    help="A path that the program declares optional; more than once.",
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
    help="The user group whose properties are used.",
)
@click.option("--param", "params", multiple=True, metavar="NAME=VALUE", help="A viewer's parameter; more than once.")
@optional_option
@dialect_option
@click.option("--paramstyle", type=click.Choice(sorted(PARAMSTYLES)), help="Default: the dialect's own.")
@environment_option
@json_option
@with_store
async def render(
    store: Store,
    file: TextIO,
    provided_id: str,
    params: tuple[str, ...],
    optional: tuple[str, ...],
    dialect: str,
    paramstyle: str | None,
    environment: str | None,
    as_json: bool,
) -> None:
    """Print the SQL text and the bound parameters that FILE becomes for a group. Nothing is run."""
    template = SQLTemplate(_text(file), dialect, optional=optional)
    target = await choose_environment(store, environment)
    issued = await store.get(target, provided_id)
    if issued is None:
        raise UnknownGroup(f"there is no user group {provided_id!r} in {target.name}: see tenantry group list")
    given: dict[str, list[str]] = {}
    for text in params:
        for param, value in parse_pairs((text,), "--param").items():
            given.setdefault(param, []).append(value)
    # As a query string gives them: text, and a list where a name comes more than once.
    choices = {param: values[0] if len(values) == 1 else values for param, values in given.items()}
    variables = extend(issued.group.variables, "params", choices)
    bound = template.bind(variables, paramstyle=paramstyle, now=datetime.now(UTC))
    if as_json:
        values = bound.params if isinstance(bound.params, dict) else list(bound.params or ())
        document = {"sql": bound.sql, "params": values, "paramstyle": bound.paramstyle, "dialect": bound.dialect}
        click.echo(json.dumps(document, ensure_ascii=False, indent=2, default=str))
        return
    click.echo(bound.sql.rstrip("\n"))
    named = bound.params.items() if isinstance(bound.params, dict) else enumerate(bound.params or (), start=1)
    for name, value in named:  # as SQL comments, so that the whole output is still SQL
        click.echo(f"-- {name}: {json.dumps(value, ensure_ascii=False, default=str)}")


@sql.command("check")
@click.argument("files", type=click.File(encoding="utf-8"), nargs=-1, required=True, metavar="FILE…")
@optional_option
@dialect_option
def check(files: tuple[TextIO, ...], optional: tuple[str, ...], dialect: str) -> None:
    """Compile templates, and list each variable of the group that a viewer's choice can drop.

    Those are marked not_a_filter or declared optional, and are in [[ ]] with a params.*: check of each whether it
    restricts rows. It ends with 1 if a template does not compile. No store is asked and nothing is run.
    """
    wrong = False
    for file in files:
        try:
            found = SQLTemplate(_text(file), dialect, optional=optional).droppable
        except TemplateError as error:
            wrong = True
            position = "" if error.location else "1:1: "  # it has its own, unless it is of the whole text
            click.echo(f"{file.name}:{position}{error.message}", err=True)
            continue
        for variable in found:
            why = "not_a_filter" if variable.not_a_filter else "optional"
            click.echo(f"{file.name}:{variable.line}:{variable.column}: {variable.path} ({why})")
    if wrong:
        sys.exit(FAILED)


def _text(file: TextIO) -> str:
    """What a file holds. Raises TemplateError with the position of the first byte that is no UTF-8."""
    try:
        return file.read()
    except UnicodeDecodeError as error:
        before = error.object[: error.start].decode()
        at = Location(before.count("\n") + 1, len(before) - before.rfind("\n"))
        raise TemplateError(f"{at}: this is no UTF-8; save the file as UTF-8", location=at) from None
