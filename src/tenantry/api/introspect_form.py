"""The form of an introspection request (RFC 7662 section 2.1), by the rules of RFC 6749 section 3.2."""

from __future__ import annotations

from typing import Final
from urllib.parse import parse_qsl

from tenantry.errors import InvalidRequest

MOST_FIELDS: Final = 64
"""A request has a few parameters; others are ignored, and a body full of them is not worth reading."""


class Form:
    """The parameters of a body. Any bytes are read: what is not UTF-8 becomes text that is no token. A parameter
    without a value is one that is not there."""

    __slots__ = ("_fields",)

    def __init__(self, body: bytes) -> None:
        self._fields: list[tuple[str, str]] | None
        try:
            self._fields = parse_qsl(
                body.decode("latin-1"), keep_blank_values=True, errors="replace", max_num_fields=MOST_FIELDS
            )
        except ValueError:
            self._fields = None

    def all_of(self, name: str) -> list[str]:
        """Every value of this parameter; none of a form that is not worth reading."""
        return [value for field, value in self._fields or () if field == name and value]

    def token(self) -> str:
        """The parameter ``token``.

        Raises InvalidRequest where it is missing or empty, or where any parameter comes twice.
        """
        if self._fields is None:  # not in the handler: no error of ours drags the body along as its context
            raise InvalidRequest(f"the form has more than {MOST_FIELDS} parameters: send the token alone")
        values = dict(self._fields)
        if len(values) != len(self._fields):
            raise InvalidRequest("the form has a parameter twice: send each once")
        token = values.get("token", "")
        if not token:
            raise InvalidRequest("the form has no parameter token: send the user group token as token")
        return token
