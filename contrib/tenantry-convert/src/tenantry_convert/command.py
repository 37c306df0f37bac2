from __future__ import annotations

import sys
from pathlib import Path
from typing import TextIO

import click

from tenantry.sql import DIALECTS
from tenantry_convert import DEFAULT_NAME, TENANT_REMINDER, TOOLS, ConvertedQuery, convert, file_name
from tenantry_convert.pairs import read_pairs

FAILED = 1


@click.command("convert")
@click.argument("file", type=click.File(encoding="utf-8"))
@click.option("--from", "tool", type=click.Choice(TOOLS), required=True, help="The tool that FILE comes from.")
@click.option(
    "--dialect",
    type=click.Choice(sorted(DIALECTS)),
    help="The dialect of the SQL. Default: the one that FILE names, else postgresql.",
)
@click.option(
    "--column",
    "columns",
    multiple=True,
    metavar="NAME=COLUMN",
    callback=read_pairs,
    help="The column of Metabase's field filter NAME; repeatable.",
)
@click.option(
    "--to",
    "folder",
    type=click.Path(file_okay=False, path_type=Path),
    help="Write each query to a new .sql file in this folder. Default: print the query.",
)
def convert_command(file: TextIO, tool: str, dialect: str | None, columns: dict[str, str], folder: Path | None) -> None:
    """Convert queries of Metabase or Grafana to SQL templates. FILE is SQL or JSON.

    A construct that cannot be converted stays as it was. It is listed on stderr and in comments, with its line and the
    reason, and the command exits with 1. If all constructs of a query are converted, the query compiles. You must add
    the condition that restricts the rows to one customer. The command runs no query and needs no store.
    """
    try:
        queries = convert(file.read(), tool, dialect, columns=columns, name=_name(file.name))
    except UnicodeDecodeError:
        raise click.ClickException(f"{file.name} is not UTF-8") from None
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
    return DEFAULT_NAME if file in {"-", "<stdin>"} else Path(file).name.partition(".")[0] or DEFAULT_NAME


def _write(folder: Path, queries: list[ConvertedQuery], source: str) -> None:
    targets: dict[Path, ConvertedQuery] = {}
    for query in queries:
        name, number = file_name(query.name), 1
        while (target := folder / f"{name}{f'_{number}' if number > 1 else ''}.sql") in targets:
            number += 1
        targets[target] = query
    taken = [target for target in targets if target.exists()]
    if taken:
        raise click.ClickException(f"{taken[0]} exists already: delete it, or choose another folder")
    folder.mkdir(parents=True, exist_ok=True)
    for target, query in targets.items():
        target.write_text(query.text, "utf-8")
        click.echo(str(target))
        _list(f"{source} ({query.name})", query)


def _list(name: str, query: ConvertedQuery) -> None:
    for item in query.items:
        click.echo(f"{name}:{item}", err=True)
