from __future__ import annotations

from collections.abc import Sequence

from tenantry.datasources.pages import PLAIN_NAME, QUOTES
from tenantry.datasources.wrapped_templates import WrappedTemplate, select_around
from tenantry.errors import InvalidSettings
from tenantry.sql import BoundSQL, SQLTemplate


class RepeatedRows(WrappedTemplate):
    """Finds a combination of values that several rows have in the columns ``names``, and selects the number of these
    rows. If no combination repeats, selects no row."""

    # Rows without a value in the first column are ignored.

    def __init__(self, template: SQLTemplate, names: Sequence[str]) -> None:
        super().__init__(template)
        self._names = names

    def wrap(self, bound: BoundSQL) -> BoundSQL:
        """Return the query that counts. Raises InvalidSettings for a dialect whose quotation marks are not known, and
        for a column name that needs escapes."""
        quote = QUOTES.get(bound.dialect)
        if quote is None or not all(map(PLAIN_NAME.fullmatch, self._names)):
            raise InvalidSettings(
                f"cannot count rows with equal values in the columns {', '.join(self._names)}: the dialect must be one "
                f"of {', '.join(QUOTES)} (it is {bound.dialect}), and column names may contain only ASCII letters, "
                "digits and _, and must not begin with a digit"
            )
        names = [f"{quote}{name}{quote}" for name in self._names]
        grouped = f" where {names[0]} is not null group by {', '.join(names)} having count(*) > 1 limit 1"
        return select_around(bound, "select count(*) as repeated", lambda _: grouped)
