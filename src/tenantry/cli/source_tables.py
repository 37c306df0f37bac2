from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from tenantry.cli.field_changes import FieldChanges, field_changes
from tenantry.cli.options import author, settings
from tenantry.errors import DataSourceError, InvalidSource, UnknownDataSource
from tenantry.groups import Environment, RegisteredSource
from tenantry.ports import Store

if TYPE_CHECKING:
    from tenantry.cli.groups_file import SourceTables


async def check_source(source: RegisteredSource, unchanged: str, keys: str | None = None, file: str = "") -> None:
    """Connect to the source and test its declaration. Errors contain the sentence ``unchanged`` and name the
    ``file``."""
    from tenantry.datasources import check_connection  # imports SQLAlchemy, which `--help` does not need

    try:
        await check_connection(source, keys=settings(keys=keys).keys)
    except DataSourceError as error:
        problem = error.problem if isinstance(error, InvalidSource) else None
        fix = "fix this" if problem is None else f"correct {file}"
        raise type(error)(
            f"{problem or error.message}. {unchanged}: {fix}, or use --no-check if the source is reachable only "
            "from where its queries run, or does not exist yet",
            field=error.field,
        ) from None


async def check_tables(source: RegisteredSource, declared: Mapping[str, Any], keys: str | None, file: str) -> None:
    await check_source(replace(source, tables=json.dumps(declared)), "Nothing was changed", keys, file)


class TablesChange(NamedTuple):
    source: RegisteredSource
    declared: dict[str, Any]
    place: str
    fields: FieldChanges


async def compare_tables(store: Store, environment: Environment, wanted: Iterable[SourceTables]) -> list[TablesChange]:
    """Raises UnknownDataSource."""
    found = []
    for each in wanted:
        source = await store.sources.get(environment, each.source)
        if source is None:
            problem = f"environment {environment.name!r} has no data source {each.source!r}"
            raise UnknownDataSource(f"{each.place}: {problem}: register it with tenantry data-source create")
        fields: FieldChanges = {}
        before = source.declaration
        for name in {**before, **each.declared}:
            absent: dict[str, Any] | None = {} if name == "tables" else None
            fields |= field_changes(name, before.get(name, absent), each.declared.get(name, absent))
        if fields:
            found.append(TablesChange(source, each.declared, each.place, fields))
    return found


async def write_tables(store: Store, changes: Iterable[TablesChange]) -> None:
    """Raises DataSourceError if another writer has changed one of the sources meanwhile."""
    for each in changes:
        if await store.sources.update(each.source, tables=each.declared, author=author()) is None:
            problem = f"data source {each.source.provided_id} has changed meanwhile: run the command again"
            raise DataSourceError(f"{each.place}: {problem}")
