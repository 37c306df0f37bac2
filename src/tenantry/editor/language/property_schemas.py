from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from tenantry.editor.workspace import Workspace
from tenantry.errors import InvalidPropertySchema
from tenantry.groups import PropertySchema, read_schema, schema_file


class PropertySchemas:
    """Finds the property schema of an environment in the folders of a workspace."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def find(self, environment: str | None) -> PropertySchema | None:
        """Return the schema of an environment, or None if no schema can be read."""
        for folder in (self._workspace.queries, self._workspace.dashboards) if environment is not None else ():
            file = schema_file(folder, environment or "")
            if self._workspace.link_in(file) is not None:
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
