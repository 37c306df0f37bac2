"""``tenantry sql``: what a template becomes for a group, and what a review of templates looks at."""

from __future__ import annotations

import json
import sys
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
from tenantry.sql import DIALECTS, PARAMSTYLES, BoundSQL, SQLTemplate

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
    variables = extend(issued.group.variables, "params", _params(params))
    bound = template.bind(variables, paramstyle=paramstyle)
    if as_json:
        click.echo(json.dumps(_as_dict(bound), ensure_ascii=False, indent=2, default=str))
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

    Those are marked not_a_filter or declared optional, and stand in [[ ]] with a params.*: look at each whether it
    restricts rows. It ends with 1 if a template does not compile. No store is asked and nothing is run.
    """
    wrong = False
    for file in files:
        try:
            found = SQLTemplate(_text(file), dialect, optional=optional).droppable
        except TemplateError as error:
            wrong = True
            place = "" if error.location else "1:1: "  # it says its own, unless it is of the whole text
            click.echo(f"{file.name}:{place}{error.message}", err=True)
            continue
        for variable in found:
            why = "not_a_filter" if variable.not_a_filter else "optional"
            click.echo(f"{file.name}:{variable.line}:{variable.column}: {variable.path} ({why})")
    if wrong:
        sys.exit(FAILED)


def _text(file: TextIO) -> str:
    """What a file holds. Raises TemplateError with the place of the first byte that is no UTF-8."""
    try:
        return file.read()
    except UnicodeDecodeError as error:
        before = error.object[: error.start].decode()
        at = Location(before.count("\n") + 1, len(before) - before.rfind("\n"))
        raise TemplateError(f"{at}: this is no UTF-8; save the file as UTF-8", location=at) from None


def _params(values: tuple[str, ...]) -> dict[str, str | list[str]]:
    """As a query string gives them: text, and a list where a name comes more than once."""
    given: dict[str, list[str]] = {}
    for text in values:
        for name, value in parse_pairs((text,), "--param").items():
            given.setdefault(name, []).append(value)
    return {name: values[0] if len(values) == 1 else values for name, values in given.items()}


def _as_dict(bound: BoundSQL) -> dict[str, object]:
    params = bound.params if isinstance(bound.params, dict) else list(bound.params or ())
    return {"sql": bound.sql, "params": params, "paramstyle": bound.paramstyle, "dialect": bound.dialect}
