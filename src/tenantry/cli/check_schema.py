"""Which property schema a check of queries reads: it names the properties of groups, and the tenant's column."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

import click

from tenantry.cli.options import settings
from tenantry.groups import PropertySchema, read_schema, schema_file, schema_names
from tenantry.suggestions import did_you_mean

NOT_LOOKED_FOR: Final = "tables without the tenant's predicate were not looked for: no schema names the tenant's column"


def find_schema(folders: Sequence[Path], *, stored: str | None, asked_for: str | None) -> PropertySchema | None:
    """The schema of an environment in the first folder that has one; None where nobody names an environment.

    ``stored`` is one that a store knows, which may have no schema; else it is that of the option, ``asked_for``, or of
    the settings. Raises InvalidPropertySchema; UsageError where an environment that no store knows has none."""
    name = stored or asked_for or _configured_environment()
    if name is None:
        return None
    chosen = next((file for folder in folders if (file := schema_file(folder, name)).is_file()), None)
    if chosen is not None:
        return read_schema(chosen)
    if stored is None:
        _refuse_without_schema(name, folders, asked_for=asked_for is not None)
    return None


def _configured_environment() -> str | None:
    """That of the settings, where what reads them is installed."""
    try:
        return settings().environment
    except ModuleNotFoundError:
        return None


def _refuse_without_schema(name: str, folders: Iterable[Path], *, asked_for: bool) -> None:
    """Raises UsageError: a misspelt name would leave the tenant's column unchecked. A name of the settings is for other
    commands too, so it is refused only where other environments have a schema."""
    names = list(dict.fromkeys(each for folder in folders for each in schema_names(folder)))
    if names or asked_for:
        there = f"there are: {', '.join(names)}" if names else "there is none"
        near = did_you_mean(name, names)
        raise click.UsageError(
            f"there is no schema of the environment {name!r}; {there}. {near}Else give --schema FILE, or write one: "
            "tenantry environment learn-schema"
        )
