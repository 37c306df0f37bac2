"""What the scripts beside this file share: the file of ``tenantry group sync``, on stdout, whole or not at all."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

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
    yaml = YAML()
    yaml.representer.add_representer(str, _text)
    yaml.dump({"groups": groups}, sys.stdout)


def _text(representer: Any, text: str) -> Any:
    """In double quotes, with escapes, where it holds what YAML takes for the end of a line."""
    style = '"' if set(text) & set("\r\x85\u2028\u2029") else None
    return representer.represent_scalar("tag:yaml.org,2002:str", text, style=style)
