from __future__ import annotations

import json
import shlex
from typing import Any

import click

from tenantry.cli.options import (
    as_name,
    as_new_name,
    author,
    get_environment,
    grace_type,
    groups_of,
    json_option,
    keys_option,
    note_unsealed,
    with_store,
)
from tenantry.cli.output import print_note, print_rows, print_value
from tenantry.groups import Environment, SchemaLearner, Tag
from tenantry.ports import Store


@click.group()
def environment() -> None:
    """Create and list environments, and change their settings."""


@environment.command("create")
@click.argument("name", type=as_new_name)
@click.option(
    "--tag",
    type=click.Choice([tag.value for tag in Tag]),
    required=True,
    help="Customer if the environment's groups are your customers, Testing if they are test groups.",
)
@click.option(
    "--external-data-sources",
    is_flag=True,
    help="Accept mappings to data sources that are not registered. Use this option if your app routes queries itself.",
)
@click.option(
    "--grace-seconds",
    type=grace_type,
    default=0,
    show_default=True,
    help="How many seconds a group's old token stays valid after a rotation. A single rotation can override this.",
)
@keys_option
@json_option
@with_store
async def create(
    store: Store, name: str, tag: str, external_data_sources: bool, grace_seconds: int, as_json: bool
) -> None:
    """Create the environment NAME and print its name."""
    made = await store.environments.create(
        name,
        Tag(tag),
        external_data_sources=external_data_sources,
        grace_seconds=grace_seconds,
        author=author(),
    )
    print_value(made.name, _row(made), field="name", as_json=as_json)
    print_note(f"Next: tenantry api-token create --environment {shlex.quote(made.name)}")
    await note_unsealed(store)


@environment.command("list")
@json_option
@with_store
async def list_(store: Store, as_json: bool) -> None:
    """List all environments."""
    hosts = await store.environments.embedding_hosts()
    by_viewer = await store.usage.environments_with_viewer_usage()
    listed = [
        {
            **_row(each),
            "embedding_hosts": list(hosts.get(each.name, ())),
            "viewer_usage": each.name in by_viewer,
        }
        for each in await store.environments.list()
    ]
    print_rows(
        listed if as_json else [{**row, "embedding_hosts": " ".join(row["embedding_hosts"])} for row in listed],
        as_json=as_json,
    )


@environment.command("set-grace")
@click.argument("name", type=as_name)
@click.argument("seconds", type=grace_type)
@keys_option
@json_option
@with_store
async def set_grace(store: Store, name: str, seconds: int, as_json: bool) -> None:
    """Set how many SECONDS an old token stays valid after a rotation in the environment NAME. With 0, the old token is
    refused at once. A single rotation can override SECONDS."""
    changed = await store.environments.set_grace(await get_environment(store, name), seconds, author=author())
    print_value(changed.name, _row(changed), field="name", as_json=as_json)
    await note_unsealed(store)


@environment.command("set-embedding")
@click.argument("name", type=as_name)
@click.argument("hosts", nargs=-1)
@keys_option
@json_option
@with_store
async def set_embedding(store: Store, name: str, hosts: tuple[str, ...], as_json: bool) -> None:
    """Let only pages from HOSTS embed the dashboards of the environment NAME.

    Write each host as https://app.example.com, https://*.example.com, or 'self', including the quotes. Without HOSTS,
    no page may embed the dashboards."""
    from tenantry.dashboards.embedding import check_hosts  # slow to import

    checked = check_hosts(hosts, "HOSTS")
    set_to = await store.environments.set_embedding_hosts(await get_environment(store, name), checked, author=author())
    print_value(name, {"name": name, "embedding_hosts": list(set_to)}, field="name", as_json=as_json)
    await note_unsealed(store)


@environment.command("set-viewer-usage")
@click.argument("name", type=as_name)
@click.argument("switch", type=click.Choice(["on", "off"]), metavar="on|off")
@keys_option
@json_option
@with_store
async def set_viewer_usage(store: Store, name: str, switch: str, as_json: bool) -> None:
    """Turn usage counts by viewer on or off for the environment NAME.

    While they are on, the store keeps the viewer ids of passes. `tenantry usage --by viewer` shows the counts.
    """
    is_on = switch == "on"
    await store.usage.set_viewer_usage(await get_environment(store, name), is_on, author=author())
    print_value(name, {"name": name, "viewer_usage": is_on}, field="name", as_json=as_json)
    await note_unsealed(store)


@environment.command("learn-schema")
@click.argument("name", type=as_name)
@with_store
async def learn_schema(store: Store, name: str) -> None:
    """Print a JSON Schema of the properties that the groups of the environment NAME currently have.

    The schema requires every property that all groups have. It contains no values. Save it as schemas/NAME.json in your
    folder of queries.
    """
    known = await get_environment(store, name)
    learner = SchemaLearner()
    async for group in groups_of(store, known):
        learner.add(group.properties)
    click.echo(json.dumps(learner.document(), ensure_ascii=False, indent=2))


def _row(each: Environment) -> dict[str, Any]:
    return {
        "name": each.name,
        "tag": each.tag.value,
        "external_data_sources": each.external_data_sources,
        "grace_seconds": each.grace_seconds,
    }
