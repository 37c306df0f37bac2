"""Options that several commands share, and the store that they open."""

from __future__ import annotations

import asyncio
import functools
import json
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import click

from tenantry.errors import InvalidSettings, UnknownEnvironment
from tenantry.groups import Environment
from tenantry.ports import EnvironmentStore
from tenantry.settings import load_settings

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")

database_option = click.option(
    "--database",
    metavar="URL",
    envvar="TENANTRY_DATABASE",
    show_envvar=True,
    help="Store; default sqlite:///tenantry.db.",
)
keys_option = click.option(
    "--keys", metavar="FILE", envvar="TENANTRY_KEYS", show_envvar=True, help="Signing-key file; default tenantry.keys."
)
environment_option = click.option(
    "--environment",
    metavar="NAME",
    envvar="TENANTRY_ENVIRONMENT",
    show_envvar=True,
    help="Needed when there are several environments.",
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON on stdout.")


def with_store(command: Callable[..., Awaitable[None]]) -> Callable[..., None]:
    """Runs an async command with the store of ``--database`` as its first argument, and closes it."""

    @database_option
    @functools.wraps(command)
    def run(*, database: str | None, **arguments: Any) -> None:
        asyncio.run(_with_store(command, database, arguments))

    return run


async def _with_store(command: Callable[..., Awaitable[None]], database: str | None, arguments: dict[str, Any]) -> None:
    from tenantry.backends.sql import SQLStore  # half a second of imports that `--help` and `keys` need not wait for

    store = SQLStore(load_settings(database=database).database)
    try:
        await command(store, **arguments)
    finally:
        await store.aclose()


async def choose_environment(store: EnvironmentStore, name: str | None) -> Environment:
    """The environment with this name, or the only one. Raises UnknownEnvironment, InvalidSettings."""
    name = load_settings(environment=name).environment
    if name is not None:
        found = await store.environment(name)
        if found is not None:
            return found
    every = [each.name for each in await store.environments()]
    if name is not None:
        raise UnknownEnvironment(
            f"there is no environment {name!r}; there are: {', '.join(every) or 'none'}. "
            f"Make one: tenantry environment create {name} --tag Customer"
        )
    if len(every) == 1:
        only = await store.environment(every[0])
        if only is not None:
            return only
    if not every:
        raise UnknownEnvironment("there is no environment yet: tenantry environment create production --tag Customer")
    raise InvalidSettings(f"there are several environments: name one with --environment ({', '.join(every)})")


def pairs(values: tuple[str, ...], option: str) -> dict[str, str]:
    """``("a=1", "b=2")`` -> ``{"a": "1", "b": "2"}``. Raises click.BadParameter."""
    result = {}
    for value in values:
        name, equals, text = value.partition("=")
        if not equals or not name:
            raise click.BadParameter(f"{value!r} is not NAME=VALUE", param_hint=option)
        result[name] = text
    return result


def typed_pairs(values: tuple[str, ...], option: str) -> dict[str, Any]:
    """As ``pairs``, and a value that is JSON is taken as JSON: ``seats=5`` is a number, ``region=eu`` a string."""
    return {name: _json_or_text(text) for name, text in pairs(values, option).items()}


def _json_or_text(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text
