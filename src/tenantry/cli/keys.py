"""``tenantry keys``: the signing-key file."""

from __future__ import annotations

from typing import Any

import click

from tenantry import keys as key_file
from tenantry.cli.options import as_name, json_option, keys_option, settings
from tenantry.cli.output import print_note, print_rows, print_value


@click.group()
def keys() -> None:
    """Make, rotate and list the keys that sign user group tokens."""


@keys.command("new")
@keys_option
@json_option
def new(keys: str | None, as_json: bool) -> None:
    """Make a new key file (mode 0600) and print its path. Never overwrites one."""
    path = settings(keys=keys).keys
    key_file.create_key_file(path)
    print_value(str(path), {}, field="path", as_json=as_json)
    print_note("Keep this file safe and backed up: without it no token can be checked.")


@keys.command("rotate")
@keys_option
@json_option
def rotate(keys: str | None, as_json: bool) -> None:
    """Add a new active key and print its id. Tokens signed with older keys stay good."""
    path = settings(keys=keys).keys
    print_value(key_file.rotate_key_file(path).id, {"path": str(path)}, field="id", as_json=as_json)
    print_note("Restart your apps, then `tenantry serve`: an app that has not read the new key refuses its tokens.")


@keys.command("list")
@keys_option
@json_option
def list_(keys: str | None, as_json: bool) -> None:
    """List the ids of all keys, the active one marked. Secrets are not shown."""
    rows: list[dict[str, Any]] = [
        {"id": key.id, "active": key.active, "created": key.created_at.isoformat(timespec="seconds")}
        for key in key_file.list_keys(settings(keys=keys).keys)
    ]
    print_rows(rows, as_json=as_json)


@keys.command("remove")
@click.argument("key_id", type=as_name, metavar="ID")
@keys_option
@json_option
def remove(key_id: str, keys: str | None, as_json: bool) -> None:
    """Remove a key that is not active: all tokens that it signed die when the file is read again."""
    path = settings(keys=keys).keys
    key_file.remove_key(path, key_id)
    print_value(key_id, {"path": str(path)}, field="id", as_json=as_json)
    print_note(
        "Groups whose token it signed answer signing_key_missing until they are rotated: tenantry group rotate ID"
    )
