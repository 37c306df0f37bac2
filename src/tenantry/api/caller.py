"""The caller of an address that needs an API token."""

from __future__ import annotations

from tenantry.errors import Unauthorized
from tenantry.groups import ApiToken
from tenantry.ports import ApiTokenStore
from tenantry.provisioning import Patience
from tenantry.tokens import api_token_digest


async def find_caller(store: ApiTokenStore, secret: str, patience: Patience) -> ApiToken:
    """The API token of this secret, looked up on every call, so that a revoked one is dead at once.

    Raises Unauthorized, StoreUnavailable."""
    digest = api_token_digest(secret)
    caller = None if digest is None else await patience.read(store.api_token(digest))
    if caller is None:
        raise Unauthorized("the API token is malformed, unknown or revoked")
    return caller
