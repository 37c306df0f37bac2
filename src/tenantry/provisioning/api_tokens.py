from __future__ import annotations

import secrets
from collections.abc import Callable, Collection
from datetime import datetime
from typing import Final

from tenantry.groups import UNNAMED, ApiToken, Author, Environment, Scope
from tenantry.ports import ApiTokenStore
from tenantry.tokens import api_token_digest, mint_api_token

_HINT_LENGTH: Final = 4
"""Lists show this many characters from the end of an API token."""


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
    """Create an API token. Return its secret and its record. The store keeps only a digest of the secret.

    ``expires_at``: None means never. Raises ValueError if the time has no time zone."""
    if expires_at is not None and expires_at.utcoffset() is None:
        raise ValueError("expires_at needs a time zone")
    secret = mint_api_token(environment.tag, random)
    digest = api_token_digest(secret)
    if digest is None:  # pragma: no cover - a minted token is well-formed
        raise RuntimeError("minted a malformed API token")
    return secret, await store.create(
        environment,
        digest=digest,
        label=label,
        scopes=scopes,
        hint=secret[-_HINT_LENGTH:],
        expires_at=expires_at,
        author=author,
    )
