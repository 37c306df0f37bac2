"""DuckDB: the syntax tree of its own parser, by ``json_serialize_sql``."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from tenantry.sql import BoundSQL
from tests.sql.guarding.attacks.databases import DuckDBDatabase, Engine
from tests.sql.guarding.second_readers import Unreadable


class Reader:
    """A CTE hides a table in the queries after it, in the main query, and in the right arm of its own union."""

    def __init__(self, engine: Engine) -> None:
        assert isinstance(engine.everyone, DuckDBDatabase)
        self._connection = engine.everyone.connection

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
