"""Tokens: the strings that identify a user group or an API caller. Pure: no I/O, no clock; randomness is given."""

from tenantry.tokens.formats import (
    API_TOKEN_LENGTH,
    API_TOKEN_PATTERN,
    TOKEN_LENGTH,
    TOKEN_PATTERN,
    api_token_digest,
    draft_token,
    holds_token,
    mask,
    mask_within,
    mint_api_token,
)
from tenantry.tokens.key_ring import KeyRing, SigningKey

__all__ = [
    "API_TOKEN_LENGTH",
    "API_TOKEN_PATTERN",
    "TOKEN_LENGTH",
    "TOKEN_PATTERN",
    "KeyRing",
    "SigningKey",
    "api_token_digest",
    "draft_token",
    "holds_token",
    "mask",
    "mask_within",
    "mint_api_token",
]
