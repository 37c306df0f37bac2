from __future__ import annotations

from starlette.responses import Response
from starlette.routing import BaseRoute

from tenantry.editor.drafts import QueryDrafts
from tenantry.editor.language.catalogues import CatalogueBody, Catalogues
from tenantry.editor.language.checks import CheckBody, Checks
from tenantry.editor.language.compiler import Compiler
from tenantry.editor.language.group_properties import GroupProperties
from tenantry.editor.language.meanings import MeaningBody, Meanings
from tenantry.editor.language.variables import Variables, VariablesBody
from tenantry.editor.requests import MAX_BODY_OF_TEXTS, Body, EditorEndpoints, EditorRequest, Handler
from tenantry.http import while_connected


def language_routes(endpoints: EditorEndpoints, queries: QueryDrafts) -> list[BaseRoute]:
    workbench = endpoints.workbench
    compiler = Compiler(queries)
    properties, catalogues = GroupProperties(workbench.store), Catalogues(workbench)
    checks = Checks(workbench, compiler, properties, catalogues)
    meanings, variables = Meanings(workbench, compiler), Variables(workbench, compiler, properties)
    post, large = endpoints.post, MAX_BODY_OF_TEXTS
    return [
        post("/-/check", CheckBody, _while_connected(checks.respond), max_bytes=large),
        post("/-/variables", VariablesBody, _while_connected(variables.respond), max_bytes=large),
        post("/-/catalogue", CatalogueBody, _while_connected(catalogues.respond)),
        post("/-/meaning", MeaningBody, _while_connected(meanings.respond), max_bytes=large),
    ]


def _while_connected(handler: Handler[Body]) -> Handler[Body]:
    """Stop the handler when the page cancels the request, for example after the next keystroke."""

    async def respond(asked: EditorRequest[Body]) -> Response:
        async with while_connected(asked.request):
            return await handler(asked)

    return respond
