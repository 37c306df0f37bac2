from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

T = TypeVar("T")


def lazy_exports(package: str, modules: Mapping[str, str]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return ``__getattr__`` and ``__dir__`` for ``package`` (PEP 562). ``modules`` maps each module to the names that
    it exports, separated by spaces."""
    # Call ``lazy_exports`` in the ``else`` of an ``if TYPE_CHECKING:`` that imports the same names for type checkers.
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


def load_httpx(user: str) -> Any:
    """Import and return httpx2. Raises ModuleNotFoundError, which says that ``user`` needs it."""
    try:
        return import_module("httpx2")
    except ModuleNotFoundError:
        missing = f"{user} needs httpx2: pip install 'tenantry[http]'"
    raise ModuleNotFoundError(missing, name="httpx2")


class EntryPointError(Exception): ...


@cache
def entry_points_of(group: str) -> Mapping[str, list[EntryPoint]]:
    from importlib import metadata  # imported here: it is slow to import, and most programs need no entry point

    found: dict[str, list[EntryPoint]] = {}
    for point in metadata.entry_points(group=group):
        found.setdefault(point.name, []).append(point)
    return found


def load_entry_point(group: str, name: str, kind: type[T], *, expected: str, title: str) -> T | None:
    """Import and return the object of an entry point, or None if no distribution has it.

    In error messages, ``title`` describes the entry point and ``expected`` describes ``kind``. Raises
    EntryPointError if two distributions have the entry point, the import fails, or the object is not a ``kind``."""
    points = entry_points_of(group).get(name)
    if points is None:
        return None
    origins = ", ".join(sorted(f"{each.dist.name} {each.dist.version}" for each in points if each.dist is not None))
    if len(points) > 1:
        raise EntryPointError(f"{title} comes from several distributions: {origins}. Uninstall all but one.")
    try:
        loaded = points[0].load()
    except (Exception, SystemExit) as error:  # noqa: BLE001  # the module of another distribution may raise anything
        reason = f"{type(error).__name__}: {error}"
    else:
        if isinstance(loaded, kind):
            return loaded
        reason = f"{points[0].value} is not {expected}"
    raise EntryPointError(f"{title} of {origins} cannot be loaded: {' '.join(reason.split())}")
