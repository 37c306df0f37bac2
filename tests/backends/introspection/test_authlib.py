"""A program that knows RFC 7662 and not us: authlib's own validator of introspected tokens."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import anyio
import httpx2
import pytest
from authlib.integrations.requests_client import OAuth2Session
from authlib.oauth2 import ResourceProtector
from authlib.oauth2.rfc6749 import TokenValidator
from authlib.oauth2.rfc6750 import InsufficientScopeError, InvalidTokenError
from authlib.oauth2.rfc7662 import IntrospectionToken, IntrospectTokenValidator

from tests.backends.introspection.conftest import PATH, listening, make_issued, rotate
from tests.provisioning.http.conftest import Service


class Request:
    """What authlib reads of a request of a resource server."""

    def __init__(self, token: str) -> None:
        self.headers = {"Authorization": f"Bearer {token}"}


class OverHttp(IntrospectTokenValidator):
    """As authlib's documentation writes one. ``api_token`` goes as a Bearer: authlib knows no scheme of ours."""

    def __init__(self, url: str, api_token: str) -> None:
        super().__init__()
        self.url = url
        self.http = httpx2.Client(headers={"Authorization": f"Bearer {api_token}"}, trust_env=False, timeout=120)

    def introspect_token(self, token_string: str) -> Any:
        answer = self.http.post(self.url, data={"token": token_string, "token_type_hint": "access_token"})
        answer.raise_for_status()
        return IntrospectionToken(answer.json())


class Guard(ResourceProtector):
    """A resource server of authlib."""

    def __init__(self, validator: TokenValidator) -> None:
        super().__init__()
        self.register_token_validator(validator)

    def enter(self, token: str, scopes: str | None = None) -> Any:
        request = Request(token)
        validator, text = self.parse_request_authorization(request)
        validator.validate_request(request)
        found = validator.authenticate_token(text)
        validator.validate_token(found, scopes, request)
        return found


@pytest.fixture
def validators() -> Iterator[list[OverHttp]]:
    made: list[OverHttp] = []
    yield made
    for validator in made:
        validator.http.close()


async def test_authlib_accepts_what_is_active(service: Service, validators: list[OverHttp]) -> None:
    """An active token enters, with its members under authlib's names; a rotated one is an invalid_token at once.

    Red when a 200 for a dead token has no ``active``, or when a rotated token is still active."""
    async with listening(service.http._transport.app) as url:  # type: ignore[attr-defined]
        validators.append(OverHttp(url, service.reader))
        guard = Guard(validators[0])
        issued, old = await make_issued(service)
        found = await anyio.to_thread.run_sync(guard.enter, old)
        assert (found.active, found.sub, found.token_type, found.get_scope()) == (
            True,
            "acme",
            "user_group_token",
            None,
        )
        made, new = await rotate(service, issued)
        with pytest.raises(InvalidTokenError):
            await anyio.to_thread.run_sync(guard.enter, old)
        assert (await anyio.to_thread.run_sync(guard.enter, new)).sub == "acme"
        with pytest.raises(InsufficientScopeError):  # a token of ours grants no OAuth scope
            await anyio.to_thread.run_sync(guard.enter, new, ["write"])
        _, newest = await rotate(service, made, grace_seconds=3600)
        assert (await anyio.to_thread.run_sync(guard.enter, new)).get_expires_at() > 0
        assert (await anyio.to_thread.run_sync(guard.enter, newest)).get_expires_at() == 0
        for dead in ("x", old[:-1], service.reader):
            with pytest.raises(InvalidTokenError):
                await anyio.to_thread.run_sync(guard.enter, dead)


@pytest.mark.parametrize("method", ["client_secret_basic", "client_secret_post"])
async def test_authlibs_own_client(service: Service, method: str) -> None:
    """It sends a client id and a secret, and gets a bad secret reported in the form that it reads.

    Red while the endpoint read an Authorization of ``Token`` and ``Bearer`` alone: 401 for both methods.
    """
    issued, old = await make_issued(service)
    _, new = await rotate(service, issued)

    def introspect(url: str, secret: str, token: str) -> tuple[int, Any]:
        with OAuth2Session("dashboards", secret, token_endpoint_auth_method=method) as session:
            answer = session.introspect_token(url, token=token, token_type_hint="access_token")
            return answer.status_code, answer.json()

    async with listening(service.http._transport.app) as url:  # type: ignore[attr-defined]
        status, body = await anyio.to_thread.run_sync(introspect, url, service.reader, new)
        assert (status, body["active"], body["sub"]) == (200, True, "acme")
        assert await anyio.to_thread.run_sync(introspect, url, service.reader, old) == (200, {"active": False})
        status, body = await anyio.to_thread.run_sync(introspect, url, "wrong", new)
        assert (status, body["error"]) == (401, "invalid_client")


async def test_authlib_gets_a_dead_caller_reported(service: Service, validators: list[OverHttp]) -> None:
    """401 and 403 are errors of HTTP there, and never an ``active: false`` of somebody's token."""
    _, token = await make_issued(service)
    async with listening(service.http._transport.app) as url:  # type: ignore[attr-defined]
        assert url.endswith(PATH)
        for api_token in ("x", service.caller):
            validators.append(OverHttp(url, api_token))
            with pytest.raises(httpx2.HTTPStatusError):
                await anyio.to_thread.run_sync(Guard(validators[-1]).enter, token)
