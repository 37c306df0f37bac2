from __future__ import annotations

from typing import Any, Final

from tenantry.datasources.pages import PLAIN_NAME, QUOTES
from tenantry.datasources.results import Result
from tenantry.datasources.wrapped_templates import WrappedTemplate, select_around
from tenantry.errors import InvalidSettings
from tenantry.sql import BoundSQL, SQLTemplate

MOST_NAMES: Final = 500


class SeriesNames(WrappedTemplate):
    """Selects the different values of one column of a template, but at most ``MOST_NAMES`` + 1."""

    def __init__(self, template: SQLTemplate, column: str) -> None:
        super().__init__(template)
        self._column = column

    def wrap(self, bound: BoundSQL) -> BoundSQL:
        """Raises InvalidSettings for a dialect without known quotation marks, or a column name that needs escapes."""
        quote = QUOTES.get(bound.dialect)
        if quote is None or not PLAIN_NAME.fullmatch(self._column):
            raise InvalidSettings(f"{bound.dialect}: the names in this column cannot be listed")
        name = f"{quote}{self._column}{quote}"
        limit = f" where {name} is not null limit {MOST_NAMES + 1}"
        return select_around(bound, f"select distinct {name} as name", lambda _: limit)


def names_in(found: Result | None) -> frozenset[str] | None:
    """Return the values as a dashboard's page writes them. Return None if ``found`` is None, has no rows or has too
    many."""
    if found is None or not found.rows or len(found.rows) > MOST_NAMES:
        return None
    return frozenset(_key(row[0]) for row in found.rows)


def _key(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return repr(value).removesuffix(".0") if isinstance(value, float) else str(value)
