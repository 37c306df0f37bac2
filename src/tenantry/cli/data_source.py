"""``tenantry data-source``: where a group's rows may come from."""

from __future__ import annotations

import secrets
import sys
from typing import Any

import click

from tenantry.cli.options import (
    as_name,
    as_new_name,
    author,
    choose_environment,
    environment_option,
    json_option,
    with_store,
)
from tenantry.cli.output import print_note, print_rows, print_value
from tenantry.errors import InvalidSource
from tenantry.groups import RegisteredSource, check_session_variables
from tenantry.ports import Store


@click.group("data-source")
def data_source() -> None:
    """Register, list and remove data sources."""


@data_source.command("create")
@click.argument("provided_id", type=as_new_name, metavar="NAME")
@environment_option
@click.option("--url", required=True, help="SQLAlchemy URL, or duckdb:///file. '-' reads it from stdin.")
@click.option("--trusted", is_flag=True, help="Accept a dialect whose read-only mode cannot be enforced.")
@click.option(
    "--session",
    multiple=True,
    metavar="NAME=TAG",
    help="Set a session variable before each query: app.tenant='{{ user_group.id }}'. PostgreSQL only; repeatable.",
)
@json_option
@with_store
async def create(
    store: Store,
    provided_id: str,
    environment: str | None,
    url: str,
    trusted: bool,
    session: tuple[str, ...],
    as_json: bool,
) -> None:
    """Register a data source under your own NAME for it, and print its id (ds_…)."""
    target = await choose_environment(store, environment)
    from tenantry.datasources import registration_notes, resolve_url  # SQLAlchemy, which `--help` need not wait for

    if provided_id.startswith("ds_"):
        raise InvalidSource("NAME does not start with ds_, which marks Tenantry's own ids")
    if url == "-":
        url = sys.stdin.read().strip()
    notes = registration_notes(url, trusted=trusted)
    pairs = [(name.strip(), tag) for name, _, tag in (each.partition("=") for each in session)]
    made = await store.create_data_source(
        target,
        source_id=f"ds_{secrets.token_hex(8)}",
        provided_id=provided_id,
        url=resolve_url(url),
        trusted=trusted,
        session=dict(check_session_variables(url, pairs)),  # pairs, so that a name that is there twice is seen
        author=author(),
    )
    print_value(made.id, _row(made), field="id", as_json=as_json)
    for note in notes:
        print_note(f"Warning: {note}")
    print_note(f"A group's mapping may now name it: {provided_id!r} or {made.id!r}.")


@data_source.command("list")
@environment_option
@json_option
@with_store
async def list_(store: Store, environment: str | None, as_json: bool) -> None:
    """List the data sources of an environment; passwords are masked."""
    target = await choose_environment(store, environment)
    print_rows([_row(each) for each in await store.data_sources(target)], as_json=as_json)


@data_source.command("delete")
@click.argument("reference", type=as_name, metavar="NAME_OR_ID")
@environment_option
@json_option
@with_store
async def delete(store: Store, reference: str, environment: str | None, as_json: bool) -> None:
    """Remove a data source. Groups that map to it get an error, never another source."""
    target = await choose_environment(store, environment)
    gone = await store.delete_data_source(target, reference, author=author())
    print_value(gone.id, _row(gone), field="id", as_json=as_json)


def _row(each: RegisteredSource) -> dict[str, Any]:
    from tenantry.datasources import display_url

    return {
        "id": each.id,
        "name": each.provided_id,
        "environment": each.environment.name,
        "url": display_url(each.url),
        "trusted": each.trusted,
        "session": dict(each.session),
    }
