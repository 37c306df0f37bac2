"""Your own backend is one method, and need not import anything to be one: ``python examples/custom_backend.py``.

It needs ``pip install tenantry``.
"""

from __future__ import annotations

import asyncio
import os

from tenantry import Environment, Record, Resolver, Tag, Token, UserGroup
from tenantry.errors import InvalidToken
from tenantry.tokens import KeyRing, SigningKey, draft_token


class DictBackend:
    """Groups in a dict, by handle. Yours may ask a database or a service: it is called once per miss, never per hit."""

    def __init__(self) -> None:
        self.groups: dict[bytes, tuple[UserGroup, Token]] = {}

    async def find(self, token: Token) -> UserGroup | None:
        """The group, if this is its live token. The signature was checked already; version and nonce were not."""
        group, live = self.groups.get(token.handle, (None, None))
        return group if token == live else None


async def show() -> None:
    """Puts one group into the backend and resolves its token, then a token that the backend does not know."""
    keys = KeyRing([SigningKey("k1", os.urandom(32))])
    backend = DictBackend()
    resolver = Resolver(backend, keys=keys)

    known, unknown = (draft_token(Tag.CUSTOMER, keys.active_id, os.urandom) for _ in range(2))
    production = Environment(1, "production", Tag.CUSTOMER)
    acme = UserGroup(
        team_id=1,
        provided_id="acme",
        name="Acme Ltd",
        environment=production,
        properties=Record({"region": "eu"}),
        mapping=None,
        handle=known.handle,
        token_version=known.version,
        revision=1,
    )
    backend.groups[known.handle] = (acme, known)

    print("resolved:", (await resolver.resolve(keys.mint(known))).name)
    try:
        await resolver.resolve(keys.mint(unknown))
    except InvalidToken as error:
        print("refused:", error)


def main() -> None:
    """Runs it."""
    asyncio.run(show())


if __name__ == "__main__":
    main()
