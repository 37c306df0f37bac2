"""The columns that a Vega-Lite specification names: its fields, and ``datum.NAME`` in its expressions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

_ANYWHERE: Final = frozenset({"field", "fields", "groupby", "argmax", "argmin"})
"""Keys whose texts are fields, wherever they are."""
_IN_TRANSFORMS: Final = frozenset(
    {
        "density",
        "extent",
        "flatten",
        "fold",
        "impute",
        "key",
        "loess",
        "lookup",
        "on",
        "pivot",
        "quantile",
        "regression",
    }
    | {"stack"}
)
"""The same in an entry of ``transform``: elsewhere they hold other words."""
_LABELS: Final = "labelExpr"
"""An expression over the labels of an axis, where ``datum`` is no row."""
_DATUM: Final = re.compile(r"""\bdatum\s*(?:\.\s*([\w$]+)|\[\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)")\s*\])""")
_FIRST_STEP: Final = re.compile(r"""\[\s*(['"]?)(.*?)\1\s*\]|((?:\\.|[^.\[\]\\])+)""")
_ESCAPED: Final = re.compile(r"\\(.)")


def vega_columns(specification: Any, *, in_transform: bool = False) -> Iterator[str]:
    """Every name, each as often as it is there. A column that only a computed name reads, as ``datum[p]`` does, is not
    among them."""
    if isinstance(specification, str):
        for plain, single, double in _DATUM.findall(specification):
            yield plain or _unescaped(single or double)
    elif isinstance(specification, list):
        for each in specification:
            yield from vega_columns(each, in_transform=in_transform)
    elif isinstance(specification, dict):
        for key, value in specification.items():
            if key == _LABELS:
                continue
            yield from vega_columns(value, in_transform=in_transform or key == "transform")
            if key in _ANYWHERE or (in_transform and _is_field_of_transform(key, specification)):
                yield from _fields(value)
            elif key == "repeat":
                yield from (name for each in _lists(value) for name in _fields(each))


def _is_field_of_transform(key: str, entry: dict[str, Any]) -> bool:
    return key in _IN_TRANSFORMS or (key == "value" and "pivot" in entry)


def _fields(value: Any) -> Iterator[str]:
    """The columns of a field or of several: a path begins with its column, as ``place.city`` with ``place``."""
    for each in value if isinstance(value, list) else [value]:
        if isinstance(each, str) and (step := _FIRST_STEP.match(each)) is not None:
            yield _unescaped(step[2] or step[3] or "")


def _lists(value: Any) -> list[Any]:
    """Those of ``repeat``: one, or one for each direction. In ``field: {repeat: row}`` it is a word."""
    return [each for each in (value.values() if isinstance(value, dict) else [value]) if isinstance(each, list)]


def _unescaped(text: str) -> str:
    return _ESCAPED.sub(r"\1", text)
