"""The ASGI middleware, carriers of tokens, and the redaction of tokens in logs."""

from typing import TYPE_CHECKING

from tenantry._lazy import lazy_exports
from tenantry.middleware.addresses import COOKIE_PREFIX as COOKIE_PREFIX
from tenantry.middleware.addresses import COOKIE_SECONDS as COOKIE_SECONDS
from tenantry.middleware.addresses import IN_QUERY_KEY as IN_QUERY_KEY
from tenantry.middleware.addresses import MASK as MASK
from tenantry.middleware.addresses import pass_for_cookie as pass_for_cookie
from tenantry.middleware.cache_headers import Message as Message
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
from tenantry.middleware.carriers import TOKEN_HEADER as TOKEN_HEADER
from tenantry.middleware.extraction import Extractor as Extractor
from tenantry.middleware.logs import JsonLines, RedactTokens
from tenantry.middleware.long_responses import Exchange as Exchange
from tenantry.middleware.long_responses import ResponseCut as ResponseCut
from tenantry.middleware.middleware import TokenResolver as TokenResolver
from tenantry.middleware.middleware import UserGroupMiddleware
from tenantry.middleware.middleware import with_staleness as with_staleness
from tenantry.middleware.origins import OriginCheck as OriginCheck
from tenantry.middleware.preview_keys import PASSED_KEY as PASSED_KEY
from tenantry.middleware.preview_keys import PassedPreviewKey as PassedPreviewKey
from tenantry.middleware.unauthorized import send_error as send_error

if TYPE_CHECKING:
    from tenantry.middleware.fastapi import CurrentGroup as CurrentGroup
    from tenantry.middleware.fastapi import CurrentVariables as CurrentVariables
    from tenantry.middleware.fastapi import add_security_schemes as add_security_schemes
    from tenantry.middleware.fastapi import security_schemes as security_schemes
else:
    __getattr__, __dir__ = lazy_exports(
        __name__,
        {
            "tenantry.middleware.fastapi": "CurrentGroup CurrentVariables add_security_schemes security_schemes",
        },
    )

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
