"""mask: what may be shown of a secret."""

from __future__ import annotations

import re
from typing import Final

from tenantry.tokens.api_token import API_TOKEN_PATTERN
from tenantry.tokens.user_group_token import TOKEN_PATTERN

_LIKE_A_TOKEN: Final = re.compile(r"ug[kt][ct]_[0-9A-Za-z_.-]{32,}")
"""What starts as a token of ours and is nearly as long: a token with a typing mistake is a secret too."""


def holds_token(text: str) -> bool:
    """Whether a user group token or an API token is in ``text``, whole or nearly."""
    return "ug" in text and _LIKE_A_TOKEN.search(text) is not None


def mask(text: str) -> str:
    """``ugtc_…wXyZ`` for a token of either kind: its kind and its last four characters, which belong to the checksum.

    Anything else becomes ``…``: it may be a password that was pasted in the wrong place.
    """
    if TOKEN_PATTERN.fullmatch(text) or API_TOKEN_PATTERN.fullmatch(text):
        return f"{text[:5]}…{text[-4:]}"
    return "…"


def mask_within(text: str) -> str:
    """The same text, with each token in it masked, and what is nearly one."""
    for pattern in (TOKEN_PATTERN, API_TOKEN_PATTERN):
        text = pattern.sub(lambda found: mask(found[0]), text)
    return _LIKE_A_TOKEN.sub(lambda found: f"{found[0][:5]}…", text) if "ug" in text else text
