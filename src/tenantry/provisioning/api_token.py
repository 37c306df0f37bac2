"""issue_api_token: a new secret for a caller of ``/api/user``, of which only the hash is kept."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Collection

from tenantry.groups import UNNAMED, ApiToken, Author, Environment, Scope
from tenantry.ports import ApiTokenStore
from tenantry.tokens import api_token_digest, mint_api_token

HINT = 4
"""How many of its last characters tell a token apart in a list."""


async def issue_api_token(
    store: ApiTokenStore,
    environment: Environment,
    *,
    label: str = "",
    scopes: Collection[Scope] = (Scope.PROVISION,),
    random: Callable[[int], bytes] = secrets.token_bytes,
    author: Author = UNNAMED,
) -> tuple[str, ApiToken]:
    """The secret, which can never be read again, and its record. ``random`` gives that many random bytes."""
    secret = mint_api_token(environment.tag, random)
    digest = api_token_digest(secret)
    if digest is None:  # pragma: no cover - a token that was just minted has our own shape
        raise RuntimeError("minted an API token of a wrong shape")
    return secret, await store.create_api_token(
        environment, digest=digest, label=label, scopes=scopes, hint=secret[-HINT:], author=author
    )
