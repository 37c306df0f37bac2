"""The guarded tables of a registered data source."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from tenantry.errors import InvalidSource, TemplateError
from tenantry.groups import RegisteredSource
from tenantry.sql import SQLTemplate

if TYPE_CHECKING:
    from tenantry.sql.guarding import GuardedTables

_VALUE: Final = re.compile(r"(\bin\s+)?(?:'\{\{[^{}]*\}\}'|\{\{[^{}]*\}\})")


def declared_tables(source: RegisteredSource) -> GuardedTables | None:
    """Return the source's guarded tables; None without a declaration. Raises InvalidSource for one that this process
    cannot use."""
    return _read(source.tables) if source.tables else None


@lru_cache(maxsize=256)
def _read(declaration: str) -> GuardedTables:
    from tenantry.sql.guarding import read_tables  # slow to import

    try:
        return read_tables(json.loads(declaration))
    except (TemplateError, ValueError) as error:
        raise InvalidSource(f"the guarded tables of the data source cannot be used: {error}", field="/tables") from None


def column_queries(tables: GuardedTables, dialect: str) -> Iterator[tuple[str, SQLTemplate]]:
    """Yield each guarded table with a query of no rows that fails for a wrong name in its condition. All values are
    null, so that the query needs no group. Raises InvalidSource for a condition that is not SQL of the dialect."""
    try:
        for query in tables.proof_queries(dialect):
            for guard in query.guards():
                sql = _VALUE.sub(lambda found: f"{found[1]}(null)" if found[1] else "null", guard.replacement)
                yield guard.table, SQLTemplate(f"select 1 as proved from {sql} where 1 = 0", dialect)  # noqa: S608
    except TemplateError as error:
        raise InvalidSource(error.message, field="/tables") from None
