"""The errors of the relay: a request was not relayed, or got no complete response."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Code:
    """The HTTP status of the relay's response for an error code, and the code's meaning."""

    status: int
    meaning: str


CODES: Final[dict[str, Code]] = {
    "method_not_allowed": Code(405, "The relay accepts only POST."),
    "unsupported_media_type": Code(415, "The relay accepts only a body of application/json."),
    "foreign_request": Code(403, "The request does not come from a page of the relay's own origin."),
    "too_large": Code(413, "The request to the relay, or the body in it, is too large."),
    "bad_request": Code(400, "The request to the relay is not a JSON object in the expected form."),
    "bad_address": Code(400, "The address is not an http or https address in a form that all programs read alike."),
    "method_refused": Code(400, "The relay does not send requests with this method."),
    "header_refused": Code(400, "A header is not declared by the docs, cannot be sent, or names a client or a user."),
    "origin_not_allowed": Code(403, "The relay may not reach the origin of this address."),
    "address_refused": Code(403, "The host name resolves to a network address that the relay may not reach."),
    "busy": Code(429, "The relay is handling its maximum number of requests."),
    "name_not_found": Code(502, "The host's name could not be resolved."),
    "unreachable": Code(502, "No connection could be made, or it was lost."),
    "tls_failed": Code(502, "The server's certificate was rejected, or the TLS handshake failed."),
    "bad_response": Code(502, "The server did not send a complete HTTP response."),
    "timed_out": Code(504, "The response was not complete within the relay's timeout."),
}
"""Error code -> its status and meaning."""


class RelayError(Exception):
    """Raised for a request that the relay refuses or that fails.

    ``code``: a key of ``CODES``. ``message``: tells the reader what happened and what to do; contains no secret.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message

    @property
    def status(self) -> int:
        """The HTTP status of the relay's answer."""
        return CODES[self.code].status
