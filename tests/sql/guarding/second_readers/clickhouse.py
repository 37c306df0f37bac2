"""ClickHouse: the query tree, in which the analyzer has found what each name means."""

from __future__ import annotations

import re
from typing import Final

from tenantry.sql import BoundSQL
from tests.sql.guarding.attacks.databases import ClickHouseDatabase, Engine, EngineRefused
from tests.sql.guarding.second_readers import Unreadable

_TABLE: Final = re.compile(r"^ *TABLE id: .*table_name: default\.(\S+)$")


class Reader:
    """A CTE that nothing reads is not in the tree, and neither is a query that the analyzer has run already."""

    def __init__(self, engine: Engine) -> None:
        assert isinstance(engine.everyone, ClickHouseDatabase)
        self._database = engine.everyone

    def tables(self, bound: BoundSQL) -> set[str]:
        try:
            tree = self._database.rows(bound._replace(sql=f"explain query tree {bound.sql}"))
        except EngineRefused as error:
            raise Unreadable(str(error)) from error
        return {found[1].lower() for (line,) in tree if (found := _TABLE.match(line))}
