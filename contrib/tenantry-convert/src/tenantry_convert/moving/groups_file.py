"""Reads exports, and prints the file for ``tenantry group sync``."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import yaml

Groups = dict[str, dict[str, Any]]
"""The id of each group -> its fields."""


def read_json(path: Path) -> Any:
    """Read a JSON file. Raises ClickException if the file is missing or not JSON."""
    try:
        return json.loads(path.read_text("utf-8"))
    except OSError as error:
        raise click.ClickException(f"cannot read {path}: {error.strerror}") from None
    except ValueError as error:
        raise click.ClickException(f"{path} is not JSON: {error}") from None


def number(text: Any, what: str) -> int | float:
    """Convert a string of an export to a number. ``what`` names the string in the error."""
    try:
        value = float(text)
    except (TypeError, ValueError):
        value = math.nan
    if not math.isfinite(value):
        raise click.ClickException(f"{what} is {text!r}, which is not a number: correct it in the export")
    return int(text) if text.strip().lstrip("+-").isdecimal() else value


def write(read: Callable[[], Groups]) -> None:
    """Print the groups that ``read`` returns. Raises ClickException if ``read`` fails because an export does not have
    the expected form."""
    try:
        groups = read()
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise click.ClickException(f"an export does not have the form that this command reads: {error!r}") from None
    # Empty fields are written too: `group sync` keeps the old value of a field that the file lacks.
    text = yaml.dump({"groups": groups}, Dumper=_Dumper, allow_unicode=True, sort_keys=False)
    click.echo(text, nl=False)


def warn(message: str) -> None:
    click.echo(message, err=True)


class _Dumper(yaml.SafeDumper):
    pass


def _represent_text(dumper: _Dumper, text: str) -> Any:
    plain = text[:1].isascii() and text[:1].isalpha() and text.isprintable()
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=None if plain else '"')


_Dumper.add_representer(str, _represent_text)
