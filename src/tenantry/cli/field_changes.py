from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, TypeAlias

FieldChanges: TypeAlias = dict[str, dict[str, Any]]
"""Maps each changed field, or ``field.entry``, to ``{"from": …, "to": …}``. If an entry is new, ``from`` is missing. If
an entry was removed, ``to`` is missing."""


def field_changes(name: str, before: Any, after: Any) -> FieldChanges:
    """Return the differences between two values of the field ``name``. The order of entries does not matter."""
    if not (isinstance(before, dict) and isinstance(after, dict)):
        return {name: {"from": before, "to": after}} if _json(before) != _json(after) else {}
    found: FieldChanges = {}
    for member in {**before, **after}:
        sides = {"from": before, "to": after}
        change = {side: values[member] for side, values in sides.items() if member in values}
        if len(change) == 1 or _json(change["from"]) != _json(change["to"]):
            found[f"{name}.{member}"] = change
    return found


def changed_line(name: str, fields: FieldChanges) -> str:
    return f"~ {name}  " + "; ".join(f"{field}: {_arrow(change)}" for field, change in fields.items())


def _arrow(change: Mapping[str, Any]) -> str:
    if "to" not in change:
        return "removed"
    return f"{_json(change['from'])} -> {_json(change['to'])}" if "from" in change else f"{_json(change['to'])}, new"


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
