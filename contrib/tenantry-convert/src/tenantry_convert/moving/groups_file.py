"""What the scripts beside this file share: the file of ``tenantry group sync``, on stdout, whole or not at all."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml

Groups = dict[str, dict[str, Any]]
"""The id of each group, and its fields."""


def read_json(path: Path) -> Any:
    try:
        return json.loads(path.read_text("utf-8"))
    except OSError as error:
        sys.exit(f"cannot read {path}: {error.strerror}")
    except ValueError as error:
        sys.exit(f"{path} is not JSON: {error}")


def number(text: Any, what: str) -> int | float:
    """Of an export that has texts only. ``what`` says in the error where it stands."""
    try:
        value = float(text)
    except (TypeError, ValueError):
        value = math.nan
    if not math.isfinite(value):
        sys.exit(f"{what} is {text!r}, which is no number: correct it in the export")
    return int(text) if text.strip().lstrip("+-").isdecimal() else value


def write(read: Callable[[], Groups]) -> None:
    """Prints the groups. Ends with 1 where an export has another form.

    An empty field is written: ``group sync`` keeps what a file does not name, so what was taken away since would stay.
    """
    try:
        groups = read()
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        sys.exit(f"an export has not the form that this script reads: {error!r}")
    yaml.dump({"groups": groups}, sys.stdout, Dumper=_Dumper, allow_unicode=True, sort_keys=False)


class _Dumper(yaml.SafeDumper):
    pass


def _represent_text(dumper: _Dumper, text: str) -> Any:
    """Quote text that YAML 1.2 could read as a number or as several lines."""
    plain = text[:1].isascii() and text[:1].isalpha() and text.isprintable()
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=None if plain else '"')


_Dumper.add_representer(str, _represent_text)
