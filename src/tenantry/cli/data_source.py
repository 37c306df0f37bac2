from __future__ import annotations

import json
import secrets
import sys
from pathlib import Path
from typing import Any, Final

import click

from tenantry.cli.options import (
    OptionDecorator,
    as_name,
    as_new_name,
    author,
    choose_environment,
    environment_option,
    json_option,
    keys_option,
    note_unsealed,
    print_declarations_once,
    settings,
    tables_option,
    with_store,
)
from tenantry.cli.output import print_note, print_record, print_rows, print_value
from tenantry.cli.source_tables import check_source, check_tables, find_source
from tenantry.errors import InvalidKeys, InvalidSource, TemplateError
from tenantry.groups import Environment, RegisteredSource, check_session_variables
from tenantry.ports import Store

_LIST_SECONDS: Final = 3.0
"""Seconds that `list` waits for each data source."""

_no_check: OptionDecorator = click.option("--no-check", is_flag=True, help="Do not test the connections.")


@click.group("data-source")
def data_source() -> None:
    """Register, change, test, list and remove data sources."""
    print_declarations_once()


@data_source.command("create")
@click.argument("provided_id", type=as_new_name, metavar="NAME")
@environment_option
@click.option("--url", required=True, help="SQLAlchemy URL, or duckdb:///file. '-' reads it from stdin.")
@click.option("--trusted", is_flag=True, help="Accept a dialect in which Tenantry cannot enforce read-only mode.")
@click.option(
    "--session",
    multiple=True,
    metavar="NAME=TAG",
    help="Set a session variable before each query: app.tenant='{{ user_group.id }}'. PostgreSQL only; repeatable.",
)
@tables_option
@click.option(
    "--no-check",
    is_flag=True,
    help="Do not test the connection. A SQLite or PostgreSQL source that holds Tenantry's own tables is still refused.",
)
@keys_option
@json_option
@with_store
async def create(
    store: Store,
    provided_id: str,
    environment: str | None,
    url: str,
    trusted: bool,
    session: tuple[str, ...],
    tables: Path | None,
    no_check: bool,
    keys: str | None,
    as_json: bool,
) -> None:
    """Test the connection, then register a data source under a NAME of your choice and print its id (ds_…). The
    password in the URL is encrypted with the key file before it is stored.

    Instead of the password, the URL may contain a reference: env:NAME or file:/path. The program that runs the queries
    then reads the password from its environment or from that file.
    """
    target = await choose_environment(store, environment)
    from tenantry.datasources import registration_notes, resolve_url  # imports SQLAlchemy, which `--help` does not need

    if provided_id.startswith("ds_"):
        raise InvalidSource("NAME must not start with ds_, which is the prefix of Tenantry's ids")
    if url == "-":
        url = sys.stdin.read().strip()
    notes = registration_notes(url, trusted=trusted)
    pairs = [(name.strip(), tag) for name, _, tag in (each.partition("=") for each in session)]
    variables = check_session_variables(url, pairs)  # takes pairs, to refuse a repeated name
    declared = {} if tables is None else _read_tables(tables)
    url, source_id = resolve_url(url), f"ds_{secrets.token_hex(8)}"
    stored = _encrypted(url, keys, target, source_id)
    if not no_check:
        text = json.dumps(declared) if declared else ""
        source = RegisteredSource(provided_id, provided_id, target, url, trusted, variables, text)
        await check_source(source, "Nothing was registered", file=str(tables))
    made = await store.sources.create(
        target,
        source_id=source_id,
        provided_id=provided_id,
        url=stored,
        trusted=trusted,
        session=dict(variables),
        tables=declared,
        author=author(),
    )
    print_value(made.id, _row(made), field="id", as_json=as_json)
    for note in notes:
        print_note(f"Warning: {note}")
    print_note(f"A group's mapping may now name it: {provided_id!r} or {made.id!r}.")
    await note_unsealed(store, keys)


def _encrypted(url: str, keys: str | None, environment: Environment, source_id: str) -> str:
    """Encrypt a plain password in the URL. Raises InvalidKeys if there is one and the key file cannot be read."""
    from tenantry.datasources import encrypt_url, secret_state
    from tenantry.tokens.keys import SigningKeys

    if secret_state(url) != "plain":
        return url
    try:
        ring = SigningKeys.from_file(settings(keys=keys).keys)
    except InvalidKeys as error:
        raise InvalidKeys(
            f"encrypting the password in the URL needs the signing-key file, but {error.message}. Or write a "
            "reference instead of the password: env:NAME or file:/path"
        ) from None
    return encrypt_url(url, ring, environment, source_id)


def _read_tables(path: Path) -> dict[str, Any]:
    from tenantry.cli.tables_check import read_declaration  # imports tenantry.sql, which other commands do not need

    tables = read_declaration(path)
    if not tables.entries:
        raise TemplateError(f"{path}: tables: there is no table\n  fix: write a line for each: orders: customer_id")
    return tables.as_json()


