"""The HTTP interface ``/api/user`` (SPEC sections 4, 5, 7), its OpenAPI documents, and the two health checks."""

from tenantry.provisioning.http.endpoint import Observer, RequestRecord, not_found
from tenantry.provisioning.http.openapi import openapi_document
from tenantry.provisioning.http.routes import Api, FastRouter, create_api

__all__ = ["Api", "FastRouter", "Observer", "RequestRecord", "create_api", "not_found", "openapi_document"]
