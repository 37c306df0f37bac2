"""The OpenAPI documents of the interface, made from the models that validate it and from the errors that it gives."""

from tenantry.api.openapi.document import openapi_document

__all__ = ["openapi_document"]
