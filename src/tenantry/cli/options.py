from __future__ import annotations

import asyncio
import functools
import inspect
import json
import logging
import os
import re
import shlex
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar

import click

from tenantry.cli.output import print_note
from tenantry.errors import InvalidKeys, InvalidSettings, TenantryError, UnknownEnvironment, UnknownGroup
from tenantry.groups import Author, Environment, Issued, UserGroup
from tenantry.ports import Store
from tenantry.tokens import holds_token, mask_within

if TYPE_CHECKING:
    from tenantry.server import Settings
    from tenantry.tokens.keys import SigningKeys

PAGE: Final = 500
"""Maximum number of groups or audit entries in one read of the store."""

F = TypeVar("F", bound=Callable[..., Any])


class OptionDecorator(Protocol):
    def __call__(self, command: F, /) -> F: ...


def as_text(value: str) -> str:
    """Check a string that will be stored, and return it. The string may have at most 255 characters, must be UTF-8,
    and must not contain a token. Raises click.BadParameter; its message never shows a token."""
    if holds_token(value):
        raise click.BadParameter("the value contains a secret token: check what you pasted, and give another value")
    return _text(value)


def _text(value: str) -> str:
    if len(value) > 255:
        raise click.BadParameter(f"the value has {len(value)} characters, but may have at most 255: shorten it")
    if any("\ud800" <= character <= "\udfff" for character in value):  # a shell may pass bytes that are not UTF-8
        raise click.BadParameter("it is not UTF-8")
    return value


def as_name(value: str) -> str:
    """Like ``as_text``, for a name or id to look up: it must not be empty, and may contain a token."""
    if not value:
        raise click.BadParameter("it is empty")
    return _text(value)


def as_new_name(value: str) -> str:
    """Like ``as_text``, but not empty."""
    return as_text(as_name(value))


def setting_option(name: str, **attributes: Any) -> OptionDecorator:
    """An option that may also be given as an environment variable: TENANTRY_MIN_RATE for ``--min-rate``."""
    variable = name.partition("/")[0].removeprefix("--").replace("-", "_").upper()
    return click.option(name, envvar=f"TENANTRY_{variable}", show_envvar=True, **attributes)


class IntRange(click.IntRange):
    name = "integer"  # click says that 'abc' is not a valid "integer range"


database_option: OptionDecorator = setting_option(
    "--database",
    metavar="URL",
    help="URL of the store; default sqlite:///tenantry.db.",
)
host_option: OptionDecorator = setting_option("--host", help="Address to listen on; default 127.0.0.1.")
port_option: OptionDecorator = setting_option(
    "--port",
    type=IntRange(0, 65_535),
    help="Port to listen on; default 8000. With 0, the system picks a free port.",
)
keys_option: OptionDecorator = setting_option("--keys", metavar="FILE", help="Signing-key file; default tenantry.keys.")
queries_option: OptionDecorator = setting_option(
    "--queries",
    type=click.Path(file_okay=False),
    help="Folder of your saved queries. If TENANTRY_QUERY_CONTRACT is report or refuse, updates of properties are "
    "checked against these queries.",
)
query_contract_option: OptionDecorator = setting_option(
    "--query-contract",
    type=click.Choice(["off", "report", "refuse"]),
    help="What to do with an update of properties that breaks a saved query: off (do not check), report (log it) or "
    "refuse (reject it); default off.",
)


def _environment_option(text: str) -> OptionDecorator:
    return setting_option("--environment", type=as_name, metavar="NAME", help=text)


environment_option: OptionDecorator = _environment_option("The environment; required if there are several.")
environment_filter_option: OptionDecorator = _environment_option("Only this environment; default: all.")
grace_type: IntRange = IntRange(0, 86_400)
tables_option: OptionDecorator = click.option(
    "--tables",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="A tables.yaml file. For each table, it declares which rows a group may read.",
)
dry_run_option: OptionDecorator = click.option("--dry-run", is_flag=True, help="Change nothing; show the result.")
json_option: OptionDecorator = click.option("--json", "as_json", is_flag=True, help="Print JSON on stdout.")


class WrongSettings(click.ClickException):
    """An invalid setting from an option, an environment variable or the settings file. The exit code is 2."""

    exit_code = 2

    def show(self, file: Any = None) -> None:
        click.echo(mask_within(f"tenantry: {self.message} [{InvalidSettings.code}]"), err=True)


def settings(**given: Any) -> Settings:
    """Read the settings. Raises WrongSettings."""
    from tenantry.server import load_settings  # imports pydantic, which `--help` does not need

    try:
        chosen = load_settings(**given)
    except InvalidSettings as error:
        raise WrongSettings(error.message) from None
    # All processes of the host share the run folder. These environment variables name it, for this process and its
    # children.
    for name, value in (("TENANTRY_RUN_DIR", chosen.run_dir), ("TENANTRY_RUN_GROUP", chosen.run_group)):
        if value is not None:
            os.environ[name] = str(value)
    return chosen


