"""The group of OS users whose processes share the run folder, and who may read the key file."""

from __future__ import annotations

import os
import sys
from typing import Final

GROUP_VARIABLE: Final = "TENANTRY_RUN_GROUP"


def run_group() -> int | None:
    """Return the id of the group that TENANTRY_RUN_GROUP names, or None if it is not set. Raises LookupError if this
    host lacks the group."""
    named = os.environ.get(GROUP_VARIABLE)
    if not named or sys.platform == "win32":
        return None
    if named.isdecimal():
        return int(named)
    import grp  # missing on Windows

    try:
        return grp.getgrnam(named).gr_gid
    except KeyError:
        raise LookupError(f"{GROUP_VARIABLE} names {named!r}, which is not an OS group on this host") from None
