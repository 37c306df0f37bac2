from __future__ import annotations

import asyncio
from contextlib import suppress
from datetime import datetime
from ipaddress import ip_address
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import from_json

from tenantry._lazy import load_httpx
from tenantry.aio import LoopLocal
from tenantry.clock import utc_now
from tenantry.errors import SigningKeyMissing, StoreUnavailable
from tenantry.groups import INTROSPECTION, LookupResult, Token, UserGroup
from tenantry.tokens import api_token_digest
from tenantry.tracing import HttpClientSpan

if TYPE_CHECKING:
    import httpx2

    from tenantry.ports import Clock
    from tenantry.tokens import KeyRing

MAX_BYTES = 1024 * 1024
"""Maximum size of a response in bytes."""

_CONNECTIONS = 100
_EXAMPLE = "such as https://tenantry.example.com/oauth/introspect"


class IntrospectionBackend:
    """Finds groups through the RFC 7662 endpoint ``url`` of another Tenantry server (``…/oauth/introspect``). Needs the
    extra ``http``. Works in several event loops. Ignores proxy settings and ``.netrc``.

    - ``api_token``: an API token with the scope ``introspect``. The backend finds only groups of this token's
      environment.
    - ``keys``: the other server's signing keys. The backend sends only tokens that one of these keys signed.
    - ``timeout``: maximum seconds for a look-up, including connecting. Use less than ``patience``, the Resolver's limit
      for a load: otherwise the log does not name the cause.
    - ``allow_http``: permit unencrypted HTTP to other hosts.
    - ``clock``: compared with the time ``exp`` in a response.
    """

    def __init__(
        self,
        url: str,
        *,
        api_token: str,
        keys: KeyRing,
        timeout: float = 1.5,
        allow_http: bool = False,
        transport: httpx2.AsyncBaseTransport | None = None,
        clock: Clock = utc_now,
    ) -> None:
        if api_token_digest(api_token) is None:
            raise ValueError("api_token must be the string that `tenantry api-token create --scope introspect` printed")
        if not timeout > 0:
            raise ValueError("timeout must be a number of seconds greater than 0")
        self._url = checked_address(url, allow_http=allow_http)
        self._keys = keys
        self._timeout = timeout
        self._transport = transport
        self._clock = clock
        self._library = load_httpx("IntrospectionBackend")
        self._headers = {
            "Authorization": f"Bearer {api_token}",
            "Accept": "application/json",
            "Accept-Encoding": "identity",
        }
        self._clients: LoopLocal[httpx2.AsyncClient] = LoopLocal(self._create_client, lambda client: client.aclose())

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._url}>"

    async def find(self, token: Token) -> UserGroup | None:
        """Return the token's group, or None if the other server reports the token as inactive or the token's key is not
        in ``keys``. Raises StoreUnavailable if no valid response arrives."""
        return (await self.read_at_snapshot(token, fresh=True)).group

    async def read_at_snapshot(self, token: Token, *, fresh: bool) -> LookupResult:
        """Like ``find``. Instead of a generation, the result has the number of seconds until the group expires or the
        token's grace period ends. ``fresh`` has no effect."""
        try:
            text = self._keys.mint(token)
        except (SigningKeyMissing, ValueError):
            return NOT_ACTIVE
        asked_at = self._clock()
        return read_response(await self._ask(text), token, asked_at)

    async def _ask(self, token: str) -> bytes:
        client = self._clients.get()
        try:
            async with asyncio.timeout(self._timeout):
                try:
                    status, body = await self._post(client, token, 0)
                except (self._library.ReadError, self._library.WriteError, self._library.RemoteProtocolError):
                    # The server may have closed an idle connection. Requests write nothing, so repeat this one.
                    status, body = await self._post(client, token, 1)
        except TimeoutError:
            status, body, failure = 0, b"", f"did not answer within {self._timeout:g} seconds"
        except self._library.HTTPError as error:  # not its text or request, which may contain secrets
            status, body, failure = 0, b"", f"did not answer: {type(error).__name__}"
        else:
            failure = _failure(status, len(body))
        if failure:
            raise StoreUnavailable(f"the introspection endpoint {failure}")
        return body

    async def _post(self, client: httpx2.AsyncClient, token: str, attempt: int) -> tuple[int, bytes]:
        with HttpClientSpan("POST", self._url, attempt) as span:
            body = bytearray()
            async with client.stream("POST", self._url, data={"token": token}, headers=span.inject()) as response:
                if response.status_code == 200:
                    async for chunk in response.aiter_raw():
                        body += chunk
                        if len(body) > MAX_BYTES:
                            break
            span.set_response(response.status_code)
        return response.status_code, bytes(body)

    def _create_client(self) -> httpx2.AsyncClient:
        limits = self._library.Limits(max_connections=_CONNECTIONS, max_keepalive_connections=_CONNECTIONS)
        client: httpx2.AsyncClient = self._library.AsyncClient(
            headers=self._headers,
            transport=self._transport,
            timeout=None,  # ``_ask`` has one timeout for connecting and reading together
            limits=limits,
            follow_redirects=False,
            trust_env=False,
        )
        return client

    async def aclose(self) -> None:
        await self._clients.aclose()


