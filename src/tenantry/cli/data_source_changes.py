"""Changes data sources for the commands `data-source` and `group sync`."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from tenantry.cli.field_changes import FieldChanges, field_changes
from tenantry.cli.options import OptionDecorator, author, settings
from tenantry.errors import DataSourceError, InvalidKeys, InvalidSource, TenantryError, UnknownDataSource
from tenantry.groups import Environment, RegisteredSource, SourceUpdate
from tenantry.ports import Store
from tenantry.provisioning import SourceProvisioner, SourceTest
from tenantry.tokens import KeyRing

if TYPE_CHECKING:
    from tenantry.cli.declared_sources import DeclaredSource


no_check_option: OptionDecorator = click.option(
    "--no-check",
    is_flag=True,
    help="Do not test the data source. Tenantry still checks a new SQLite, DuckDB or PostgreSQL URL, and refuses it if "
    "the store's own tables can be read there. It only warns if it cannot connect. A URL with a secret may be checked "
    "only before its first query.",
)


def source_provisioner(store: Store, keys: str | None = None, test: SourceTest | None = None) -> SourceProvisioner:
    return SourceProvisioner(store, partial(_key_file, keys), test=test, author=author())


def _key_file(keys: str | None) -> KeyRing:
    from tenantry.tokens.keys import SigningKeys

    try:
        return SigningKeys.from_file(settings(keys=keys).keys)
    except InvalidKeys as error:
        raise InvalidKeys(
            f"encrypting the password in the URL needs the signing-key file, but {error.message}. Alternatively, "
            "write a reference in place of the password: env:NAME or file:/path"
        ) from None


async def check_source(source: RegisteredSource, unchanged: str, keys: str | None = None, file: str = "") -> None:
    """Connect to the source and test its declaration of guarded tables. If this fails, raises DataSourceError, whose
    message contains ``unchanged``, such as "Nothing was changed". If the declaration is wrong, the message also
    contains its place, ``file``."""
    from tenantry.datasources import check_connection  # imports SQLAlchemy, which `--help` does not need

    try:
        await check_connection(source, keys=settings(keys=keys).keys)
    except DataSourceError as error:
        problem = error.problem if isinstance(error, InvalidSource) else None
        fix = "fix this" if problem is None else f"correct {file}"
        message = problem or problem_by_name(error, source)
        raise type(error)(
            f"{message}. {unchanged}: {fix}, or use --no-check if the source does not exist yet or if only the host "
            "that runs the queries can reach it",
            field=error.field,
        ) from None


def problem_by_name(error: TenantryError, source: RegisteredSource) -> str:
    return error.message.replace(f" ({source.id})", "").replace(source.id, source.provided_id)


class DeclaredChange(NamedTuple):
    """A data source that differs from its declaration in a file of `group sync`."""

    source: RegisteredSource
    changes: SourceUpdate
    place: str
    fields: FieldChanges


async def compare_sources(
    store: Store, environment: Environment, wanted: Iterable[DeclaredSource]
) -> list[DeclaredChange]:
    """Return the sources that differ from their declarations in ``wanted``. Raises UnknownDataSource if a source is not
    registered."""
    compared = [await _compare(store, environment, each) for each in wanted]
    return [each for each in compared if each.fields]


async def _compare(store: Store, environment: Environment, declared: DeclaredSource) -> DeclaredChange:
    from tenantry.datasources import display_url, is_same_address, resolve_url

    source = await store.sources.get(environment, declared.source)
    if source is None:
        problem = f"environment {environment.name!r} has no data source {declared.source!r}"
        raise UnknownDataSource(f"{declared.place}: {problem}: register it with tenantry data-source create")
    fields: FieldChanges = {}
    url = None if declared.url is None else resolve_url(declared.url)
    if url is not None and is_same_address(url, source.url):
        url = None
    if url is not None:
        fields |= field_changes("url", display_url(source.url), display_url(url))
    session = None if declared.session is None else tuple(declared.session.items())
    if session is not None:
        fields |= field_changes("session", dict(source.session), declared.session)
    tables = declared.tables
    if tables is not None:
        before = source.declaration
        for name in {**before, **tables}:
            absent: dict[str, Any] | None = {} if name == "tables" else None
            fields |= field_changes(name, before.get(name, absent), tables.get(name, absent))
    return DeclaredChange(source, SourceUpdate(url, tables=tables, session=session), declared.place, fields)


async def check_sources(store: Store, declared: Iterable[DeclaredChange], keys: str | None, *, connect: bool) -> None:
    """Raise the errors that `write_sources` would raise. With ``connect``, also test the data sources."""
    for each in declared:
        test = partial(check_source, unchanged="Nothing was changed", keys=keys, file=each.place)
        checked = connect and each.changes.needs_test(None)
        provisioner = SourceProvisioner(store, partial(_key_file, keys), test=test if checked else None, dry_run=True)
        await provisioner.update(each.source.environment, each.source.id, each.changes)


async def write_sources(store: Store, declared: Iterable[DeclaredChange], keys: str | None) -> None:
    """Write the changes that `check_sources` accepted."""
    provisioner = SourceProvisioner(store, partial(_key_file, keys), author=author(), is_checked=True)
    for each in declared:
        await provisioner.update(each.source.environment, each.source.id, each.changes)
