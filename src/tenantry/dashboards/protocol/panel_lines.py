from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import tzinfo
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Final

from tenantry.dashboards.definition.columns import Columns
from tenantry.dashboards.protocol.local_days import with_midnights
from tenantry.datasources.results import (
    DEFAULT_FORMAT,
    Format,
    Result,
    json_row_parts,
    missing_package_message,
    scalar_text,
)
from tenantry.errors import InvalidSettings, QueryFailed

_NOT_ASKED: Final[Mapping[str, Any]] = MappingProxyType({"age": None, "as_of": None, "periods": None})
"""The fields of a panel without a query."""
_MAX_CHOICES: Final = 10_000
"""Maximum choices that a query may give a control."""


def check_encoder() -> None:
    """Raise InvalidSettings if msgspec is not installed."""
    _encoder()


def _encoder() -> Any:
    try:
        import msgspec
    except ImportError:
        raise InvalidSettings(missing_package_message("msgspec", "dashboards")) from None
    return msgspec


def line(document: Mapping[str, Any]) -> bytes:
    encoded: bytes = _encoder().json.encode(document)
    return encoded + b"\n"


def rows_line(
    panel_id: str,
    result: Result,
    named: Columns,
    *,
    zone: tzinfo | None = None,
    about: Mapping[str, Any] = _NOT_ASKED,
    total: int | None = None,
    reduced: bool = False,
    more: Mapping[str, tuple[Result, Columns]] | None = None,
) -> Iterator[bytes | memoryview]:
    """Yield, in parts, the line that holds a panel's rows.

    Arguments:
    - ``about``: further fields, as JSON: ``age`` (seconds since the rows were queried), ``as_of`` (Unix time; the rows
      include all changes that were reported before it), ``now``, ``zone``, ``week_start``, ``unit`` and ``periods``.
    - ``total``: number of rows in the whole table.
    - ``more``: further results, each under the name of its field in the line.
    """
    encode, format_ = _encoder().json.encode, _format(zone)
    yield from _open_object({"panel": panel_id}, result, named, encode, format_)
    for name, (rows, columns) in (more or {}).items():
        yield b"," + encode(name) + b":"
        yield from _open_object({}, rows, columns, encode, format_)
        yield b"}"
    yield b"," + line({"total": total, "reduced": reduced, **about})[1:]


@lru_cache(maxsize=64)
def _format(zone: tzinfo | None) -> Format:
    return Format(zone=zone, exact_numbers="text")  # a page keeps all digits


def _open_object(
    head: Mapping[str, Any], result: Result, named: Columns, encode: Callable[[Any], bytes], format_: Format
) -> Iterator[bytes | memoryview]:
    sent = with_midnights(result if named is None else result.only(named), format_.zone)
    yield encode({**head, "columns": sent.columns})[:-1] + b',"rows":'
    yield from json_row_parts(sent, format_)


def choices_line(control: str, result: Result) -> list[bytes]:
    """The first column of the result has a control's values. If there is a column ``label``, it has the texts to show.
    Raises QueryFailed for too many choices."""
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
