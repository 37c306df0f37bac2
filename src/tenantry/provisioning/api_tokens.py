"""``issue_api_token``: creates a secret, of which the store gets the digest."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Collection
from datetime import datetime
from typing import Final

from tenantry.groups import UNNAMED, ApiToken, Author, Environment, Scope
from tenantry.ports import ApiTokenStore
from tenantry.tokens import api_token_digest, mint_api_token

_HINT_LENGTH: Final = 4
"""How many of its last characters identify an API token in a list."""


async def issue_api_token(
    store: ApiTokenStore,
    environment: Environment,
    *,
    label: str = "",
    scopes: Collection[Scope] = (Scope.PROVISION,),
    expires_at: datetime | None = None,
    random: Callable[[int], bytes] = secrets.token_bytes,
    author: Author = UNNAMED,
) -> tuple[str, ApiToken]:
    """The secret, which can never be read again, and its record. The token is refused from ``expires_at`` (aware)
    on; None: never. ``random(n)`` returns n random bytes. Raises ValueError for a time without a zone."""
    if expires_at is not None and expires_at.utcoffset() is None:
        raise ValueError("expires_at needs a time zone")
    secret = mint_api_token(environment.tag, random)
    digest = api_token_digest(secret)
    if digest is None:  # pragma: no cover - a token that was just minted has our own shape
        raise RuntimeError("minted an API token of a wrong shape")
    return secret, await store.create(
        environment,
        digest=digest,
        label=label,
        scopes=scopes,
        hint=secret[-_HINT_LENGTH:],
        expires_at=expires_at,
        author=author,
    )
