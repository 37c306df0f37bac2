"""Lazy exports: a package that imports a name's module when somebody first asks for the name (PEP 562)."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def lazy_exports(package: str, modules: Mapping[str, str]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """``__getattr__`` and ``__dir__`` of a package; ``modules``: each name → the module that defines it.

    Call it where a type checker does not look, so that it refuses a name that no module defines::

        if TYPE_CHECKING:
            from package.module import Name
        else:
            __getattr__, __dir__ = lazy_exports(__name__, {"Name": "package.module"})
    """

    def load(name: str) -> Any:
        module = modules.get(name)
        if module is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(module), name)
        setattr(sys.modules[package], name, value)  # the next access finds it without us
        return value

    def names() -> list[str]:
        return sorted(sys.modules[package].__all__)

    return load, names
