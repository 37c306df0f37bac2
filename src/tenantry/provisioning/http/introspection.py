"""``/oauth/introspect``: token introspection (RFC 7662). The form, the authentication and the errors follow RFC 6749,
sections 3.2, 2.3 and 5.2."""

from __future__ import annotations

import binascii
from base64 import b64decode
from datetime import datetime, timedelta
from typing import Any, Final
from urllib.parse import parse_qsl, unquote_plus

from starlette.responses import Response

from tenantry.errors import (
    AmbiguousAuthorization,
    InvalidRequest,
    InvalidToken,
    PassRevoked,
    TenantryError,
    Unauthorized,
)
from tenantry.groups import INTROSPECTION, Environment, LookupResult, Scope, UserGroup, Viewer, thaw
from tenantry.provisioning import Deadline
from tenantry.provisioning.http.endpoint import (
    ApiContext,
    Endpoint,
    ErrorFormat,
    digest_of,
    json_response,
    require_scope,
)
from tenantry.provisioning.http.request import ApiRequest
from tenantry.tokens import is_like_a_pass, read_pass

TOKEN_TYPE: Final = "user_group_token"  # noqa: S105 - the name of a kind of token

PASS_TYPE: Final = "pass"  # noqa: S105 - likewise

FORM: Final = "application/x-www-form-urlencoded"

# --- errors -----------------------------------------------------------------------------------------------------------

_OAUTH_CODE_BY_STATUS: Final = {
    401: "invalid_client",
    403: "insufficient_scope",  # RFC 6750 section 3.1
    500: "server_error",  # RFC 6749 section 4.1.2.1
    503: "temporarily_unavailable",  # RFC 6749 section 4.1.2.1
}
_OTHER_OAUTH_CODE: Final = "invalid_request"

OAUTH_CODES: Final = (_OTHER_OAUTH_CODE, *_OAUTH_CODE_BY_STATUS.values())
"""All values of ``error`` in error documents."""


def oauth_error_document(error: TenantryError, request_id: str) -> dict[str, Any]:
    return {
        "success": 0,
        "error": _OAUTH_CODE_BY_STATUS.get(error.status, _OTHER_OAUTH_CODE),
        "error_description": error.public_message,
        "code": error.code,
        "request_id": request_id,
    }


OAUTH_FORMAT: Final = ErrorFormat(
    challenges=(b'Token realm="api"', b'Bearer realm="api"', b'Basic realm="api"'),
    accept=FORM.encode("ascii"),
    document=oauth_error_document,
    scope=Scope.INTROSPECT.value.encode("ascii"),
)

# --- the endpoint -----------------------------------------------------------------------------------------------------


class IntrospectionEndpoint(Endpoint):
    """Responds whether a user group token or pass is active, and for which group. A token or pass is active only in the
    environment of the API token. Rotations take effect at once.

    Without an Authorization header, the API token may be in a small form."""

    def __init__(self, context: ApiContext) -> None:
        super().__init__("POST", error_format=OAUTH_FORMAT, observer=context.observer)
        self._context = context

    async def respond(self, request: ApiRequest) -> Response:
        context = self._context
        # The deadline counts the time of store calls, not the time in which the body arrives.
        deadline = Deadline(context.store_seconds)
        authorization = request.authorization()  # 400
        if authorization is None:
            small = request.has_small_body()  # if so, the form is read before authentication
            form = IntrospectionForm(await request.read_body(context.body_seconds) if small else b"")
            caller = await context.authenticate(digest_of(_secret_of_form(form)), deadline)  # 401, 400
            request.require_media_type(FORM)  # 415
        else:
            caller = await context.authenticate(digest_of(_secret_of_header(authorization)), deadline)  # 401
            form = IntrospectionForm(await request.read_body(context.body_seconds))  # 400, 413, 408
            request.require_media_type(FORM)  # 415
            if form.values_of("client_secret"):  # 400
                raise AmbiguousAuthorization(
                    "the API token is both in Authorization and in client_secret: send it only once"
                )
        request.set_operation("introspect")
        text = form.token()  # 400
        require_scope(caller, Scope.INTROSPECT)
        return json_response(await self._introspect(text, caller.environment, deadline))

    async def _introspect(self, text: str, environment: Environment, deadline: Deadline) -> dict[str, Any]:
        viewer = None
        try:
            if is_like_a_pass(text.encode()):
                _, token, viewer = read_pass(self._context.keys, text.encode(), self._context.time_of_day)
            else:
                token = self._context.keys.read(text)
        except InvalidToken:
            return _INACTIVE
        result = await deadline.read(self._context.store.read_at_snapshot(token, fresh=True))
        group = result.group
        if group is None or group.environment.id != environment.id or group.environment.tag is not token.tag:
            return _INACTIVE
        now = self._context.time_of_day()  # after the read, during which the pass may have ended
        return _active(group, result, now) if viewer is None else _active_pass(group, viewer, result, now)


