"""JSON text of what templates and renderers hold: Records, lists of rows, dates, exact numbers."""

from __future__ import annotations

import datetime
import json
import math
import uuid
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from jinja2 import Environment, Undefined

from tenantry.errors import UnbindableValue
from tenantry.groups import Record, RecordList, thaw


def to_json(value: Any, *, indent: int | None = None) -> str:
    """The JSON text of a value, with Records and RecordLists anywhere inside it.

    Dates and times are written in ISO 8601, a UUID as text, a Decimal as a number (what charts draw). Raises
    UnbindableValue for a number that JSON does not have (NaN, infinite), TypeError for a type that it does not have.
    """
    try:
        return json.dumps(value, default=_plain, allow_nan=False, ensure_ascii=False, indent=indent)
    except ValueError as error:
        raise UnbindableValue(f"this value has no JSON form: {error}", name="tojson") from None


def install_tojson(environment: Environment) -> None:
    """Let ``|tojson`` of any Jinja environment take Records and RecordLists, anywhere inside a value.

    A function that the environment already writes JSON with goes on writing it, and is given plain dicts and lists.
    """
    earlier: Callable[..., str] | None = environment.policies["json.dumps_function"]

    def dumps(value: Any, **options: Any) -> str:
        if earlier is None:
            return json.dumps(value, **{"default": _plain, **options})
        return earlier(_thaw_within(value), **options)

    environment.policies["json.dumps_function"] = dumps


def _plain(value: Any) -> Any:
    """What ``json`` asks for a value that it cannot write itself."""
    if isinstance(value, Record | RecordList):
        return thaw(value)
    if isinstance(value, Undefined):
        return str(value)  # raises, and names the variable
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    if isinstance(value, Decimal):
        if value.is_finite() and value == value.to_integral_value() and abs(value.adjusted()) < 300:
            return int(value)
        return float(value) if value.is_finite() else math.nan
    if isinstance(value, uuid.UUID):
        return str(value)
    raise TypeError(f"a value of type {type(value).__name__} has no JSON form")


def _thaw_within(value: Any) -> Any:
    if isinstance(value, Record | RecordList):
        return thaw(value)
    if isinstance(value, dict):
        return {name: _thaw_within(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_thaw_within(item) for item in value]
    return str(value) if isinstance(value, Undefined) else value
