"""ReducedTemplate: the rows of a query that a plot shows, chosen by the engine, in a select around the author's.

Rows lie in so many columns of the plot, and of each series and column the first is kept, the last, for each measure
those with the least and the greatest value, and the first without a value: as ``dashboards/charts/reduction.py`` does.
Both find a row's column by the same steps in floating point, so both keep the same rows.

The engine numbers the rows in the order in which the author's select gives them, which PostgreSQL and DuckDB keep.
MariaDB drops the order of a subquery; SQLite would take longer than it takes to read the rows.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from tenantry.datasources.results import Result
from tenantry.datasources.wrapped.no_rows import NoRowsTemplate
from tenantry.datasources.wrapped.outer_select import BindValue, select_around
from tenantry.datasources.wrapped.wrapped_template import WrappedTemplate
from tenantry.errors import InvalidSettings
from tenantry.sql import BoundSQL, SQLTemplate

_PARAMSTYLE: Final = "numeric_dollar"
"""That of the drivers here: no name and no cast of this select has anything that one takes for a placeholder."""
_PLAIN: Final = re.compile(r'[^"\\\x00-\x1f]+')
"""Names that need nothing but quotes."""
_OWN: Final = "tenantry_"
_NUMBER: Final = "{}::float8"
_POSITIONS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("integer", "float", "decimal"), _NUMBER),
    "datetime": "date_part('epoch', {})",
    "date": "({} - date '1970-01-01')::float8",
}
"""Where a value lies on the axis, by the type of its column."""
_THERE: Final[Mapping[tuple[str, str], str]] = {
    ("postgresql", "integer"): "{} is not null",
    ("postgresql", "float"): "{} <> 'NaN'::float8",
    ("postgresql", "decimal"): "{} <> 'NaN'::numeric",
    ("duckdb", "integer"): "{} is not null",
    ("duckdb", "float"): "{} <> 'NaN'::float8",
    ("duckdb", "decimal"): "{} is not null",
}
"""Whether a measure has a value, by the dialect and the type of its column. NULL is no answer but false."""
_SERIES: Final[Mapping[tuple[str, str], str]] = {
    ("postgresql", "text"): '{}::text collate "C"',  # else equal texts may differ: upper and lower case
    ("duckdb", "text"): "encode({}::varchar)",
}
"""What tells series apart, where it is not the column as it is."""
_WHOLE: Final = ("integer", "boolean", "date", "datetime", "uuid")
_PAIRS: Final[Mapping[str, str]] = {"postgresql": "array[{}, {}]", "duckdb": "row({}, {})"}
"""Two values that are compared in their order."""


class ColumnTypesTemplate(NoRowsTemplate):
    """A template that gives the types of another one's columns, and no rows. ``bind`` raises InvalidSettings on a
    dialect whose engine does not reduce: nothing is asked there."""

    def wrap(self, bound: BoundSQL) -> BoundSQL:
        """Around the bound text."""
        _check_dialect(bound)
        return super().wrap(bound)


class ReducedTemplate(WrappedTemplate):
    """A template that gives the rows of another one that a plot shows; ``reduced_answer`` reads what it gives.

    ``types``: of the author's columns, each the word that a Result has for it. The plot has so many ``columns``, and
    draws ``measures`` over ``by``, with a series for each value of ``color``. ``bind`` raises InvalidSettings for types
    that no engine here reduces by.
    """

    def __init__(
        self,
        template: SQLTemplate,
        types: Mapping[str, str | None],
        *,
        by: str,
        measures: Sequence[str],
        color: str | None,
        columns: int,
    ) -> None:
        super().__init__(template)
        self._types = types
        self._by = by
        self._measures = measures
        self._color = color
        self._columns = columns

    def wrap(self, bound: BoundSQL) -> BoundSQL:
        """Around the bound text."""
        _check_dialect(bound)
        _check_names(self._types)
        position = self._expression(_POSITIONS.get, self._by)
        return select_around(
            bound,
            "with tenantry_rows as materialized (\n"
            f"select row_number() over () as tenantry_row, {position} as tenantry_position, tenantry_inner.*",
            lambda bind: self._clauses(bound.dialect, bind),
        )

    def _clauses(self, dialect: str, bind: BindValue) -> str:
        """Rows that are fewer than the columns have a column each, whatever their order. ``tenantry_backward`` is there
        when the rows of a series go back to a column that they have left: then there is no row but one of NULLs."""
        count = self._columns
        series = self._series(dialect)
        color, apart = (f", {series} as tenantry_series", "partition by tenantry_series ") if series else ("", "")
        chosen = [*self._chosen(dialect)]
        marks = "".join(f", {each} as tenantry_mark_{number}" for number, each in enumerate(chosen))
        numbers = "".join(f", tenantry_mark_{number}" for number in range(len(chosen)))
        own = ", ".join(f"tenantry_kept.{_quoted(name)}" for name in self._types)
        return f"""),