def author() -> Author:
    # The audit trail names the effective user: anyone can set environment variables such as USER.
    try:
        import pwd  # missing on Windows

        user = pwd.getpwuid(os.geteuid()).pw_name
    except (ImportError, KeyError):  # or a user id without a name, as in some containers
        user = str(os.geteuid()) if hasattr(os, "geteuid") else os.environ.get("USERNAME", "somebody")
    # For the same reason, the user in SUDO_USER is added and does not replace this one.
    by = os.environ.get("SUDO_USER", "")
    is_name = re.fullmatch(r"[\w.@-]{1,64}", by) is not None
    return Author(f"command line {user}@{socket.gethostname()}" + (f" (sudo by {by})" if is_name else ""))


def sealing_keys(chosen: Settings) -> SigningKeys | None:
    """Return the keys from the key file, or None if the file cannot be read or used."""
    from tenantry.tokens.keys import SigningKeys

    try:
        return SigningKeys.from_file(chosen.keys)
    except InvalidKeys:  # commands that need the keys report the error
        return None


def with_store(command: Callable[..., Awaitable[None]]) -> Callable[..., None]:
    """Make a click command, with the option --database, from an async function whose first argument is an open store.
    If the command has --keys, the store seals audit entries with this key file. The function may omit the parameter
    ``keys``."""
    takes_keys = "keys" in inspect.signature(command).parameters

    async def run_async(database: str | None, arguments: dict[str, Any]) -> None:
        from tenantry.backends.sql import SQLStore  # imports SQLAlchemy, which `--help` and `keys` do not need

        chosen = settings(database=database, keys=arguments.get("keys"))  # None if the command has no --keys
        if not takes_keys:
            arguments.pop("keys", None)
        async with AsyncExitStack() as stack:
            # usage_seconds=None: reads by an operator are not usage.
            store = SQLStore(chosen.database, usage_seconds=None, keys=sealing_keys(chosen))
            stack.push_async_callback(store.aclose)
            if chosen.redis is not None:
                from tenantry.backends import attach_redis

                stack.push_async_callback(attach_redis(store, chosen.redis))
            await command(store, **arguments)

    @database_option
    @functools.wraps(command)
    def run(*, database: str | None, **arguments: Any) -> None:
        asyncio.run(run_async(database, arguments))

    return run


async def note_unsealed(store: Store) -> None:
    """Print a warning if the audit trail has sealed entries but this command has no keys to seal new entries."""
    keys = click.get_current_context().params.get("keys")
    if sealing_keys(settings(keys=keys)) is not None:
        return
    with suppress(TenantryError):  # the command itself has succeeded
        if await store.audit.head() is not None:
            print_note("no key file: this command's audit entries are not sealed; set TENANTRY_KEYS, or give --keys")


async def choose_environment(store: Store, name: str | None) -> Environment:
    """Return the environment ``name``, otherwise the one in the settings, otherwise the store's only environment.
    Raises UnknownEnvironment or InvalidSettings."""
    name = settings(environment=name).environment
    every = {each.name: each for each in await store.environments.list()}
    if name in every:
        return every[name]
    if name is not None:
        raise UnknownEnvironment(
            f"there is no environment {name!r}; there are: {', '.join(every) or 'none'}. "
            f"Create it: tenantry environment create {shlex.quote(name)} --tag Customer"
        )
    if not every:
        raise UnknownEnvironment(
            "there is no environment yet; create one: tenantry environment create production --tag Customer"
        )
    if len(every) > 1:
        raise InvalidSettings(f"there are several environments: name one with --environment ({', '.join(every)})")
    return next(iter(every.values()))


async def get_environment(store: Store, name: str) -> Environment:
    found = await store.environments.get(name)
    if found is None:
        raise UnknownEnvironment(f"there is no environment {name!r}: see tenantry environment list")
    return found


async def get_group(store: Store, environment: Environment, provided_id: str) -> Issued:
    found = await store.groups.get(environment, provided_id)
    if found is None:
        raise UnknownGroup(f"there is no user group {provided_id!r} in {environment.name}: see tenantry group list")
    return found


async def groups_of(store: Store, environment: Environment) -> AsyncIterator[UserGroup]:
    page = await store.groups.list(environment, limit=PAGE)
    while page:
        for group in page:
            yield group
        page = await store.groups.list(environment, after=page[-1].team_id, limit=PAGE)


def parse_pairs(values: tuple[str, ...], option: str) -> dict[str, str]:
    """Split each ``NAME=VALUE``. Raises click.BadParameter."""
    result: dict[str, str] = {}
    for value in values:
        name, equals, text = value.partition("=")
        if not equals or not name:
            raise click.BadParameter(f"{value!r} is not NAME=VALUE", param_hint=option)
        if name in result:
            raise click.BadParameter(f"{name!r} is given twice", param_hint=option)
        result[name] = text
    return result


def parse_json_pairs(values: tuple[str, ...], option: str) -> dict[str, Any]:
    """Split each ``NAME=VALUE``. A value that is not valid JSON is a string. Raises click.BadParameter."""

    def reject(constant: str) -> None:
        raise ValueError(f"{constant} is not JSON")

    pairs: dict[str, Any] = {}
    for name, text in parse_pairs(values, option).items():
        try:
            pairs[name] = json.loads(text, parse_constant=reject)
        except ValueError:
            pairs[name] = text
    return pairs


def print_declarations_once() -> None:
    """Do not log errors in declarations of guarded tables."""
    # The command prints them itself.
    logging.getLogger("tenantry.datasources.declared_tables").addHandler(logging.NullHandler())
