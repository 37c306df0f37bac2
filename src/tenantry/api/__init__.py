"""The HTTP interface ``/api/user`` (SPEC sections 4, 5, 7), its OpenAPI documents, and the two health checks."""

from tenantry.api.door import not_found
from tenantry.api.openapi import openapi_document
from tenantry.api.routes import Api, create_api
from tenantry.api.visit import Observer, Served

__all__ = ["Api", "Observer", "Served", "create_api", "not_found", "openapi_document"]
