"""``/oauth/introspect`` (RFC 7662): tells an app that shares no database with us whose user group token it holds."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, Final

from starlette.types import Receive

from tenantry.api.answers import Answer, Terms, success
from tenantry.api.body import read_body
from tenantry.api.caller import Presented
from tenantry.api.client_credentials import CHALLENGES, require_no_secret, secret_of_form, secret_of_header
from tenantry.api.headers import RequestHeaders
from tenantry.api.introspect_form import Form
from tenantry.api.oauth_errors import oauth_error_document
from tenantry.api.service import Service
from tenantry.api.visit import Visit
from tenantry.errors import InvalidToken, MissingScope
from tenantry.groups import Environment, Reading, Scope, UserGroup, thaw
from tenantry.provisioning import Deadline

TOKEN_TYPE: Final = "user_group_token"  # noqa: S105 - the name of a kind of token

FORM_TERMS: Final = Terms(
    challenges=CHALLENGES,
    accept=b"application/x-www-form-urlencoded",
    document=oauth_error_document,
    scope=Scope.INTROSPECT.value.encode("ascii"),
)


class IntrospectionRoom:
    """Answers for the user group tokens of the caller's own environment, and says of all others only that they are not
    active. The store of record is asked each time, so a rotated token is inactive at once; a forgery never gets there.

    A caller without an Authorization header may show his API token in the form. A brief form is read for that before it
    is known who sends it; nobody waits for another one of a stranger.
    """

    methods = ("POST",)

    def __init__(self, service: Service) -> None:
        self._service = service

    async def answer(self, method: str, headers: RequestHeaders, receive: Receive) -> Answer:
        service = self._service
        with Visit(service.observer) as visit:
            deadline = Deadline(service.store_seconds)  # the time that the body takes is not the store's
            authorization = headers.authorization()  # 400
            if authorization is None:
                form = await self._form(headers, receive) if headers.brief() else Form(b"")
                secret = secret_of_form(form)  # 401, 400
                caller = await Presented(secret, service.store, deadline, visit).caller()  # 401
                headers.require_form()  # 415
            else:
                secret = secret_of_header(authorization)  # 401
                caller = await Presented(secret, service.store, deadline, visit).caller()  # 401
                form = await self._form(headers, receive)  # 400, 413, 408
                headers.require_form()  # 415
                require_no_secret(form)  # 400
            visit.wants("introspect")
            text = form.token()  # 400
            if Scope.INTROSPECT not in caller.scopes:
                raise MissingScope("this API token may not introspect: create one with --scope introspect")
            return success(await self._introspect(text, caller.environment, deadline))

    async def _form(self, headers: RequestHeaders, receive: Receive) -> Form:
        return Form(await read_body(receive, headers.content_length(), seconds=self._service.body_seconds))

    async def _introspect(self, text: str, fence: Environment, deadline: Deadline) -> dict[str, Any]:
        try:
            token = self._service.keys.read(text)
        except InvalidToken:
            return _inactive()
        reading = await deadline.read(self._service.store.look(token, fresh=True))
        group = reading.group
        if group is None or group.environment.id != fence.id or group.environment.tag is not token.tag:
            return _inactive()
        return _active(group, reading)


def _inactive() -> dict[str, Any]:
    """The whole of what is told of a token that is not good for this caller, whatever is wrong with it."""
    return {"active": False}


def _active(group: UserGroup, reading: Reading) -> dict[str, Any]:
    """``exp`` is in whole seconds, so a grace ends up to a second early here; ``seconds`` ends with it, and can be used
    without a clock that agrees with the store's."""
    told = {"active": True, "token_type": TOKEN_TYPE, "sub": group.provided_id, "user_group": _whole(group)}
    if reading.seconds is None:
        return told
    if group.grace_until is None:
        return _inactive()
    ends = group.grace_until.replace(microsecond=0)
    seconds = reading.seconds - (group.grace_until - ends) / timedelta(seconds=1)
    if seconds <= 0:
        return _inactive()
    return {**told, "exp": int(ends.timestamp()), "seconds": seconds}


def _whole(group: UserGroup) -> dict[str, Any]:
    """Every field of the record. None of them is a secret."""
    place = group.environment
    return {
        "team_id": group.team_id,
        "provided_id": group.provided_id,
        "name": group.name,
        "environment": {
            "id": place.id,
            "name": place.name,
            "tag": place.tag.value,
            "external_data_sources": place.external_data_sources,
            "grace_seconds": place.grace_seconds,
        },
        "properties": thaw(group.properties),
        "mapping": thaw(group.mapping),
        "handle": group.handle.hex(),
        "token_version": group.token_version,
        "revision": group.revision,
        "grace_until": None if group.grace_until is None else group.grace_until.isoformat(),
    }
