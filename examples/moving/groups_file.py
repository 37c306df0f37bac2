"""What the scripts beside this file share: the file of ``tenantry group sync``, on stdout, whole or not at all."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from ruamel.yaml import YAML


def write(groups: Callable[[], list[dict[str, Any]]]) -> None:
    """Prints the groups; fields that are empty are left out. Ends with 1 where an export has another form."""
    try:
        found = groups()
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        sys.exit(f"an export has not the form that this script reads: {error!r}")
    YAML().dump(
        {"groups": [{name: value for name, value in group.items() if value != {}} for group in found]}, sys.stdout
    )
