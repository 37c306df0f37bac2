"""Door: a package that loads a name from the module it lives in when somebody first asks for it (PEP 562)."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def on_demand(package: str, homes: Mapping[str, str]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """``__getattr__`` and ``__dir__`` of a package whose names have their ``homes``: name → module that holds it.

    Take them where a type checker does not look, so that it refuses a name that is in no home::

        if TYPE_CHECKING:
            from package.module import Name
        else:
            __getattr__, __dir__ = on_demand(__name__, {"Name": "package.module"})
    """

    def load(name: str) -> Any:
        home = homes.get(name)
        if home is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(home), name)
        setattr(sys.modules[package], name, value)  # the next look finds it without us
        return value

    def names() -> list[str]:
        return sorted(sys.modules[package].__all__)

    return load, names
