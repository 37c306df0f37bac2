"""EmbedCodes: a single-use code in place of a user group's token, for a frame that nobody hands the token over to."""

from __future__ import annotations

from typing import Any, Final, Protocol

from tenantry.cache.slots import utc_now
from tenantry.dashboards.embedding.codes import Purpose, SingleUseCodes
from tenantry.errors import TokenAlreadyRotated, UserGroupExpired
from tenantry.groups import Token
from tenantry.http import FOUND_KEY, HTTPConnection, user_group
from tenantry.ports import Clock, GroupStore

_SEPARATOR: Final = " "


class TokenMint(Protocol):
    """Makes the token string of its parts: a KeyRing, SigningKeys."""

    def mint(self, token: Token) -> str:
        """Raises SigningKeyMissing."""
        ...


class EmbedCodes:
    """Issues a code for the token of a request, and gives the token for what the code stood for.

    Kept is which token is meant (handle and version), and not the token: the signing keys make it again.
    """

    def __init__(
        self, codes: SingleUseCodes, groups: GroupStore, keys: TokenMint, *, time_of_day: Clock = utc_now
    ) -> None:
        self._time_of_day = time_of_day
        self._codes = codes
        self._groups = groups
        self._keys = keys

    async def issue(self, connection: HTTPConnection) -> str:
        """A code for the token that this request carries.

        Raises TokenAlreadyRotated for a token within its grace: the code would stand for the live one, which whoever
        has the old one need not have; MissingToken, SigningKeyMissing, StoreUnavailable.
        """
        scope: Any = getattr(connection, "scope", connection)
        issued = await self._groups.get(handle=user_group(connection).handle)
        # The middleware took the token out of the request; what it left is enough to compare.
        if issued is None or hash(self._keys.mint(issued.token).encode("ascii")) != scope.get(FOUND_KEY):
            raise TokenAlreadyRotated("this token was rotated: ask for a code with the live one")
        payload = f"{issued.token.handle.hex()}{_SEPARATOR}{issued.token.version}"
        return await self._codes.issue_for_viewer(Purpose.EMBED, payload, issued.token.handle)

    async def open(self, payload: str) -> str | None:
        """The token that a code stood for, of which this was the payload; None for one that was rotated since. Raises
        UserGroupExpired, SigningKeyMissing, StoreUnavailable."""
        handle, _, version = payload.partition(_SEPARATOR)
        issued = await self._groups.get(handle=bytes.fromhex(handle))
        if issued is None or issued.token.version != int(version):
            return None
        if issued.group.seconds_left(self._time_of_day()) <= 0:
            raise UserGroupExpired(UserGroupExpired.MESSAGE)
        return self._keys.mint(issued.token)
