"""``tenantry environment``: the fences around groups, data sources and API tokens."""

from __future__ import annotations

import shlex
from typing import Any

import click

from tenantry.cli.options import as_name, json_option, with_store
from tenantry.cli.output import say, show, show_alone
from tenantry.groups import Environment, Tag
from tenantry.ports import Store


@click.group()
def environment() -> None:
    """Create and list environments."""


@environment.command("create")
@click.argument("name", type=as_name)
@click.option("--tag", type=click.Choice([tag.value for tag in Tag]), required=True, help="What the groups in it are.")
@click.option("--external-data-sources", is_flag=True, help="Do not check mappings: the app routes queries itself.")
@json_option
@with_store
async def create(store: Store, name: str, tag: str, external_data_sources: bool, as_json: bool) -> None:
    """Create the environment NAME and print its name."""
    made = await store.create_environment(name, Tag(tag), external_data_sources=external_data_sources)
    show_alone(made.name, _row(made), field="name", as_json=as_json)
    say(f"Next: tenantry api-token create --environment {shlex.quote(made.name)}")


@environment.command("list")
@json_option
@with_store
async def list_(store: Store, as_json: bool) -> None:
    """List all environments."""
    show([_row(each) for each in await store.environments()], as_json=as_json)


def _row(each: Environment) -> dict[str, Any]:
    return {"name": each.name, "tag": each.tag.value, "external_data_sources": each.external_data_sources}
