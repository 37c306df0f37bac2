from __future__ import annotations

from starlette.routing import BaseRoute

from tenantry.editor.requests import EditorEndpoints


def run_routes(endpoints: EditorEndpoints) -> list[BaseRoute]:
    return []
