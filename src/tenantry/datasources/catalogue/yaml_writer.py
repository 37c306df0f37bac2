from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

_PLAIN: Final = re.compile(r"[A-Za-z_][\w.]*(?: [\w.]+)*", re.ASCII)
_READ_OTHERWISE: Final = frozenset({"null", "true", "false", "yes", "no", "on", "off", "y", "n"})


def tables_yaml(declaration: Mapping[str, Any]) -> str:
    """Write ``tables.yaml`` as an author would. ``declaration`` has the form of ``GuardedTables.as_json``."""
    return "".join(f"{line}\n" for line in _lines(declaration))


def _lines(declaration: Mapping[str, Any]) -> Iterator[str]:
    # First guard, then tables, then the other keys.
    for key in sorted(declaration, key=lambda key: (key != "guard", key != "tables", key)):
        value = declaration[key]
        if isinstance(value, Mapping) and value:
            yield f"{flow_yaml(key)}:"
            yield from (f"  {flow_yaml(name)}: {flow_yaml(entry)}" for name, entry in value.items())
        else:
            yield f"{flow_yaml(key)}: {flow_yaml(value)}"


def flow_yaml(value: Any) -> str:
    """Return YAML on one line, with quotes only where YAML needs them."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{flow_yaml(key)}: {flow_yaml(each)}" for key, each in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(flow_yaml, value)) + "]"
    if isinstance(value, str) and _PLAIN.fullmatch(value) and value.lower() not in _READ_OTHERWISE:
        return value
    return json.dumps(value, ensure_ascii=isinstance(value, str) and not value.isprintable())
