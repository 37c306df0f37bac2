"""Errors as programs of OAuth read them (RFC 6749 section 5.2): ``error`` is a code of theirs, and ``code`` is ours."""

from __future__ import annotations

from typing import Any, Final

from tenantry.errors import TenantryError

_BY_STATUS: Final = {
    401: "invalid_client",
    403: "insufficient_scope",  # RFC 6750 section 3.1
    500: "server_error",  # RFC 6749 section 4.1.2.1, as the next
    503: "temporarily_unavailable",
}
_OTHERS: Final = "invalid_request"

OAUTH_CODES: Final = (_OTHERS, *_BY_STATUS.values())
"""All that ``error`` may be."""


def oauth_error_document(error: TenantryError, request_id: str) -> dict[str, Any]:
    """The body of an error of ``/oauth/introspect``."""
    return {
        "success": 0,
        "error": _BY_STATUS.get(error.status, _OTHERS),
        "error_description": error.public_message,
        "code": error.code,
        "request_id": request_id,
    }
