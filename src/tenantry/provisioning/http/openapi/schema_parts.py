from __future__ import annotations

from typing import Any, Final

JsonObject = dict[str, Any]

REFERENCE: Final = "#/components/schemas/{model}"
SUCCESS: Final[JsonObject] = {"type": "integer", "const": 1}


def reference(name: str) -> JsonObject:
    return {"$ref": REFERENCE.format(model=name)}


def closed(fields: JsonObject, *, optional: tuple[str, ...] = (), about: str = "") -> JsonObject:
    return {
        "type": "object",
        **({"description": about} if about else {}),
        "required": [name for name in fields if name not in optional],
        "properties": fields,
        "additionalProperties": False,
    }