def _failure(status: int, size: int) -> str:
    if status in (401, 403):
        return f"answered {status}: api_token must be a live API token with the scope introspect"
    if status in (404, 405) or 300 <= status < 400:
        return f"answered {status}: url must be the complete address of the endpoint, which ends in /oauth/introspect"
    if status != 200:
        return f"answered {status}"
    return "sent a response larger than any user group" if size > MAX_BYTES else ""


def checked_address(url: str, *, allow_http: bool) -> str:
    """Return ``url`` if it is an https address. Plain http is accepted for this host, or for any host with
    ``allow_http``. Raises ValueError without quoting the URL, which may contain a password."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port = None, 0
    if not host or port == 0 or parts.scheme not in ("http", "https") or parts.path in ("", "/"):
        raise ValueError(f"url must be the complete address of an introspection endpoint, {_EXAMPLE}")
    if parts.username is not None or parts.password is not None or parts.query or parts.fragment:
        raise ValueError(
            f"url must be an address without user, query or fragment, {_EXAMPLE}: pass the API token as api_token"
        )
    if parts.scheme == "http" and not allow_http and not _is_this_host(host):
        raise ValueError(
            f"url must be https, {_EXAMPLE}: http sends tokens unencrypted. To permit http, pass allow_http=True"
        )
    return url


def _is_this_host(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


# --- the response ---

_Seconds = Annotated[float, Field(allow_inf_nan=False)]


class _Response(BaseModel):  # RFC 7662 section 2.2
    model_config = ConfigDict(strict=True, extra="ignore", hide_input_in_errors=True)
    active: bool
    exp: _Seconds | None = None
    seconds: _Seconds | None = None
    user_group: dict[str, Any] | None = None


NOT_ACTIVE = LookupResult(None)


def read_response(body: bytes, token: Token, now: datetime) -> LookupResult:
    """Parse the body of a response with status 200. ``now``: when the request for ``token`` was sent.

    The result is valid for the response's ``seconds``, but not after the response's ``exp`` by this host's clock.
    Raises StoreUnavailable for an unusable body, without quoting it."""
    response, group = None, None
    with suppress(ValidationError, ValueError):  # these errors quote the body, so they must not be our error's context
        parsed = _Response.model_validate(from_json(body, allow_inf_nan=False))
        group = None if parsed.user_group is None else INTROSPECTION.decode(parsed.user_group)
        response = parsed
    if response is None:
        raise StoreUnavailable(
            "the introspection endpoint's answer does not follow RFC 7662: check that no proxy answers at its URL"
        )
    if not response.active:
        return NOT_ACTIVE
    if group is None:
        raise StoreUnavailable(
            "the introspection endpoint knows the token but sends no user_group: check that it is a Tenantry server"
        )
    behind = group.token_version - token.version
    of_this_token = group.handle == token.handle and group.environment.tag is token.tag and behind in (0, 1)
    ends = [] if response.exp is None else [response.exp - now.timestamp()]
    ends += [] if response.seconds is None else [response.seconds]
    if not of_this_token or (behind == 1 and not ends):
        raise StoreUnavailable(
            "the introspection endpoint answered for a different token: check that no proxy caches its answers"
        )
    rest = min(ends, default=None)
    return NOT_ACTIVE if rest is not None and rest <= 0 else LookupResult(group, None, rest)
