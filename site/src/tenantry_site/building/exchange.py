"""exchange: two folders change places in one step, where the system can do that."""

from __future__ import annotations

import ctypes
import os
import sys
from pathlib import Path

_HERE = -100
"""AT_FDCWD of Linux: paths are as they are for open()."""
_SWAP = 2
"""RENAME_EXCHANGE of Linux (renameat2) and RENAME_SWAP of macOS (renamex_np) are the same number."""


def exchange(first: Path, second: Path) -> bool:
    """Whether it was done. False: this system, or this file system, cannot."""
    try:
        system = ctypes.CDLL(None, use_errno=True)
        one, other = os.fsencode(first), os.fsencode(second)
        if sys.platform == "darwin":
            return bool(system.renamex_np(one, other, ctypes.c_uint(_SWAP)) == 0)
        return bool(system.renameat2(_HERE, one, _HERE, other, ctypes.c_uint(_SWAP)) == 0)
    except (AttributeError, OSError, TypeError):  # no such call in this C library; no C library by that name (Windows)
        return False
