from __future__ import annotations

from starlette.routing import BaseRoute

from tenantry.editor.drafts import QueryDrafts
from tenantry.editor.language.catalogues import CatalogueBody, Catalogues
from tenantry.editor.language.checks import CheckBody, Checks
from tenantry.editor.language.compiler import Compiler
from tenantry.editor.language.group_properties import GroupProperties
from tenantry.editor.language.meanings import MeaningBody, Meanings
from tenantry.editor.language.property_schemas import PropertySchemas
from tenantry.editor.language.variables import Variables, VariablesBody
from tenantry.editor.requests import MAX_BODY_OF_TEXTS, EditorEndpoints


def language_routes(endpoints: EditorEndpoints) -> list[BaseRoute]:
    workbench = endpoints.workbench
    compiler = Compiler(QueryDrafts(workbench.folder))
    properties, schemas = GroupProperties(workbench.store), PropertySchemas(workbench.workspace)
    checks = Checks(workbench, compiler, properties, schemas)
    variables = Variables(workbench, compiler, properties, schemas)
    catalogues, meanings = Catalogues(workbench), Meanings(workbench, compiler)
    post, large = endpoints.post, MAX_BODY_OF_TEXTS
    return [
        post("/-/check", CheckBody, checks.respond, max_bytes=large),
        post("/-/variables", VariablesBody, variables.respond, max_bytes=large),
        post("/-/catalogue", CatalogueBody, catalogues.respond),
        post("/-/meaning", MeaningBody, meanings.respond, max_bytes=large),
    ]
