"""Schema files: ``schemas/<environment>.json`` in a folder of queries."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final
from urllib.parse import quote, unquote

from tenantry.errors import InvalidPropertySchema
from tenantry.groups.property_schema import PropertySchema
from tenantry.groups.strict_json import read_json_strictly

FOLDER: Final = "schemas"
_MAX_BYTES: Final = 1024 * 1024


def read_schema(path: str | Path) -> PropertySchema:
    """Read a schema file. Raises OSError if it cannot be read, and InvalidPropertySchema, which names the path, if it
    is invalid."""
    with Path(path).open("rb") as stream:
        content = stream.read(_MAX_BYTES + 1)
    if len(content) > _MAX_BYTES:
        raise InvalidPropertySchema(f"{path} is larger than {_MAX_BYTES} bytes")
    try:
        schema = read_json_strictly(content)
        json.dumps(schema, ensure_ascii=False).encode()  # no response can contain a lone surrogate
        return PropertySchema(schema)
    except (ValueError, RecursionError) as error:
        raise InvalidPropertySchema(f"{path} is not JSON: {error}") from None
    except InvalidPropertySchema as error:
        raise InvalidPropertySchema(f"{path}: {error.message}") from None


def schema_file(folder: str | Path, environment: str) -> Path:
    return Path(folder) / FOLDER / f"{quote(environment, safe=' ')}.json"


def read_schemas(folder: str | Path) -> dict[str, PropertySchema]:
    """Read all schema files in the folder, by environment. Raises the errors of ``read_schema``."""
    return {name: read_schema(schema_file(folder, name)) for name in schema_names(folder)}


def schema_names(folder: str | Path) -> list[str]:
    return [unquote(file.stem) for file in sorted((Path(folder) / FOLDER).glob("*.json"))]
