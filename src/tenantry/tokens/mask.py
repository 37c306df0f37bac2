"""mask: what may be shown of a secret."""

from __future__ import annotations

from tenantry.tokens.api_token import API_TOKEN_PATTERN
from tenantry.tokens.shape import TOKEN_PATTERN


def mask(text: str) -> str:
    """``ugtc_…wXyZ`` for a token of either kind: its kind and its last four characters, which belong to the checksum.

    Anything else becomes ``…``: it may be a password that was pasted in the wrong place.
    """
    if TOKEN_PATTERN.fullmatch(text) or API_TOKEN_PATTERN.fullmatch(text):
        return f"{text[:5]}…{text[-4:]}"
    return "…"


def mask_within(text: str) -> str:
    """The same text, with each token in it masked."""
    for pattern in (TOKEN_PATTERN, API_TOKEN_PATTERN):
        text = pattern.sub(lambda found: mask(found[0]), text)
    return text
