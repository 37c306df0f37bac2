"""What the scripts beside this file share: the file of ``tenantry group sync``, on stdout, whole or not at all."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from ruamel.yaml import YAML

Groups = dict[str, dict[str, Any]]
"""The id of each group, and its fields."""


def write(read: Callable[[], Groups]) -> None:
    """Prints the groups; fields that are empty are left out. Ends with 1 where an export has another form, or is not
    there."""
    try:
        groups = read()
    except OSError as error:
        sys.exit(f"cannot read {error.filename}: {error.strerror}")
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        sys.exit(f"an export has not the form that this script reads: {error!r}")
    yaml = YAML()
    yaml.representer.add_representer(str, _text)
    filled = {key: {name: value for name, value in group.items() if value != {}} for key, group in groups.items()}
    yaml.dump({"groups": filled}, sys.stdout)


def _text(representer: Any, text: str) -> Any:
    """In double quotes, with escapes, where it holds what YAML takes for the end of a line."""
    style = '"' if set(text) & set("\r\x85\u2028\u2029") else None
    return representer.represent_scalar("tag:yaml.org,2002:str", text, style=style)
