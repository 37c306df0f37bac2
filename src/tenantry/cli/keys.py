from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import click

from tenantry.cli.group_rotate import SUSPENDED_NOTE
from tenantry.cli.options import as_name, author, json_option, keys_option, settings, with_store
from tenantry.cli.output import print_note, print_rows, print_value
from tenantry.errors import DataSourceError, InvalidKeys, MigrationNeeded, StoreUnavailable
from tenantry.groups import MAX_INT, RegisteredSource
from tenantry.ports import Store, TokenCount
from tenantry.tokens import keys as key_file

_ROTATE: Final = "tenantry group rotate --signed-by {}"


@click.group()
def keys() -> None:
    """Create, rotate, list and remove the keys that sign user group tokens."""


@keys.command("new")
@keys_option
@json_option
def new(keys: str | None, as_json: bool) -> None:
    """Create a key file (mode 0600) with one key, and print the path of the file. An existing file is not
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
    """Add a key that signs new tokens, and print its id. Tokens that older keys signed stay valid. The command also
    re-encrypts the passwords of data sources, so that each key in the file can decrypt them."""
    path, is_store = settings(keys=keys).keys, True
    try:
        await store.changes(MAX_INT)  # fails before the key file changes if the store or the run folder cannot be used
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
@with_store
async def list_(store: Store, keys: str | None, as_json: bool) -> None:
    """List the ids of all keys, and show which key is active. The column `groups` counts the groups whose current token
    the key signed. `in_grace` counts the other groups whose old token the key signed, if that token is still valid.
    `sources` counts the data sources whose URL the key encrypts. Secrets are not shown."""
    listed = key_file.list_keys(settings(keys=keys).keys)
    uses, is_known = _Uses(), True
    try:
        uses = await _uses(store)
    except (MigrationNeeded, StoreUnavailable) as error:
        print_note(f"The groups and data sources of the keys are unknown: {error.message}")
        is_known = False
    rows: list[dict[str, Any]] = [
        {
            "id": key.id,
            "active": key.active,
            "created": key.created_at.isoformat(timespec="seconds"),
            "groups": uses.of(key.id).live if is_known else None,
            "in_grace": uses.of(key.id).in_grace if is_known else None,
            "sources": uses.sources[key.id] if is_known else None,
        }
        for key in listed
    ]
    print_rows(rows, as_json=as_json)
    for key_id in sorted({*uses.groups} - {key.id for key in listed}):
        if live := uses.of(key_id).live:
            print_note(
                f"{_tokens(live)} signed by {key_id}, which is not in this file. To give them new tokens: "
                f"{_ROTATE.format(key_id)}"
            )


@keys.command("remove")
@click.argument("key_id", type=as_name, metavar="ID")
@click.option(
    "--force",
    is_flag=True,
    help="Remove the key even if groups or data sources need it, or if the store does not answer.",
)
@keys_option
@json_option
@with_store
async def remove(store: Store, key_id: str, force: bool, keys: str | None, as_json: bool) -> None:
    """Remove an inactive key. This is refused while groups have valid tokens that the key signed. The passwords of data
    sources are first re-encrypted without this key."""
    path = settings(keys=keys).keys
    ring = key_file.SigningKeys.from_file(path)
    uses = _Uses()
    if key_id in ring.ids and key_id != ring.active_id:
        try:
            uses = await _prepare_removal(store, path, key_id, force=force)
        except MigrationNeeded as needed:
            raise MigrationNeeded(
                f"{key_id} is not removed, because Tenantry could not check whether groups or data sources need it: "
                f"{needed.message}. If they are in another store, name that store with --database"
            ) from None
        except StoreUnavailable as error:
            if not force:
                raise StoreUnavailable(
                    f"{key_id} is not removed, because Tenantry could not check whether groups or data sources need "
                    f"it: {error.message}. To remove it without this check, add --force"
                ) from None
            print_note(f"Warning: groups and data sources may still need {key_id}: {error.message}")
    key_file.remove_key(path, key_id)
    print_value(key_id, {"path": str(path)}, field="id", as_json=as_json)
    count = uses.of(key_id)
    if count.live:
        print_note(
            f"{_tokens(count.live)} refused within the staleness bound, and /api/user answers signing_key_missing for "
            f"their groups. To give them new tokens: {_ROTATE.format(key_id)}. {SUSPENDED_NOTE}"
        )
    if count.in_grace:
        print_note(f"{_tokens(count.in_grace, old=True)} refused within the staleness bound. The groups have new ones.")


async def _prepare_removal(store: Store, path: Path, key_id: str, *, force: bool) -> _Uses:
    uses = await _uses(store)
    count = uses.of(key_id)
    if count.live and not force:
        raise InvalidKeys(
            f"{key_id} is not removed: {_tokens(count.live)} signed by it. Rotate these groups with "
            f"`{_ROTATE.format(key_id)}`. {SUSPENDED_NOTE} Or add --force: the tokens of all these groups are then "
            "refused, including those of suspended groups"
        )
    if count.grace_until is not None and not force:
        until = f"{count.grace_until:%Y-%m-%d %H:%M:%S} UTC"
        raise InvalidKeys(
            f"{key_id} is not removed: {_tokens(count.in_grace, old=True)} signed by it. The last grace "
            f"period ends on {until}: wait until then, or add --force to refuse the old tokens now"
        )
    for source, error in await _encrypt_sources(store, path, without=key_id):
        problem = (
            f"the URL of data source {source.provided_id!r} in environment {source.environment.name!r} cannot be "
            f"encrypted without this key. {error.message}"
        )
        if not force:
            raise InvalidKeys(f"{key_id} is not removed: {problem}")
        print_note(f"Warning: {problem}")
    return uses


@dataclass(frozen=True, slots=True)
class _Uses:
    groups: Mapping[str, TokenCount] = field(default_factory=dict)
    sources: Counter[str] = field(default_factory=Counter)

    def of(self, key_id: str) -> TokenCount:
        return self.groups.get(key_id, TokenCount())


def _tokens(number: int, *, old: bool = False) -> str:
    token = "old token" if old else "token"
    return f"the {token} of 1 user group is" if number == 1 else f"the {token}s of {number:,} user groups are"


async def _uses(store: Store) -> _Uses:
    from tenantry.datasources import encrypting_keys

    uses = _Uses(await store.environments.count_tokens())
    for environment in await store.environments.list():
        for source in await store.sources.list(environment):
            uses.sources.update(encrypting_keys(source.url))
    return uses


async def _encrypt_sources(
    store: Store, path: Path, without: str | None = None
) -> list[tuple[RegisteredSource, DataSourceError]]:
    from tenantry.datasources import encrypt_sources

    done = await encrypt_sources(store, key_file.SigningKeys.from_file(path), without=without, author=author())
    if done.written:
        print_note(f"Encrypted the URLs of {done.written} data sources.")
    return done.failures
