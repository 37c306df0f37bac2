from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, Final

import click

from tenantry.cli.data_source_changes import check_source, no_check_option, problem_by_name, source_provisioner
from tenantry.cli.options import (
    OptionDecorator,
    as_name,
    as_new_name,
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
from tenantry.errors import DataSourceError, TemplateError
from tenantry.groups import RegisteredSource, SessionVariables, SourceDraft, SourceUpdate, check_session_variables
from tenantry.ports import Store
from tenantry.provisioning import (
    describe_source,
    in_use,
)

_LIST_SECONDS: Final = 3.0
"""Seconds that `list` waits for each data source."""

_STDIN: Final = "tenantry.cli.data_source.stdin"
"""The key in ``context.meta`` for the name of the option that has read stdin."""

_no_check: OptionDecorator = click.option("--no-check", is_flag=True, help="Do not test the connections.")


def _read_secret(context: click.Context, parameter: click.Parameter, text: str | None) -> str | None:
    if text != "-" or context.resilient_parsing:  # resilient_parsing: the shell completes the command
        return text
    # Prompt in this callback, before the event loop runs: in the loop, Ctrl-C would not end a prompt.
    if sys.stdin.isatty():
        return click.prompt("URL" if parameter.name == "url" else "Password", hide_input=True, err=True).strip()
    if context.meta.setdefault(_STDIN, parameter.name) != parameter.name:
        raise click.UsageError("a pipe can hold the URL or the password, not both: write the password into the URL")
    given = sys.stdin.read().strip()
    if not given:
        raise click.BadParameter("the pipe is empty", context, parameter)
    return given


@click.group("data-source")
def data_source() -> None:
    """Register, change, test, list and remove data sources."""
    print_declarations_once()


@data_source.command("create")
@click.argument("provided_id", type=as_new_name, metavar="NAME")
@environment_option
@click.option(
    "--url",
    required=True,
    callback=_read_secret,
    help="SQLAlchemy URL, or duckdb:///file. '-' prompts for the URL, or reads it from a pipe.",
)
@click.option("--trusted", is_flag=True, help="Accept a dialect in which Tenantry cannot enforce read-only mode.")
@click.option(
    "--session",
    multiple=True,
    metavar="NAME=TAG",
    help="A session variable to set before each query, such as app.tenant='{{ user_group.id }}'. PostgreSQL "
    "only; repeatable.",
)
@tables_option
@no_check_option
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
    """Test a data source, register it under a NAME of your choice, and print its id (ds_…). Before the URL is stored,
    the password in it is encrypted with the key file.

    In place of the password, the URL may contain a reference, such as env:DB_PASSWORD or file:/run/db_password. The
    program that runs the queries then reads the password from this environment variable or file.
    """
    target = await choose_environment(store, environment)
    from tenantry.datasources import registration_notes  # imports SQLAlchemy, which `--help` does not need

    notes = registration_notes(url, trusted=trusted)
    variables = check_session_variables(url, _session_pairs(session))
    declared = {} if tables is None else _read_tables(tables)

    async def connect(source: RegisteredSource) -> None:
        await check_source(source, "Nothing was registered", file=str(tables))

    test = None if no_check else connect
    draft = SourceDraft(provided_id, url, trusted=trusted, session=variables, tables=declared)
    made = await source_provisioner(store, keys, test).create(target, draft)
    print_value(made.id, describe_source(made), field="id", as_json=as_json)
    for note in notes:
        print_note(f"Warning: {note}")
    print_note(f"A group's mapping may now name it: {provided_id!r} or {made.id!r}.")
    await note_unsealed(store)


def _session_pairs(session: tuple[str, ...]) -> SessionVariables:
    return tuple((name.strip(), tag) for name, _, tag in (each.partition("=") for each in session))


def _read_tables(path: Path) -> dict[str, Any]:
    from tenantry.datasources.checks import read_declaration  # imports tenantry.sql, which other commands do not need

    tables = read_declaration(path)
    if not tables.entries:
        raise TemplateError(
            f"{path}: `tables` lists no tables\n  fix: write a line for each table, such as `orders: customer_id`"
        )
    return tables.as_json()


@data_source.command("update")
@click.argument("reference", type=as_name, metavar="NAME_OR_ID")
@environment_option
@click.option(
    "--url",
    callback=_read_secret,
    help="Replace the URL, including its password: the old password is not kept. '-' prompts for the URL, or reads it "
    "from a pipe.",
)
@click.option(
    "--password",
    callback=_read_secret,
    help="Replace the password in the URL. '-' asks for the password, or reads it from a pipe.",
)
@click.option(
    "--rename",
    type=as_new_name,
    metavar="NEW",
    help="Give the data source a NEW name. This is refused if a group maps to the old name.",
)
@click.option(
    "--trusted/--not-trusted",
    default=None,
    help="Accept, or no longer accept, a dialect in which Tenantry cannot enforce read-only mode.",
)
@click.option(
    "--session",
    multiple=True,
    metavar="NAME=TAG",
    help="A session variable, as in `create`; repeatable. Those that you give replace all old ones.",
)
@click.option("--no-session", is_flag=True, help="Remove all session variables.")
@tables_option
@click.option(
    "--no-tables",
    is_flag=True,
    help="Remove the declaration of guarded tables: queries then run as their authors wrote them.",
)
@no_check_option
@keys_option
@json_option
@with_store
async def update(
    store: Store,
    reference: str,
    environment: str | None,
    url: str | None,
    password: str | None,
    rename: str | None,
    trusted: bool | None,
    session: tuple[str, ...],
    no_session: bool,
    tables: Path | None,
    no_tables: bool,
    no_check: bool,
    keys: str | None,
    as_json: bool,
) -> None:
    """Change a data source, and print its id. A new URL, password, session variable or declaration of tables is first
    tested, as in `create`. Every change except --rename stops the queries that are running on the data source."""
    if tables is not None and no_tables:
        raise click.UsageError("give --tables FILE or --no-tables, not both")
    if session and no_session:
        raise click.UsageError("give --session or --no-session, not both")
    if not any((url is not None, password is not None, rename, trusted is not None, session, no_session)) and not (
        tables or no_tables
    ):
        raise click.UsageError("say what to change: --url, --password, --rename, --session, --tables or another option")
    target = await choose_environment(store, environment)
    declared = {} if tables is None else _read_tables(tables)
    changes = SourceUpdate(
        url,
        None if tables is None and not no_tables else declared,
        rename,
        trusted,
        _session_pairs(session) if session or no_session else None,
    )

    async def connect(source: RegisteredSource) -> None:
        stored = "the stored declaration, with --tables"
        await check_source(source, "Nothing was changed", keys, stored if tables is None else str(tables))

    is_tested = changes.needs_test(password) and not no_check
    provisioner = source_provisioner(store, keys, connect if is_tested else None)
    made, replaced = await provisioner.update(target, reference, changes, password=password)
    before = replaced.declaration if changes.tables is not None else {}
    print_value(made.id, describe_source(made), field="id", as_json=as_json)
    if before and not declared:
        print_note(
            f"Warning: queries of {made.provided_id} may now read all rows of its tables, also other customers'."
        )
    elif "guard" in before and "guard" not in declared:
        print_note("Warning: the old declaration had `guard: required`. The new one does not: it can be removed.")
    await note_unsealed(store)


@data_source.command("show")
@click.argument("reference", type=as_name, metavar="NAME_OR_ID")
@environment_option
@json_option
@with_store
async def show(store: Store, reference: str, environment: str | None, as_json: bool) -> None:
    """Show a data source and its declaration of guarded tables. The password in the URL is masked."""
    from tenantry.datasources.catalogue import tables_yaml

    source = await source_provisioner(store).find(await choose_environment(store, environment), reference)
    declaration = source.declaration
    if as_json:
        print_record({**describe_source(source), "declaration": declaration or None}, as_json=True)
        return
    print_record(describe_source(source), as_json=False)
    if declaration:
        click.echo(tables_yaml(declaration), nl=False)


@data_source.command("tables")
@click.argument("reference", type=as_name, metavar="NAME_OR_ID")
@environment_option
@keys_option
@with_store
async def tables(store: Store, reference: str, environment: str | None, keys: str | None) -> None:
    """Print a draft of tables.yaml, guessed from a data source's foreign keys and the names of its tables and columns.
    Tables for which nothing could be guessed are commented out."""
    from tenantry.datasources.catalogue import draft_tables, read_catalogue

    source = await source_provisioner(store).find(await choose_environment(store, environment), reference)
    catalogue = await read_catalogue(source, keys=settings(keys=keys).keys)
    click.echo(draft_tables(catalogue, source.provided_id), nl=False)


@data_source.command("test")
@click.argument("reference", type=as_name, metavar="NAME_OR_ID")
@environment_option
@keys_option
@json_option
@with_store
async def test(store: Store, reference: str, environment: str | None, keys: str | None, as_json: bool) -> None:
    """Connect to a data source as a query does, and print how long it took. If the test fails, exit with 1."""
    from tenantry.datasources import check_connection

    source = await source_provisioner(store).find(await choose_environment(store, environment), reference)

    try:
        milliseconds = round(1000 * await check_connection(source, keys=settings(keys=keys).keys))
    except DataSourceError as error:
        raise type(error)(problem_by_name(error, source)) from None
    print_record({**describe_source(source), "health": "ok", "milliseconds": milliseconds}, as_json=as_json)


@data_source.command("list")
@_no_check
@environment_option
@keys_option
@json_option
@with_store
async def list_(store: Store, no_check: bool, environment: str | None, keys: str | None, as_json: bool) -> None:
    """List the data sources of an environment. For each, show whether it responds within 3 seconds. Passwords are
    masked.

    The column `secrets` shows how the store keeps the password: encrypted, as a reference, or in plain text. The column
    `groups` shows how many user groups map to the data source.
    """
    target = await choose_environment(store, environment)
    counted = await source_provisioner(store).list(target)
    sources = [each.source for each in counted]
    rows = [{**describe_source(each), "groups": groups} for each, groups in counted]
    if not no_check:
        from tenantry.datasources import check_connections

        found = await check_connections(sources, keys=settings(keys=keys).keys, seconds=_LIST_SECONDS)
        for row, source, error in zip(rows, sources, found, strict=True):
            row["health"] = "ok" if error is None else problem_by_name(error, source)
    print_rows(rows, as_json=as_json)
    if any(row["secrets"] == "plain" for row in rows):
        print_note("Warning: passwords are in the store in plain text: `tenantry keys rotate` encrypts them.")


@data_source.command("delete")
@click.argument("reference", type=as_name, metavar="NAME_OR_ID")
@environment_option
@click.option("--yes", is_flag=True, help="Delete without asking.")
@keys_option
@json_option
@with_store
async def delete(store: Store, reference: str, environment: str | None, yes: bool, as_json: bool) -> None:
    """Remove a data source. If user groups map to it, the command asks you first, because their queries would
    fail. If you later create a data source under the same name, groups that still map to this name use it."""
    target = await choose_environment(store, environment)
    provisioner = source_provisioner(store)
    found = await provisioner.count(await provisioner.find(target, reference))
    if found.groups and not yes:
        click.confirm(f"{in_use(found)}. Delete it?", abort=True, err=True)
    gone, _ = await provisioner.delete(target, found.source.id, force=True)
    print_value(gone.id, describe_source(gone), field="id", as_json=as_json)
    await note_unsealed(store)