tenantry_ends as materialized (
select min(tenantry_position) as low, max(tenantry_position) as high,
count(tenantry_position) as with_position, count(*) as total
from tenantry_rows),
tenantry_columns as materialized (
select case when total <= {bind(count)} then tenantry_row else least(floor(
(tenantry_position - low) * {bind(count)}::float8 / nullif(high - low, 0)), {bind(count - 1)}::float8)::bigint
end as tenantry_column{color},
min(tenantry_row) as tenantry_first, max(tenantry_row) as tenantry_last{marks}
from tenantry_rows, tenantry_ends
where total <= {bind(count)} or (with_position = total and low > '-Infinity'::float8 and high < 'Infinity'::float8)
group by 1{", 2" if series else ""}),
tenantry_backward as (
select 1 from (
select tenantry_first < lag(tenantry_last) over ({apart}order by tenantry_column) as is_back from tenantry_columns
) tenantry_steps where is_back),
tenantry_marks as (
select unnest(array[tenantry_first, tenantry_last{numbers}]) as tenantry_mark from tenantry_columns
where not exists (select 1 from tenantry_backward))
select {own}, total as tenantry_total from tenantry_ends left join (
select * from tenantry_rows where tenantry_row in (select tenantry_mark from tenantry_marks)
) tenantry_kept on true order by tenantry_kept.tenantry_row"""  # noqa: S608  # names are quoted, values are bound

    def _series(self, dialect: str) -> str | None:
        color = self._color
        if color is None:
            return None
        return self._expression(lambda word: _SERIES.get((dialect, word)) or ("{}" if word in _WHOLE else None), color)

    def _chosen(self, dialect: str) -> Iterator[str]:
        """The numbers of the rows that are kept for the measures, of each series and column of the plot."""
        pair = _PAIRS[dialect]
        for name in self._measures:
            there = self._expression(lambda word: _THERE.get((dialect, word)), name)
            value = _quoted(name)
            least, greatest = pair.format(value, "tenantry_row"), pair.format(value, "-tenantry_row")
            yield f"(min({least}) filter (where {there}))[2]::bigint"
            yield f"-(max({greatest}) filter (where {there}))[2]::bigint"
            yield f"min(tenantry_row) filter (where ({there}) is not true)"

    def _expression(self, find: Callable[[str], str | None], name: str) -> str:
        text = find(self._types.get(name) or "")
        if text is None:
            raise InvalidSettings(f"the engine does not reduce by a column of the type {self._types.get(name)}")
        return text.format(_quoted(name))


def _quoted(name: str) -> str:
    return f'"{name}"'


def _check_dialect(bound: BoundSQL) -> None:
    if bound.dialect not in _PAIRS or bound.paramstyle != _PARAMSTYLE:
        raise InvalidSettings(f"rows are not reduced on {bound.dialect}; they are on {', '.join(_PAIRS)}")


def _check_names(names: Mapping[str, str | None]) -> None:
    for name in names:
        if not _PLAIN.fullmatch(name) or name.casefold().startswith(_OWN):
            raise InvalidSettings(f"the engine reduces no rows with a column of the name {name!r}")


def reduced_answer(result: Result) -> Result:
    """The author's columns of what a ReducedTemplate gives; without any column where the rows have another order than
    that of the axis, or do not all have a position on it."""
    total = result.rows[0][-1]
    if len(result) == 1 and total > 1:
        return Result((), ())
    rows = [row[:-1] for row in result.rows] if total else []
    types = None if result.types is None else result.types[:-1]
    return replace(result, names=result.names[:-1], rows=rows, types=types)
