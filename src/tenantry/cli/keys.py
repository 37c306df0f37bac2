from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from tenantry.cli.options import as_name, author, json_option, keys_option, settings, with_store
from tenantry.cli.output import print_note, print_rows, print_value
from tenantry.errors import DataSourceError, InvalidKeys, MigrationNeeded
from tenantry.groups import RegisteredSource
from tenantry.ports import Store
from tenantry.tokens import keys as key_file


@click.group()
def keys() -> None:
    """Create, rotate and list the keys that sign user group tokens."""


@keys.command("new")
@keys_option
@json_option
def new(keys: str | None, as_json: bool) -> None:
    """Create a key file (mode 0600) with one key, and print the path of the file. If the file already exists, it is not
    overwritten."""
    path = settings(keys=keys).keys
    key_file.create_key_file(path)
    print_value(str(path), {}, field="path", as_json=as_json)
    print_note("Keep this file safe and backed up: without it no token can be checked.")


@keys.command("rotate")
@keys_option
@json_option
@with_store
async def rotate(store: Store, keys: str | None, as_json: bool) -> None:
    """Add a key that signs new tokens, and print the id of the key. Tokens that older keys signed stay valid. The
    command also encrypts the passwords of data sources again, so that each key in the file can decrypt them."""
    path, is_store = settings(keys=keys).keys, True
    try:
        await store.environments.list()  # if the store is unavailable, fail before the key file changes
    except MigrationNeeded:
        is_store = False
    made = key_file.rotate_key_file(path)
    print_value(made.id, {"path": str(path)}, field="id", as_json=as_json)
    if is_store:
        for source, error in await _encrypt_sources(store, path):
            print_note(
                f"Warning: the URL of {source.provided_id!r} was not encrypted with the new key: {error.message}"
            )
    else:
        print_note("There is no store yet, so no data source passwords were encrypted.")
    print_note(
        "Programs on this host read the new key by themselves. Copy the file to your other hosts: until then they "
        "refuse the new tokens."
    )


@keys.command("list")
@keys_option
@json_option
def list_(keys: str | None, as_json: bool) -> None:
    """List the ids of all keys, and which one is active. Secrets are not shown."""
    rows: list[dict[str, Any]] = [
        {"id": key.id, "active": key.active, "created": key.created_at.isoformat(timespec="seconds")}
        for key in key_file.list_keys(settings(keys=keys).keys)
    ]
    print_rows(rows, as_json=as_json)


@keys.command("remove")
@click.argument("key_id", type=as_name, metavar="ID")
@keys_option
@json_option
@with_store
async def remove(store: Store, key_id: str, keys: str | None, as_json: bool) -> None:
    """Remove an inactive key. Before that, the command encrypts the passwords of data sources again without this key.
    All tokens that the removed key signed are refused within the staleness bound."""
    path = settings(keys=keys).keys
    ring = key_file.SigningKeys.from_file(path)
    if key_id in ring.ids and key_id != ring.active_id:
        try:
            failures = await _encrypt_sources(store, path, without=key_id)
        except MigrationNeeded as needed:
            raise MigrationNeeded(
                f"{key_id} is not removed: passwords of data sources may be encrypted with it, and {needed.message}; "
                "name the store of the data sources with --database"
            ) from None
        for source, error in failures:
            raise InvalidKeys(
                f"{key_id} is not removed: the URL of data source {source.provided_id!r} in environment "
                f"{source.environment.name!r} cannot be encrypted without this key. {error.message}"
            )
    key_file.remove_key(path, key_id)
    print_value(key_id, {"path": str(path)}, field="id", as_json=as_json)
    print_note(
        "/api/user answers signing_key_missing for a group whose token this key signed, until you rotate the group: "
        "tenantry group rotate ID"
    )


async def _encrypt_sources(
    store: Store, path: Path, without: str | None = None
) -> list[tuple[RegisteredSource, DataSourceError]]:
    from tenantry.datasources import encrypt_sources

    done = await encrypt_sources(store, key_file.SigningKeys.from_file(path), without=without, author=author())
    if done.written:
        print_note(f"Encrypted the URLs of {done.written} data sources.")
    return done.failures
