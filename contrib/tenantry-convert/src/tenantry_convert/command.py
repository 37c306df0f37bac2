"""``tenantry sql convert``: a query of Metabase or Grafana, written in our syntax."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import click

from tenantry.sql import DIALECTS

if TYPE_CHECKING:
    from tenantry.sql.convert import ConvertedQuery

FAILED = 1
TOOLS = ("grafana", "metabase")
"""Those of ``tenantry.sql.convert``, which is imported by who converts."""


def _columns(_context: click.Context, _parameter: click.Parameter, given: tuple[str, ...]) -> dict[str, str]:
    pairs = {}
    for text in given:
        name, equals, column = (part.strip() for part in text.partition("="))
        if not name or not equals or not column:
            raise click.BadParameter(f"{text!r} is not NAME=COLUMN")
        pairs[name] = column
    return pairs


@click.command("convert")
@click.argument("file", type=click.File(encoding="utf-8"))
@click.option("--from", "tool", type=click.Choice(TOOLS), required=True, help="The tool that FILE comes from.")
@click.option(
    "--dialect",
    type=click.Choice(sorted(DIALECTS)),
    help="Of the SQL. Default: what the file names, else postgresql.",
)
@click.option(
    "--column",
    "columns",
    multiple=True,
    metavar="NAME=COLUMN",
    callback=_columns,
    help="The column of a field filter of Metabase; more than once.",
)
@click.option(
    "--to",
    "folder",
    type=click.Path(file_okay=False, path_type=Path),
    help="Write one .sql file for each query into this folder; never overwrites. Without it the query is printed.",
)
def convert_command(file: TextIO, tool: str, dialect: str | None, columns: dict[str, str], folder: Path | None) -> None:
    """Write FILE, SQL or JSON of Metabase or Grafana, in the syntax of a .sql file.

    What is not converted stays as it was; it is listed on stderr and in comments, each with its line and the reason,
    and the command then ends with 1. A query without such a rest compiles. The condition that restricts the rows to one
    customer must be added by hand. No store is asked and nothing is run.
    """
    from tenantry.sql.convert import TENANT_REMINDER, convert

    try:
        queries = convert(file.read(), tool, dialect, columns=columns, name=_name(file.name))
    except UnicodeDecodeError:
        raise click.ClickException(f"{file.name} is no UTF-8") from None
    except ValueError as error:
        raise click.ClickException(f"{file.name}: {error}") from None
    if folder is None:
        if len(queries) > 1:
            raise click.UsageError(f"{file.name} holds {len(queries)} queries: give --to FOLDER")
        click.echo(queries[0].text, nl=False)
        _list(file.name, queries[0])
    else:
        _write(folder, queries, file.name)
    click.echo(TENANT_REMINDER, err=True)
    if not all(query.whole for query in queries):
        sys.exit(FAILED)


def _name(file: str) -> str:
    """The file's name without its endings, for a query that has none of its own; standard input has none either."""
    from tenantry.sql.convert import DEFAULT_NAME

    return DEFAULT_NAME if file in {"-", "<stdin>"} else Path(file).name.partition(".")[0] or DEFAULT_NAME


def _write(folder: Path, queries: list[ConvertedQuery], source: str) -> None:
    from tenantry.sql.convert import file_name

    targets: dict[Path, ConvertedQuery] = {}
    for query in queries:
        name, number = file_name(query.name), 1
        while (target := folder / f"{name}{f'_{number}' if number > 1 else ''}.sql") in targets:
            number += 1
        targets[target] = query
    taken = [target for target in targets if target.exists()]
    if taken:
        raise click.ClickException(f"{taken[0]} is there already, and is not overwritten")
    folder.mkdir(parents=True, exist_ok=True)
    for target, query in targets.items():
        target.write_text(query.text, "utf-8")
        click.echo(str(target))
        _list(f"{source} ({query.name})", query)


def _list(name: str, query: ConvertedQuery) -> None:
    for item in query.items:
        click.echo(f"{name}:{item}", err=True)
