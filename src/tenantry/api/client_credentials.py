"""The API token of a caller of ``/oauth/introspect``, in the ways that OAuth clients send it (RFC 6749 section 2.3).

``Token`` and ``Bearer``; ``Basic`` with the token as password, whatever the user name; ``client_secret`` in the form.
"""

from __future__ import annotations

import binascii
from base64 import b64decode
from typing import Final
from urllib.parse import unquote_plus

from tenantry.api.introspect_form import Form
from tenantry.errors import AmbiguousAuthorization, Unauthorized

CHALLENGES: Final = (b'Token realm="api"', b'Bearer realm="api"', b'Basic realm="api"')

_HOW: Final = "send the API token as  Authorization: Bearer <API_TOKEN>,  as the password of Basic, or as client_secret"


def secret_of_header(authorization: tuple[bytes, str]) -> str:
    """What an Authorization header of this scheme (lower case) says. Raises Unauthorized for another scheme."""
    scheme, given = authorization
    if scheme in (b"token", b"bearer"):
        return given
    if scheme == b"basic":
        return _password(given)
    raise Unauthorized(_HOW)


def secret_of_form(form: Form) -> str:
    """The form's ``client_secret``. Raises Unauthorized if there is none, AmbiguousAuthorization if it is twice."""
    secrets = form.all_of("client_secret")
    if not secrets:
        raise Unauthorized(_HOW)
    if len(secrets) > 1:
        raise AmbiguousAuthorization("the form has client_secret twice: send it once")
    return secrets[0]


def require_no_secret(form: Form) -> None:
    """Raises AmbiguousAuthorization for a form with a ``client_secret`` beside an Authorization header."""
    if form.all_of("client_secret"):
        raise AmbiguousAuthorization("the API token comes in Authorization and as client_secret: send it in one way")


def _password(given: str) -> str:
    """Of ``<base64 of user:password>`` (RFC 7617), each form-encoded by clients that follow RFC 6749 to the letter."""
    try:
        _, colon, password = b64decode(given, validate=True).decode("latin-1").partition(":")
    except (binascii.Error, ValueError):
        colon = password = ""
    if not colon:
        raise Unauthorized("the header Authorization: Basic is not base64 of user:password")
    return unquote_plus(password)