@data_source.command("update")
@click.argument("reference", type=as_name, metavar="NAME_OR_ID")
@environment_option
@tables_option
@click.option("--no-tables", is_flag=True, help="Remove the declaration: queries then run as their authors wrote them.")
@click.option("--no-check", is_flag=True, help="Do not test the declaration on the data source.")
@keys_option
@json_option
@with_store
async def update(
    store: Store,
    reference: str,
    environment: str | None,
    tables: Path | None,
    no_tables: bool,
    no_check: bool,
    keys: str | None,
    as_json: bool,
) -> None:
    """Replace or remove the guarded tables of a data source and print its id. Running queries are stopped."""
    if (tables is not None) == no_tables:
        raise click.UsageError("give --tables FILE or --no-tables")
    target = await choose_environment(store, environment)
    declared = {} if tables is None else _read_tables(tables)
    made: RegisteredSource | None = None
    while made is None:  # another writer changed the source: read it again
        source = await find_source(store, target, reference)
        if declared and not no_check:
            await check_tables(source, declared, keys, str(tables))
        made, before = await store.sources.update(source, tables=declared, author=author()), source.declaration
    print_value(made.id, _row(made), field="id", as_json=as_json)
    if before and not declared:
        print_note(f"Warning: queries of {made.provided_id} now read all rows that their authors name.")
    elif "guard" in before and "guard" not in declared:
        print_note("Warning: the list before said guard: required. This one does not, so it can be removed.")
    await note_unsealed(store)


@data_source.command("show")
@click.argument("reference", type=as_name, metavar="NAME_OR_ID")
@environment_option
@json_option
@with_store
async def show(store: Store, reference: str, environment: str | None, as_json: bool) -> None:
    """Show a data source and its declaration of guarded tables. The password is masked."""
    from tenantry.datasources.catalogue import tables_yaml

    source = await find_source(store, await choose_environment(store, environment), reference)
    declaration = source.declaration
    if as_json:
        print_record({**_row(source), "declaration": declaration or None}, as_json=True)
        return
    print_record(_row(source), as_json=False)
    if declaration:
        click.echo(tables_yaml(declaration), nl=False)


@data_source.command("tables")
@click.argument("reference", type=as_name, metavar="NAME_OR_ID")
@environment_option
@keys_option
@with_store
async def tables(store: Store, reference: str, environment: str | None, keys: str | None) -> None:
    """Read the names of a data source's tables and print a draft of tables.yaml. Guesses in it are marked as such."""
    from tenantry.datasources.catalogue import draft_tables, read_catalogue

    source = await find_source(store, await choose_environment(store, environment), reference)
    catalogue = await read_catalogue(source, keys=settings(keys=keys).keys)
    click.echo(draft_tables(catalogue, source.provided_id), nl=False)


@data_source.command("test")
@click.argument("reference", type=as_name, metavar="NAME_OR_ID")
@environment_option
@keys_option
@json_option
@with_store
async def test(store: Store, reference: str, environment: str | None, keys: str | None, as_json: bool) -> None:
    """Connect to a data source as a query would, and print how long that took. Exits with 1 if the connection fails."""
    from tenantry.datasources import check_connection

    source = await find_source(store, await choose_environment(store, environment), reference)

    milliseconds = round(1000 * await check_connection(source, keys=settings(keys=keys).keys))
    print_record({**_row(source), "health": "ok", "milliseconds": milliseconds}, as_json=as_json)


@data_source.command("list")
@_no_check
@environment_option
@keys_option
@json_option
@with_store
async def list_(store: Store, no_check: bool, environment: str | None, keys: str | None, as_json: bool) -> None:
    """List the data sources of an environment, and whether each responds within 3 seconds. Passwords are masked.

    The column secrets shows how the store keeps the password: encrypted, as a reference, or plain.
    """
    target = await choose_environment(store, environment)
    sources = await store.sources.list(target)
    rows = [_row(each) for each in sources]
    if not no_check:
        from tenantry.datasources import check_connections

        found = await check_connections(sources, keys=settings(keys=keys).keys, seconds=_LIST_SECONDS)
        for row, error in zip(rows, found, strict=True):
            row["health"] = "ok" if error is None else error.message
    print_rows(rows, as_json=as_json)
    if any(row["secrets"] == "plain" for row in rows):
        print_note("Warning: passwords are in the store in plain text: `tenantry keys rotate` encrypts them.")


@data_source.command("delete")
@click.argument("reference", type=as_name, metavar="NAME_OR_ID")
@environment_option
@json_option
@with_store
async def delete(store: Store, reference: str, environment: str | None, as_json: bool) -> None:
    """Remove a data source. Queries then fail for the groups that are mapped to it; no other source takes its place."""
    target = await choose_environment(store, environment)
    gone = await store.sources.delete(target, reference, author=author())
    print_value(gone.id, _row(gone), field="id", as_json=as_json)
    await note_unsealed(store)


def _row(each: RegisteredSource) -> dict[str, Any]:
    from tenantry.datasources import display_url, secret_state

    return {
        "id": each.id,
        "name": each.provided_id,
        "environment": each.environment.name,
        "url": display_url(each.url),
        "secrets": secret_state(each.url),
        "trusted": each.trusted,
        "session": dict(each.session),
        "guarded": bool(each.tables),
    }
