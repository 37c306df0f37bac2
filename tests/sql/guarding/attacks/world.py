"""The tables that attacks read: few and tiny, with everyone's rows or with acme's alone.

Each text of another tenant contains the first of ``MARKERS``, and each of their amounts is above a million. The others
stand in files of the machine and in lists of tables.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

MARKERS: Final = ("zqx", "root:", "vault")
TENANT: Final = "acme"
COLUMNS: Final[Mapping[str, tuple[str, ...]]] = {
    "t": ("tenant text", "id integer", "region text", "amount integer", "note text"),
    "o": ("tenant text", "id integer", "t_id integer", "qty integer", "note text"),
    "items": ("id integer", "o_id integer", "price integer", "note text"),
    "docs": ("owner text", "id integer", "hidden boolean", "note text"),
    "countries": ("code text", "name text"),
    "vault": ("tenant text", "id integer", "note text"),
}
"""``vault`` is real and not declared."""
_ROWS: Final[Mapping[str, tuple[tuple[Any, ...], ...]]] = {
    "t": (
        (TENANT, 1, "eu", 1, "own t1"),
        (TENANT, 2, "us", 2, "own t2"),
        (TENANT, 3, "eu", 3, "own t3"),
        ("zqx1", 4, "eu", 1_000_004, "zqx t4"),
        ("zqx2", 5, "us", 1_000_005, "zqx t5"),
        ("ACME", 6, "eu", 1_000_006, "zqx t6"),
        ("acmé", 7, "us", 1_000_007, "zqx t7"),
        ("acme ", 8, "eu", 1_000_008, "zqx t8"),
        (None, 9, "eu", 1_000_009, "zqx t9"),
    ),
    "o": (
        (TENANT, 1, 1, 1, "own o1"),
        (TENANT, 2, 4, 2, "own o2"),
        ("zqx1", 3, 1, 1_000_003, "zqx o3"),
        ("zqx2", 4, 5, 1_000_004, "zqx o4"),
    ),
    "items": (
        (1, 1, 1, "own i1"),
        (2, 2, 2, "own i2"),
        (3, 3, 1_000_003, "zqx i3"),
        (4, 4, 1_000_004, "zqx i4"),
    ),
    "docs": (
        (TENANT, 1, False, "own d1"),
        (TENANT, 2, True, "zqx d2"),
        ("zqx1", 3, False, "zqx d3"),
    ),
    "countries": (("pe", "peru"), ("qa", "qatar"), ("sp", "spain")),
    "vault": ((TENANT, 1, "own v1"), ("zqx1", 2, "zqx v2")),
}
VARIABLES: Final = {
    "tenant": TENANT,
    "tenants": [TENANT],
    "others": [],
    "region": "eu",
    "user_group": {"id": TENANT, "properties": {"region": "eu"}},
}


def declaration(schema: str) -> dict[str, Any]:
    """What the host declares. ``schema``: the one in which the tables are; ``t`` is declared with it and without."""
    tables = {
        "t": "tenant",
        f"{schema}.t": "tenant",
        "o": "tenant",
        "items": {"o_id": "o.id"},
        "docs": "owner = {{ user_group.id }} and not hidden",
        "countries": "shared",
    }
    return {"tables": tables}


def rows(table: str, *, alone: bool) -> list[tuple[Any, ...]]:
    """Everyone's rows, or those that the guard leaves to acme."""
    return [row for row in _ROWS[table] if not alone or not is_foreign(row)]


def is_foreign(cells: Iterable[Any]) -> bool:
    """Whether a cell holds what no row of acme holds."""
    return any(marker in str(cell) for cell in cells for marker in MARKERS)
