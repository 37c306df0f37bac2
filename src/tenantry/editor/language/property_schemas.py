from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from tenantry.editor.workspace import Workspace
from tenantry.errors import InvalidPropertySchema
from tenantry.groups import PropertySchema, read_schema, schema_file


def find_schema(workspace: Workspace, environment: str | None) -> PropertySchema | None:
    """Return the property schema of an environment in a folder of the workspace, or None if no schema can be read."""
    for folder in (workspace.queries, workspace.dashboards) if environment is not None else ():
        file = schema_file(folder, environment or "")
        if workspace.link_in(file) is not None:
            continue
        try:
            state = file.stat()
            return _read(file, state.st_mtime_ns, state.st_size)
        except (OSError, InvalidPropertySchema):
            continue
    return None


@lru_cache(maxsize=64)
def _read(file: Path, *_state: int) -> PropertySchema:
    return read_schema(file)
