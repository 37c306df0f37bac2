"""The tables of ``make bench``, in the order of docs/benchmarks.md, and the groups of them that have a name.

``make bench TABLES="sql sources"`` runs the table ``sql`` and those of the group ``sources``. A table is the module of
its name in this package; its ``table()`` measures.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

GROUPS: Final[Mapping[str, tuple[str, ...]]] = {
    "sources": (
        "warm_query",
        "fetched_rows",
        "written_rows",
        "streams",
        "result_cache",
        "turns",
        "equal_panels",
        "leaving",
    ),
    "dashboards": ("chart_rows", "page_times", "viewers"),
}
"""``sources``: all about data sources. ``dashboards``: about dashboards as files."""

TABLES: Final = (
    "middleware",
    "slots",
    "usage",
    "tokens",
    "passes",
    "sql",
    "coverage",
    "editor_language",
    "guarded_bind",
    "guarded_rows",
    *GROUPS["sources"],
    "misses_sqlite",
    "misses_postgres",
    "crowd",
    "invalidation",
    "rotations",
    "server",
    "api",
    "serve_layer",
    "bulk",
    "site",
    *GROUPS["dashboards"],
    "editor_typing",
    "editor_authors",
)


def chosen(words: Iterable[str]) -> list[str]:
    """The tables that these names stand for, each once, in the order of ``TABLES``; without a name all of them.

    Raises KeyError for a name of neither a table nor a group.
    """
    names: set[str] = set()
    for word in words:
        if word not in TABLES and word not in GROUPS:
            raise KeyError(word)
        names.update(GROUPS.get(word, (word,)))
    return [name for name in TABLES if name in names or not names]
