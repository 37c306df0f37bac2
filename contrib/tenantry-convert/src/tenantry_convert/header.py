"""The header of a ``.sql`` file: YAML in flow style, which is JSON, in the first comment."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_NOT_PLAIN = {"true", "false", "null", "yes", "no", "on", "off", "y", "n", "none", "nan", "inf"}


def write_header(*, title: str, description: str, dialect: str, params: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the comment, from ``/* ---`` to ``--- */`` and a line break."""
    lines = ["/* ---", f"title: {_scalar(title)}"]
    if description:
        lines.append(f"description: {_scalar(description)}")
    lines.append(f"dialect: {dialect}")
    if params:
        lines.append("params:")
        lines += [f"  {name}: {_mapping(definition)}" for name, definition in params.items()]
    return "\n".join([*lines, "--- */"]) + "\n"


def _mapping(definition: Mapping[str, Any]) -> str:
    return "{" + ", ".join(f"{name}: {_value(value)}" for name, value in definition.items()) + "}"


def _value(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_scalar(str(name))}: {_value(each)}" for name, each in value.items()) + "}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_value, value))}]"
    return _scalar(value)


def _scalar(value: Any) -> str:
    if isinstance(value, str):
        if _PLAIN.fullmatch(value) and value.lower() not in _NOT_PLAIN:
            return value
        # The header is a comment, so it must not contain the marks of a comment.
        return json.dumps(value).replace("*/", r"*\u002f").replace("/*", r"/\u002a")
    return json.dumps(value)
