"""The request to an introspection endpoint: one pool of connections for each event loop, one deadline for the whole."""

from __future__ import annotations

import asyncio
from importlib import import_module
from typing import TYPE_CHECKING, Any

from tenantry.errors import StoreUnavailable
from tenantry.loop_local import LoopLocal
from tenantry.tracing import HttpClientSpan

if TYPE_CHECKING:
    import httpx2

MOST_BYTES = 1024 * 1024
"""Of an answer. A group with every limit used up takes less than half of it."""

_CONNECTIONS = 100


class Endpoint:
    """Where tokens are asked about. Neither the API token nor a token that was asked about is in any error or repr.

    Proxies and ``.netrc`` of the environment are not used: a token goes to this address and nowhere else.
    """

    def __init__(
        self, url: str, api_token: str, *, timeout: float, transport: httpx2.AsyncBaseTransport | None
    ) -> None:
        self.url = url
        self._timeout = timeout
        self._transport = transport
        self._library = _library()
        self._headers = {
            "Authorization": f"Bearer {api_token}",
            "Accept": "application/json",
            "Accept-Encoding": "identity",
        }
        self._clients: LoopLocal[httpx2.AsyncClient] = LoopLocal(self._create_client, lambda client: client.aclose())

    async def ask(self, token: str) -> bytes:
        """The body of the answer 200. Raises StoreUnavailable."""
        client = self._clients.get()
        try:
            async with asyncio.timeout(self._timeout):
                status, body = await self._twice(client, token)
        except TimeoutError:
            status, body, failure = 0, b"", f"did not answer within {self._timeout:g} seconds"
        except self._library.HTTPError as error:  # its text and its request stay here
            status, body, failure = 0, b"", f"cannot be asked: {type(error).__name__}"
        else:
            failure = _complaint(status, len(body))
        if failure:
            raise StoreUnavailable(f"the introspection endpoint {failure}")
        return body

    async def _twice(self, client: httpx2.AsyncClient, token: str) -> tuple[int, bytes]:
        try:
            return await self._post(client, token, 0)
        except (self._library.ReadError, self._library.WriteError, self._library.RemoteProtocolError):
            # A kept connection had been closed unseen. Asking changes nothing, so it may be done again.
            return await self._post(client, token, 1)

    async def _post(self, client: httpx2.AsyncClient, token: str, attempt: int) -> tuple[int, bytes]:
        with HttpClientSpan("POST", self.url, attempt) as span:
            status, body = await self._exchange(client, token, span.inject())
            span.set_response(status)
        return status, body

    async def _exchange(self, client: httpx2.AsyncClient, token: str, headers: dict[str, str]) -> tuple[int, bytes]:
        async with client.stream("POST", self.url, data={"token": token}, headers=headers) as response:
            body = bytearray()
            if response.status_code == 200:
                async for chunk in response.aiter_raw():
                    body += chunk
                    if len(body) > MOST_BYTES:
                        break
            return response.status_code, bytes(body)

    def _create_client(self) -> httpx2.AsyncClient:
        limits = self._library.Limits(max_connections=_CONNECTIONS, max_keepalive_connections=_CONNECTIONS)
        client: httpx2.AsyncClient = self._library.AsyncClient(
            headers=self._headers,
            transport=self._transport,
            timeout=None,  # one deadline for everything, in ``ask``
            limits=limits,
            follow_redirects=False,
            trust_env=False,
        )
        return client

    async def aclose(self) -> None:
        """Closes the connections of this event loop."""
        await self._clients.aclose()


def _complaint(status: int, size: int) -> str:
    """What is wrong with an answer; nothing if its body is worth reading. For the log of the app that asks."""
    if status in (401, 403):
        return f"answered {status}: api_token must be a live API token with the scope introspect"
    if status in (404, 405) or 300 <= status < 400:
        return f"answered {status}: url must be the whole address of the endpoint, which ends in /oauth/introspect"
    if status != 200:
        return f"answered {status}"
    return "answered with more than any user group has" if size > MOST_BYTES else ""


def _library() -> Any:
    """The module httpx2, loaded when a backend is made."""
    try:
        return import_module("httpx2")
    except ModuleNotFoundError:
        missing = "IntrospectionBackend needs httpx2: pip install 'tenantry[http]'"
    raise ModuleNotFoundError(missing, name="httpx2")
