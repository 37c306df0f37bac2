"""The functions that a guarded query may call, because no engine lets them read a table."""

# Every other function is refused: a macro, a stored function or an extension's function may read a table that the query
# does not name.

from __future__ import annotations

from functools import cache
from importlib import import_module
from itertools import product
from pkgutil import iter_modules
from types import ModuleType
from typing import Final

from tenantry.sql.dialects import Dialect
from tenantry.sql.guarding import function_lists


def safe_functions(dialect: Dialect) -> frozenset[str] | None:
    """Return the functions' names in lower case, or None if we have no list for the dialect."""
    return _functions(dialect.name) if dialect.name in _LISTED else None


def safe_table_functions(dialect: Dialect) -> frozenset[str] | None:
    """Return the names of the functions that ``from`` may call. Return None if ``safe_functions`` returns None."""
    return frozenset(_module(dialect.name).TABLE_FUNCTIONS.split()) if dialect.name in _LISTED else None


def known_functions(dialect: Dialect) -> tuple[str, ...]:
    """Return the function names that an editor suggests, sorted, without combinations such as ``sumIf``. Return no
    names if we have no list for the dialect."""
    if dialect.name not in _LISTED:
        return ()
    module = _module(dialect.name)
    lists = (module.FUNCTIONS, module.TABLE_FUNCTIONS, getattr(module, "AGGREGATES", ""), module.SYNTAX)
    return tuple(sorted({name for each in lists for name in each.split()}))


_LISTED: Final = frozenset(module.name for module in iter_modules(function_lists.__path__))


def _module(dialect: str) -> ModuleType:
    return import_module(f"{function_lists.__name__}.{dialect}")


@cache
def _functions(dialect: str) -> frozenset[str]:
    module = _module(dialect)
    return frozenset((*module.FUNCTIONS.split(), *module.SYNTAX.split(), *_with_combinators(module)))


def _with_combinators(module: ModuleType) -> set[str]:
    aggregates, combinators = (getattr(module, name, "").split() for name in ("AGGREGATES", "COMBINATORS"))
    suffixes = ["", *combinators, *(f"{each}if" for each in combinators), *(f"if{each}" for each in combinators)]
    return set(map("".join, product(aggregates, suffixes)))
