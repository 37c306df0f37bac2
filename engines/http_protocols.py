"""The HTTP protocols of uvicorn: h11, which is always there, and httptools, which people install beside it.

httptools and uvloop are in a folder of their own, because uvicorn takes them wherever it finds them, and the other
tests run on what our extras install. `make .venv/test` fills it.
"""

from __future__ import annotations

import importlib
import os
import sys
from pathlib import Path
from typing import Any

import pytest

NAMES = ("h11", "httptools")
FOLDER = Path(sys.prefix) / "servers"
_CLASSES = {
    "h11": ("uvicorn.protocols.http.h11_impl", "H11Protocol"),
    "httptools": ("uvicorn.protocols.http.httptools_impl", "HttpToolsProtocol"),
}


def protocol_class(name: str) -> Any:
    """For this process."""
    importlib.import_module("uvicorn.protocols.http.auto")  # which chooses once, and not by what comes here
    module, kind = _CLASSES[name]
    if name == "h11":
        return getattr(importlib.import_module(module), kind)
    sys.path.append(str(_folder()))
    try:
        return getattr(importlib.import_module(module), kind)
    finally:
        sys.path.remove(str(FOLDER))


def variables(name: str) -> dict[str, str]:
    """The environment of another process that is to use it; httptools with uvloop, as both are installed together."""
    return {} if name == "h11" else {"PYTHONPATH": str(_folder())}


def _folder() -> Path:
    if not (FOLDER / "httptools").is_dir():
        missing = f"there is no httptools in {FOLDER}: run `make .venv/test`"
        if os.environ.get("CI") == "true":
            pytest.fail(missing)
        pytest.skip(missing)
    return FOLDER
