"""DuckDB: the syntax tree of its own parser, by ``json_serialize_sql``."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import duckdb

from tenantry.sql import BoundSQL
from tenantry.sql.dialects import DIALECTS
from tenantry.sql.guarding.safe_functions import safe_table_functions
from tests.sql.guarding.attacks.databases import Engine
from tests.sql.guarding.second_readers import Unreadable

_FUNCTIONS = safe_table_functions(DIALECTS["duckdb"]) or frozenset()


class Reader:
    """A CTE hides a table in the queries after it, in the main query, and in the right arm of its own union."""

    def __init__(self, _: Engine | None = None) -> None:
        self._connection = duckdb.connect()

    def tables(self, bound: BoundSQL) -> set[str]:
        row = self._connection.execute("select json_serialize_sql($1::varchar)::varchar", [bound.sql]).fetchone()
        assert row is not None
        tree = json.loads(row[0])
        if tree.get("error"):
            raise Unreadable(tree["error_message"])
        return set(_tables(tree["statements"], frozenset()))


def _tables(node: Any, visible: frozenset[str]) -> Iterator[str]:
    if isinstance(node, list):
        for each in node:
            yield from _tables(each, visible)
    elif isinstance(node, dict):
        yield from _tables_of(node, visible)


def _tables_of(node: dict[str, Any], visible: frozenset[str]) -> Iterator[str]:
    if node.get("type") == "BASE_TABLE":
        name = node["table_name"].lower()
        if node.get("schema_name") or name not in visible:
            yield name
    if node.get("type") == "TABLE_FUNCTION" and node["function"]["function_name"].lower() not in _FUNCTIONS:
        yield f"{node['function']['function_name']}(…)"  # it may be a macro that reads a table
    if node.get("type") == "RECURSIVE_CTE_NODE":
        name = node["cte_name"].lower()
        yield from _tables(node["left"], visible)
        yield from _tables(node["right"], visible | {name})
        return
    for cte in (node.get("cte_map") or {}).get("map", ()):
        yield from _tables(cte["value"], visible)
        visible |= {cte["key"].lower()}
    for key, value in node.items():
        if key != "cte_map":
            yield from _tables(value, visible)
