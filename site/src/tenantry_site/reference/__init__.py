"""The API reference of a site, from OpenAPI documents and from pages that describe an endpoint themselves.

``read_documents`` reads the OpenAPI documents of a site. ``ApiPages`` renders the operations that pages name in their
front matter.
"""

from tenantry_site.reference.endpoints import server_urls
from tenantry_site.reference.json_ref import CODES
from tenantry_site.reference.operation import Operation
from tenantry_site.reference.operation_lookup import Reference, read_documents
from tenantry_site.reference.pages import ApiPages
from tenantry_site.reference.parameters import request_headers

__all__ = ["CODES", "ApiPages", "Operation", "Reference", "read_documents", "request_headers", "server_urls"]
