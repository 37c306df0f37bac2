"""RelayError: why a request was not relayed, or why no answer came. Each code has one status and one meaning."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Code:
    """The relay's own HTTP status for a code, and the code's meaning in one line."""

    status: int
    meaning: str


CODES: Final[dict[str, Code]] = {
    "method_not_allowed": Code(405, "The relay accepts only POST."),
    "unsupported_media_type": Code(415, "The relay takes a body of application/json."),
    "foreign_request": Code(403, "The request does not come from a page of the relay's own origin."),
    "too_large": Code(413, "The request to the relay, or the body in it, is too large."),
    "bad_request": Code(400, "The request to the relay is not the JSON object that it takes."),
    "bad_address": Code(400, "The address is not one that is read the same way everywhere."),
    "method_refused": Code(400, "The method is not one that the relay sends."),
    "header_refused": Code(400, "A header is not declared by the docs, cannot be sent, or names a client or a user."),
    "origin_not_allowed": Code(403, "The address is of an origin that the relay may not reach."),
    "address_refused": Code(403, "The name leads to a network address that the relay may not reach."),
    "busy": Code(429, "The relay is handling its maximum number of requests."),
    "name_not_found": Code(502, "The host's name could not be resolved."),
    "unreachable": Code(502, "No connection could be made, or it broke."),
    "tls_failed": Code(502, "The server's certificate was rejected, or the TLS handshake failed."),
    "bad_response": Code(502, "What came back is not an HTTP response."),
    "timed_out": Code(504, "The answer was not complete within the relay's time."),
}
"""Every code that the relay answers with."""


class RelayError(Exception):
    """``code`` is a key of CODES; ``message`` says what was found and what to do, and holds no secret."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message

    @property
    def status(self) -> int:
        """The HTTP status of the relay's answer."""
        return CODES[self.code].status
