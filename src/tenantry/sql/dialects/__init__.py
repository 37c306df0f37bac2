"""The SQL dialects, one module each. To add a dialect, add a module that defines ``DIALECT``."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules
from typing import Final

from tenantry.sql.dialects.dialect import UNICODE_NAMES as UNICODE_NAMES
from tenantry.sql.dialects.dialect import UNITS, WEEK, Dialect, Identifiers
from tenantry.sql.dialects.dialect import function_names as function_names
from tenantry.sql.dialects.dialect import naive_utc as naive_utc
from tenantry.sql.dialects.dialect import seconds as seconds

__all__ = ["DIALECTS", "UNITS", "WEEK", "Dialect", "Identifiers", "dialect_named"]

_FIRST = "postgresql"


def _dialects() -> dict[str, Dialect]:
    names = [module.name for module in iter_modules(__path__) if module.name != "dialect"]
    names.sort(key=lambda name: (name != _FIRST, name))
    dialects = (import_module(f"{__name__}.{name}").DIALECT for name in names)
    return {dialect.name: dialect for dialect in dialects}


DIALECTS: Final[dict[str, Dialect]] = _dialects()
"""The dialects by name, postgresql first."""


def dialect_named(name: str) -> Dialect:
    """Raises ValueError for an unknown name."""
    try:
        return DIALECTS[name]
    except (KeyError, TypeError):
        raise ValueError(f"there is no SQL dialect {name!r}: give one of {', '.join(DIALECTS)}") from None
