from __future__ import annotations

from starlette.routing import BaseRoute

from tenantry.editor.requests import EditorEndpoints


def file_routes(endpoints: EditorEndpoints) -> list[BaseRoute]:
    return []
