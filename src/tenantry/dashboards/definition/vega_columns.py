from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

_ANYWHERE: Final = frozenset({"field", "fields", "groupby", "argmax", "argmin"})
"""Keys whose strings name fields, anywhere in a specification."""
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
        "stack",
    }
)
"""Keys whose strings name fields inside ``transform``, but not elsewhere."""
_LABELS: Final = "labelExpr"
"""Key of an expression for axis labels, in which ``datum`` is a label and not a row."""
_VARIABLE: Final = r"\\{\{|\{\{(?:(?!\}\}).)*\}\}"
r"""``{{ path }}``, or an escaped ``\{{``."""
_OTHER: Final = r"\{(?!\{)|\\(?!\{\{)."
"""One brace, or an escape. No string matches two alternatives of ``_DATUM``, so that matching takes linear time."""
_DATUM: Final = re.compile(
    rf"""\bdatum\s*(?:\.\s*((?:{_VARIABLE}|[\w$])+)"""
    rf"""|\[\s*(?:'((?:{_VARIABLE}|{_OTHER}|[^'\\{{])*)'|"((?:{_VARIABLE}|{_OTHER}|[^"\\{{])*)")\s*\])"""
)
_FIRST_STEP: Final = re.compile(r"""\[\s*(['"]?)(.*?)\1\s*\]|((?:\\.|[^.\[\]\\])+)""")
_ESCAPED: Final = re.compile(r"\\(?!\{\{)(.)")


def vega_expression_columns(specification: Any) -> Iterator[str]:
    """Yield each NAME in ``datum.NAME`` or ``datum['NAME']``. Computed names are left out."""
    if isinstance(specification, str):
        for plain, single, double in _DATUM.findall(specification):
            yield plain or _unescaped(single or double)
    elif isinstance(specification, list):
        for each in specification:
            yield from vega_expression_columns(each)
    elif isinstance(specification, dict):
        for key, value in specification.items():
            if key != _LABELS:
                yield from vega_expression_columns(value)


def vega_fields(specification: Any, *, in_transform: bool = False) -> Iterator[str]:
    """Yield the names of fields in a specification whose variables are replaced."""
    if isinstance(specification, list):
        for each in specification:
            yield from vega_fields(each, in_transform=in_transform)
    elif isinstance(specification, dict):
        for key, value in specification.items():
            yield from vega_fields(value, in_transform=in_transform or key == "transform")
            if key in _ANYWHERE or (in_transform and _is_field_of_transform(key, specification)):
                yield from _fields(value)
            elif key == "repeat":
                yield from (name for each in _lists(value) for name in _fields(each))


def is_field(pointer: str) -> bool:
    """Whether a string at this JSON pointer of a Vega specification can name a column."""
    keys = [key for key in pointer.split("/")[1:] if not key.isdecimal()]
    named = _ANYWHERE | (_IN_TRANSFORMS | {"value"} if "transform" in keys else set())
    return not named.isdisjoint(keys[-1:]) or "repeat" in keys


def _is_field_of_transform(key: str, entry: dict[str, Any]) -> bool:
    return key in _IN_TRANSFORMS or (key == "value" and "pivot" in entry)


def _fields(value: Any) -> Iterator[str]:
    for each in value if isinstance(value, list) else [value]:
        if isinstance(each, str) and (step := _FIRST_STEP.match(each)) is not None:
            yield _unescaped(step[2] or step[3] or "")


def _lists(value: Any) -> list[Any]:
    return [each for each in (value.values() if isinstance(value, dict) else [value]) if isinstance(each, list)]


def _unescaped(text: str) -> str:
    return _ESCAPED.sub(r"\1", text)
