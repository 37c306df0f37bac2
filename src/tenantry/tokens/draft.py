"""draft_token: the parts of a new group's first token."""

from __future__ import annotations

from collections.abc import Callable

from tenantry.groups import Tag, Token


def draft_token(tag: Tag, key_id: str, random: Callable[[int], bytes]) -> Token:
    """Version 1 with a fresh handle (8 bytes) and nonce (16 bytes); ``random`` is ``secrets.token_bytes`` or alike."""
    return Token(tag=tag, key_id=key_id, handle=random(8), version=1, nonce=random(16))