_INACTIVE: Final[dict[str, Any]] = {"active": False}
"""The answer for every invalid token, whatever the reason."""


def _active(group: UserGroup, result: LookupResult, now: datetime) -> dict[str, Any]:
    """Return the JSON for a token of the group. ``exp`` is the end of the group or of the token's grace period,
    whichever is earlier, rounded down to a second. ``seconds`` is the time until the rounded end of the grace
    period."""
    # Clients whose clock is wrong need ``seconds``.
    document: dict[str, Any] = {
        "active": True,
        "token_type": TOKEN_TYPE,
        "sub": group.provided_id,
        "user_group": INTROSPECTION.encode(group),
    }
    ends = None if group.expires_at is None else group.expires_at.replace(microsecond=0)
    if group.suspended or (ends is not None and now >= ends):
        return _INACTIVE
    if result.seconds is None:
        return document if ends is None else {**document, "exp": int(ends.timestamp())}
    if group.grace_until is None:
        return _INACTIVE
    grace_ends = group.grace_until.replace(microsecond=0)
    seconds = result.seconds - (group.grace_until - grace_ends) / timedelta(seconds=1)
    if seconds <= 0:
        return _INACTIVE
    first = grace_ends if ends is None else min(ends, grace_ends)
    return {**document, "exp": int(first.timestamp()), "seconds": seconds}


def _active_pass(group: UserGroup, viewer: Viewer, result: LookupResult, now: datetime) -> dict[str, Any]:
    """Return the JSON for a pass. ``exp`` is the end of the pass or of its token, whichever is earlier."""
    try:
        document = _active(group.with_viewer(viewer), result, now)
    except PassRevoked:
        return _INACTIVE
    if document is _INACTIVE:
        return document
    return {
        **document,
        "token_type": PASS_TYPE,
        "user_group": INTROSPECTION.encode(group),
        "viewer": {"id": viewer.id, "attributes": thaw(viewer.attributes)},
        **({"scope": " ".join(viewer.scope)} if viewer.scope else {}),
    }


# --- the form ---------------------------------------------------------------------------------------------------------

MAX_FIELDS: Final = 64
"""Maximum number of parameters in a form."""


class IntrospectionForm:
    """The parameters in a request body. A parameter without a value counts as missing."""

    __slots__ = ("_fields",)

    def __init__(self, body: bytes) -> None:
        self._fields: list[tuple[str, str]] | None
        try:
            self._fields = parse_qsl(
                body.decode("latin-1"), keep_blank_values=True, errors="replace", max_num_fields=MAX_FIELDS
            )
        except ValueError:
            self._fields = None

    def values_of(self, name: str) -> list[str]:
        return [value for field, value in self._fields or () if field == name and value]

    def token(self) -> str:
        if self._fields is None:  # raised here, not in the handler, whose exception contains the body
            raise InvalidRequest(f"the form has more than {MAX_FIELDS} parameters: send only `token`")
        values = dict(self._fields)
        if len(values) != len(self._fields):
            raise InvalidRequest("the form contains a parameter more than once: send each parameter once")
        token = values.get("token", "")
        if not token:
            raise InvalidRequest("the form has no parameter 'token': add it, with the user group token as its value")
        return token


# --- the API token, in the ways that OAuth clients send it ------------------------------------------------------------

_HOW: Final = "send the API token as  Authorization: Bearer <API_TOKEN>,  as the password of Basic, or as client_secret"


def _secret_of_header(authorization: tuple[bytes, str]) -> str:
    scheme, given = authorization
    if scheme in (b"token", b"bearer"):
        return given
    if scheme != b"basic":
        raise Unauthorized(_HOW)
    try:
        _, colon, password = b64decode(given, validate=True).decode("latin-1").partition(":")
    except (binascii.Error, ValueError):
        colon = password = ""
    if not colon:
        raise Unauthorized("the header Authorization: Basic is malformed: send user:API_TOKEN in base64")
    return unquote_plus(password)  # RFC 6749 section 2.3.1 has clients form-encode the password


def _secret_of_form(form: IntrospectionForm) -> str:
    secrets = form.values_of("client_secret")
    if not secrets:
        raise Unauthorized(_HOW)
    if len(secrets) > 1:
        raise AmbiguousAuthorization("the form contains client_secret more than once: send it once")
    return secrets[0]
