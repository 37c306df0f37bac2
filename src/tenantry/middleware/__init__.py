"""The ASGI middleware, the places it looks at, and the logging filter that goes with it."""

from tenantry.middleware.carriers import DEFAULT_CARRIERS, Carriers, cookie, first_of, header, path, query
from tenantry.middleware.json_lines import JsonLines
from tenantry.middleware.middleware import UserGroupMiddleware
from tenantry.middleware.redaction import RedactTokens

__all__ = [
    "DEFAULT_CARRIERS",
    "Carriers",
    "JsonLines",
    "RedactTokens",
    "UserGroupMiddleware",
    "cookie",
    "first_of",
    "header",
    "path",
    "query",
]
