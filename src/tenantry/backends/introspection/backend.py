"""IntrospectionBackend: a Backend that asks the Tenantry which has the database."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tenantry.backends.clock import utc_now
from tenantry.backends.introspection.address import checked_address
from tenantry.backends.introspection.answer import NOTHING, read_answer
from tenantry.backends.introspection.post import Endpoint
from tenantry.errors import SigningKeyMissing
from tenantry.tokens import api_token_digest

if TYPE_CHECKING:
    import httpx2

    from tenantry.groups import Reading, Token, UserGroup
    from tenantry.ports import Clock
    from tenantry.tokens import KeyRing


class IntrospectionBackend:
    """Finds groups by asking ``url``, the address of an RFC 7662 endpoint of Tenantry: ``…/oauth/introspect``.

    ``api_token`` has the scope ``introspect``, and finds the groups of its own environment. ``keys`` are the signing
    keys of that server, or those of them that this app is to accept: a token that they did not sign is never sent.
    ``timeout``: seconds for one question, connecting included; less than the patience of the Resolver, so that the log
    hears the reason. Clear text is refused but for this very host, unless ``allow_http``. ``transport`` replaces the
    network, for tests; ``clock`` is the time of day that ``exp`` is held against. One backend serves several event
    loops, each with connections of its own, kept alive.

    It has ``look`` but no ``changes``: an answer may be used for as long as its asker sees fit, the staleness bound of
    a Resolver, but not beyond its own end. Nothing is kept here.
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
            raise ValueError("api_token must be what `tenantry api-token create --scope introspect` printed")
        if not timeout > 0:
            raise ValueError("timeout is seconds above 0")
        address = checked_address(url, allow_http=allow_http)
        self._endpoint = Endpoint(address, api_token, timeout=timeout, transport=transport)
        self._keys = keys
        self._clock = clock

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._endpoint.url}>"

    async def find(self, token: Token) -> UserGroup | None:
        """The group, if the endpoint says that its token is active; None for a token that ``keys`` could not have
        signed. Raises StoreUnavailable for every answer that cannot be relied on."""
        return (await self.read_at_snapshot(token, fresh=True)).group

    async def read_at_snapshot(self, token: Token, *, fresh: bool) -> Reading:
        """The same with how long it is good (``Reading.seconds``), for a token in its grace. Every look is fresh."""
        try:
            text = self._keys.mint(token)
        except (SigningKeyMissing, ValueError):
            return NOTHING
        asked = self._clock()
        return read_answer(await self._endpoint.ask(text), token, asked)

    async def aclose(self) -> None:
        """Closes the connections of this event loop."""
        await self._endpoint.aclose()
