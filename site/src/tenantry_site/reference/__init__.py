"""The API reference of a site: from OpenAPI documents and from pages that name an endpoint.

``read_documents`` reads what the configuration names; ``ApiPages`` adds to the pages what their front matter asks for.
"""

from tenantry_site.reference.callees import callees
from tenantry_site.reference.codes import CODES
from tenantry_site.reference.operation import Operation
from tenantry_site.reference.pages import ApiPages
from tenantry_site.reference.reference import Reference, read_documents
from tenantry_site.reference.request_headers import request_headers

__all__ = ["CODES", "ApiPages", "Operation", "Reference", "callees", "read_documents", "request_headers"]
