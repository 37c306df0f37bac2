"""PostgreSQL: the tree of the server's own parser, by pglast."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pglast import ast, parse_sql
from pglast.parser import ParseError

from tenantry.sql import BoundSQL
from tests.sql.guarding.attacks.databases import Engine
from tests.sql.guarding.second_readers import Unreadable


class Reader:
    """A CTE hides a table in the queries after it and in the main query; with ``recursive``, in all of them, also in
    itself. A name with a schema is never a CTE."""

    def __init__(self, _: Engine | None = None) -> None:
        """It needs no server."""

    def tables(self, bound: BoundSQL) -> set[str]:
        try:
            statements = parse_sql(bound.sql)
        except ParseError as error:
            raise Unreadable(str(error)) from error
        return set(_tables(statements, frozenset()))


def _tables(node: Any, visible: frozenset[str]) -> Iterator[str]:
    if isinstance(node, tuple):
        for each in node:
            yield from _tables(each, visible)
        return
    if not isinstance(node, ast.Node):
        return
    if isinstance(node, ast.RangeVar):
        if node.schemaname or node.relname not in visible:
            yield node.relname
        return
    clause = getattr(node, "withClause", None)
    if clause is not None:
        names = [cte.ctename for cte in clause.ctes]
        if clause.recursive:
            visible |= set(names)
        for cte in clause.ctes:
            yield from _tables(cte.ctequery, visible)
            visible |= {cte.ctename}
    for name in node:
        if name != "withClause":
            yield from _tables(getattr(node, name), visible)
