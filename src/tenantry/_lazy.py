from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def lazy_exports(package: str, modules: Mapping[str, str]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return ``__getattr__`` and ``__dir__`` for ``package`` (PEP 562). Each name is imported at its first use.
    ``modules`` maps a module to its names, separated by spaces."""
    # Call it in the ``else`` of an ``if TYPE_CHECKING:`` that imports the same names for type checkers.
    module_of = {name: module for module, names in modules.items() for name in names.split()}

    def load(name: str) -> Any:
        module = module_of.get(name)
        if module is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(module), name)
        setattr(sys.modules[package], name, value)  # later accesses skip __getattr__
        return value

    def names() -> list[str]:
        return sorted(getattr(sys.modules[package], "__all__", module_of))

    return load, names
