"""The functions that a guarded query may call, because they never read a table."""

# Every other function is refused: a macro, a stored function or an extension's function may read a table that the query
# does not name.

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from itertools import product
from typing import Final

from tenantry.sql.dialects import Dialect

_FOLDER: Final = files(__package__) / "function_lists"
"""A file for each dialect whose functions we have checked on an engine."""


@cache
def safe_functions(dialect: Dialect) -> frozenset[str] | None:
    """Return the functions' names in lower case, or None if we have no list for the dialect."""
    lists = _lists(dialect.name)
    if lists is None:
        return None
    return frozenset((*lists["functions"], *lists["syntax"], *_with_combinators(lists)))


def safe_table_functions(dialect: Dialect) -> frozenset[str] | None:
    """Like ``safe_functions``, but for the functions that ``from`` may call."""
    lists = _lists(dialect.name)
    return frozenset(lists["table_functions"]) if lists is not None else None


def known_functions(dialect: Dialect) -> tuple[str, ...]:
    """Return the function names that an editor suggests, sorted, without combinations such as ``sumIf``. Empty if we
    have no list for the dialect."""
    lists = _lists(dialect.name) or {}
    keys = ("functions", "table_functions", "aggregates", "syntax")
    return tuple(sorted({name for key in keys for name in lists.get(key, ())}))


@cache
def _lists(dialect: str) -> dict[str, list[str]] | None:
    file = _FOLDER / f"{dialect}.toml"
    if not file.is_file():
        return None
    lists: dict[str, list[str]] = {key: text.split() for key, text in tomllib.loads(file.read_text("utf-8")).items()}
    base = _lists(lists["based_on"][0]) if "based_on" in lists else None  # the base has all other lists
    if base is None:
        return lists
    return {**base, "functions": [*({*base["functions"]} - {*lists["without"]}), *lists["also"]]}


def _with_combinators(lists: dict[str, list[str]]) -> set[str]:
    aggregates, combinators = lists.get("aggregates", []), lists.get("combinators", [])
    suffixes = ["", *combinators, *(f"{each}if" for each in combinators), *(f"if{each}" for each in combinators)]
    return set(map("".join, product(aggregates, suffixes)))
