"""The ASGI middleware, the carriers of its token, and what keeps tokens out of logs."""

from tenantry.middleware.carriers import (
    DEFAULT_CARRIERS,
    Carrier,
    Carriers,
    Extracted,
    cookie,
    first_of,
    header,
    path,
    query,
)
from tenantry.middleware.logs import JsonLines, RedactTokens
from tenantry.middleware.middleware import UserGroupMiddleware

__all__ = [
    "DEFAULT_CARRIERS",
    "Carrier",
    "Carriers",
    "Extracted",
    "JsonLines",
    "RedactTokens",
    "UserGroupMiddleware",
    "cookie",
    "first_of",
    "header",
    "path",
    "query",
]
