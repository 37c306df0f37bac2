"""User group tokens, passes, API tokens and signing keys. Only the sub-package ``keys`` does I/O."""

from tenantry.tokens.authentication import MessageAuthenticator as MessageAuthenticator
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
from tenantry.tokens.formats import PREVIEW_PREFIX as PREVIEW_PREFIX
from tenantry.tokens.formats import checksum as checksum
from tenantry.tokens.formats import decode as decode
from tenantry.tokens.formats import replace_tokens as replace_tokens
from tenantry.tokens.key_ring import KEY_ID_PATTERN as KEY_ID_PATTERN
from tenantry.tokens.key_ring import TOKEN_SALT as TOKEN_SALT
from tenantry.tokens.key_ring import KeyRing, SigningKey
from tenantry.tokens.passes import (
    MAX_ID,
    MAX_SECONDS,
    PASS_PATTERN,
    SCOPE_PATTERN,
    check_pass_length,
    claims_of,
    is_like_a_pass,
    read_pass,
    sign_pass,
    viewer_of,
)
from tenantry.tokens.passes import Pass as Pass
from tenantry.tokens.passes import make_claims as make_claims

__all__ = [
    "API_TOKEN_LENGTH",
    "API_TOKEN_PATTERN",
    "MAX_ID",
    "MAX_SECONDS",
    "PASS_PATTERN",
    "SCOPE_PATTERN",
    "TOKEN_LENGTH",
    "TOKEN_PATTERN",
    "KeyRing",
    "SigningKey",
    "api_token_digest",
    "check_pass_length",
    "claims_of",
    "draft_token",
    "holds_token",
    "is_like_a_pass",
    "mask",
    "mask_within",
    "mint_api_token",
    "read_pass",
    "sign_pass",
    "viewer_of",
]
