"""Which property schema a check uses."""

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
    """The environment's schema in the first folder that has one; None if no environment is chosen.

    ``stored`` is an environment of the store, whose schema is optional; otherwise the environment is ``asked_for`` (the
    option) or that of the settings. Raises InvalidPropertySchema; UsageError if an environment that is not in the store
    has no schema.
    """
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
    try:
        return settings().environment
    except ModuleNotFoundError:
        return None


def _refuse_without_schema(name: str, folders: Iterable[Path], *, asked_for: bool) -> None:
    """Raises UsageError, because a misspelt name would leave the tenant column unchecked. A name from the settings is
    refused only if other environments have a schema."""
    names = list(dict.fromkeys(each for folder in folders for each in schema_names(folder)))
    if names or asked_for:
        there = f"there are: {', '.join(names)}" if names else "no environment has one"
        near = did_you_mean(name, names)
        raise click.UsageError(
            f"the environment {name!r} has no schema; {there}. {near}Else give --schema FILE, or create one: "
            "tenantry environment learn-schema"
        )
