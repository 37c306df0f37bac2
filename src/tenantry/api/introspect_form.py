"""The form of an introspection request (RFC 7662 section 2.1), by the rules of RFC 6749 section 3.2."""

from __future__ import annotations

from typing import Final
from urllib.parse import parse_qsl

from tenantry.errors import InvalidRequest

MOST_FIELDS: Final = 64
"""A request has two parameters; others are ignored, and a body full of them is not worth reading."""


def token_of(body: bytes) -> str:
    """The parameter ``token``. Any bytes are read: what is not UTF-8 becomes text that is no token.

    Raises InvalidRequest where it is missing or empty (which is the same), or where any parameter comes twice.
    """
    try:
        fields = parse_qsl(body.decode("latin-1"), keep_blank_values=True, errors="replace", max_num_fields=MOST_FIELDS)
    except ValueError:
        fields = None
    if fields is None:  # outside the handler: no error of ours drags the body along as its context
        raise InvalidRequest(f"the form has more than {MOST_FIELDS} parameters: send  token=…")
    values = dict(fields)
    if len(values) != len(fields):
        raise InvalidRequest("the form has a parameter twice: send each once")
    token = values.get("token", "")
    if not token:
        raise InvalidRequest("the form has no parameter token: send  token=…")
    return token
