from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from itertools import count
from typing import Any, Final
from uuid import UUID

from tenantry.dashboards.explanation import origin_phrase, reference_origin
from tenantry.datasources import ExplainedQuery
from tenantry.datasources.results import Format, scalar_text
from tenantry.groups import Record
from tenantry.sql import PARAMSTYLES, Query

_TEXT: Final = Format(exact_numbers="text")
_MAX_SAFE: Final = 2**53
_TYPES: Final[Mapping[type, str]] = {
    bool: "boolean",
    int: "integer",
    float: "float",
    Decimal: "decimal",
    str: "text",
    bytes: "bytes",
    datetime: "datetime",
    date: "date",
    time: "time",
    timedelta: "interval",
    UUID: "uuid",
    list: "list",
    tuple: "list",
}


def bound_values(explained: ExplainedQuery, query: Query, variables: Record) -> Iterator[dict[str, Any]]:
    """Yield the placeholder, path, origin, type and value of each parameter."""
    bound, references = explained.traced
    values = bound.params.values() if isinstance(bound.params, dict) else bound.params or ()
    placeholder = PARAMSTYLES[bound.paramstyle].placeholder
    for number, reads, value in zip(count(1), references, values, strict=False):
        origins = [reference_origin(each, query.parameters, variables).as_dict() for each in reads]
        yield {
            "placeholder": placeholder(number),
            "path": ", ".join(dict.fromkeys(each["path"] for each in origins)),
            "origin": "; ".join(dict.fromkeys(map(origin_phrase, origins))),
            "type": next((_TYPES[kind] for kind in type(value).__mro__ if kind in _TYPES), None),
            "value": shown_value(value),
        }


def shown_value(value: Any) -> Any:
    """Return a value for JSON. Decimals, and numbers whose magnitude is at least 2**53, become strings."""
    if isinstance(value, list | tuple):
        return [shown_value(each) for each in value]
    if value is None or isinstance(value, str | bool):
        return value
    if isinstance(value, int | float) and abs(value) < _MAX_SAFE:  # not true for NaN
        return value
    return scalar_text(value, _TEXT)
