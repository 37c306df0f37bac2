"""HTTP, pure: an error as a response, and what a request accepts."""

from tenantry.http.accept import prefers_html, prefers_problem
from tenantry.http.error_response import CHALLENGE, ErrorResponse, error_document, error_response, request_id_of

__all__ = [
    "CHALLENGE",
    "ErrorResponse",
    "error_document",
    "error_response",
    "prefers_html",
    "prefers_problem",
    "request_id_of",
]
