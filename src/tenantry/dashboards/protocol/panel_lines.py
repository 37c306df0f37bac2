from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, time, tzinfo
from functools import cache, lru_cache
from itertools import chain
from typing import Any, Final

from tenantry.dashboards.definition.columns import Columns
from tenantry.datasources.results import (
    DEFAULT_FORMAT,
    Format,
    Result,
    json_row_parts,
    missing_package_message,
    scalar_text,
)
from tenantry.errors import InvalidSettings, QueryFailed

_NO_QUERY: Final[Mapping[str, Any]] = {"total": None, "reduced": False, "age": None, "as_of": None, "periods": None}
"""The fields of a panel without a query."""
_NOTHING: Final[Mapping[str, Any]] = {}
_MAX_CHOICES: Final = 10_000
"""Maximum number of choices that a query may give a control."""


def check_encoder() -> None:
    """Raise InvalidSettings if msgspec is not installed."""
    _encoder()


@cache
def _encoder() -> Callable[[Any], bytes]:
    try:
        import msgspec
    except ImportError:
        raise InvalidSettings(missing_package_message("msgspec", "dashboards")) from None
    return msgspec.json.encode


def line(document: Mapping[str, Any]) -> bytes:
    return _encoder()(document) + b"\n"


def rows_line(
    panel_id: str,
    result: Result,
    named: Columns,
    zone: tzinfo | None = None,
    about: Mapping[str, Any] = _NO_QUERY,
    more: Mapping[str, tuple[Result, Columns]] = _NOTHING,
) -> Iterable[bytes | memoryview]:
    """Return the parts of the line that holds a panel's rows.

    Arguments:
    - ``about``: further fields, as JSON: ``age`` (seconds since the rows were queried), ``as_of`` (Unix time; the rows
      include all changes that were reported before it), ``now``, ``zone``, ``week_start``, ``unit``, ``periods``,
      ``total`` (number of rows in the whole table) and ``reduced``.
    - ``more``: further results, each under the name of its field in the line.
    """
    format_ = _format(zone)
    objects = [_open_object({"panel": panel_id}, result, named, format_)]
    for name, (rows, columns) in more.items():
        objects += [(b"," + _encoder()(name) + b":",), _open_object({}, rows, columns, format_), (b"}",)]
    return chain(*objects, (b"," + line(about)[1:],))


@lru_cache(maxsize=64)
def _format(zone: tzinfo | None) -> Format:
    return Format(zone=zone, exact_numbers="text")  # a page keeps all digits


def _open_object(
    head: Mapping[str, Any], result: Result, named: Columns, format_: Format
) -> Iterable[bytes | memoryview]:
    sent = with_midnights(result if named is None else result.only(named), format_.zone)
    opening = _encoder()({**head, "columns": sent.columns})[:-1] + b',"rows":'
    return chain((opening,), json_row_parts(sent, format_))


def choices_line(control: str, result: Result) -> list[bytes]:
    """Return the line of a control's choices. The result's first column has the values; a column ``label`` has the
    texts to show. Raises QueryFailed for too many choices."""
    if len(result) > _MAX_CHOICES:
        raise QueryFailed(f"a query for choices may return at most {_MAX_CHOICES} rows")
    label = result.names.index("label") if "label" in result.names else 0
    values = [
        {
            "value": scalar_text(row[0], DEFAULT_FORMAT),
            "label": scalar_text(row[0] if row[label] is None else row[label], DEFAULT_FORMAT),
        }
        for row in result.rows
        if row[0] is not None
    ]
    return [line({"choices": control, "values": values})]


def error_line(kind: str, name: str, error: Mapping[str, str], as_of: float) -> bytes:
    return line({kind: name, "error": error, "as_of": as_of})


def with_midnights(result: Result, zone: tzinfo | None) -> Result:
    """In columns whose values all begin a day in ``zone``, write each value as midnight.

    For example, in São Paulo, 2018-11-04 began at 01:00. The value ``2018-11-04T01:00:00-02:00`` becomes
    ``2018-11-04T00:00:00-03:00``, the same instant.
    """
    # With the original values, a column of days would look like a column of hours.
    if zone is None:
        return result
    changed = {}
    for position, column in enumerate(result.columns):
        if column.type == "datetime" and (days := _days([row[position] for row in result.rows], zone)):
            changed[position] = days
    if not changed:
        return result
    rows = [
        tuple(changed[position][number] if position in changed else value for position, value in enumerate(row))
        for number, row in enumerate(result.rows)
    ]
    return replace(result, rows=rows)


def _days(values: Sequence[Any], zone: tzinfo) -> list[datetime | None] | None:
    """Return the midnights, or None if a value does not begin a day or no value would change."""
    found: list[datetime | None] = []
    is_late = False
    for value in values:
        if value is None:
            found.append(None)
            continue
        if not isinstance(value, datetime) or value.tzinfo is None:
            return None
        try:
            local = value.astimezone(zone)
            midnight = datetime.combine(local.date(), time(), zone)
            if midnight.astimezone(UTC) != value.astimezone(UTC):
                return None
        except OverflowError:  # the first or the last day of the calendar
            return None
        is_late = is_late or local.time() != time()
        found.append(midnight)
    return found if is_late else None
