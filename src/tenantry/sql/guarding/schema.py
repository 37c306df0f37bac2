from __future__ import annotations

from typing import Any

from tenantry.sql.guarding.names import COLUMN_PATH, NAME, PATH
from tenantry.sql.guarding.read_declaration import FUNCTION, VALUE


def tables_schema() -> dict[str, Any]:
    """Return the JSON Schema of ``tables.yaml`` and of the values for ``read_tables``."""
    values = {"type": "string", "anyOf": [{"pattern": _whole(VALUE.pattern)}, {"pattern": _whole(COLUMN_PATH.pattern)}]}
    columns = {
        "type": "object",
        "description": "The value of each column: a value or list of the group, or a column of the parent table.",
        "minProperties": 1,
        "propertyNames": {"pattern": _whole(NAME.pattern)},
        "additionalProperties": values,
    }
    rule = {"type": "string", "minLength": 1, "description": "`shared`, the column of the group's id, or a condition."}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Guarded tables",
        "type": "object",
        "properties": {
            "tables": {
                "type": "object",
                "description": "Each table that queries may read, and the rule for the rows of a group.",
                "propertyNames": {"pattern": _whole(PATH.pattern)},
                "additionalProperties": {"anyOf": [rule, columns]},
            },
            "functions": {
                "type": "array",
                "description": "Functions of the database that read no table.",
                "items": {"type": "string", "pattern": _whole(FUNCTION.pattern)},
            },
            "guard": {"const": "required", "description": "The tables are always guarded."},
        },
        "additionalProperties": False,
    }


def _whole(pattern: str) -> str:
    return f"^(?:{pattern})$"
