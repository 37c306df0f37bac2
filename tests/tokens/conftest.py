"""A ring of two fresh keys, and the means to make tokens that a holder of a key could make."""

from __future__ import annotations

import secrets
from collections.abc import Callable

import pytest

from tenantry.groups import Tag
from tenantry.tokens import KeyRing, SigningKey, draft_token


@pytest.fixture(scope="package")
def keys() -> tuple[SigningKey, ...]:
    """Two keys, k1 and k2."""
    return tuple(SigningKey(key_id, secrets.token_bytes(32)) for key_id in ("k1", "k2"))


@pytest.fixture(scope="package")
def ring(keys: tuple[SigningKey, ...]) -> KeyRing:
    """Both keys; k2 is active."""
    return KeyRing(keys)


@pytest.fixture(scope="package")
def fresh(ring: KeyRing) -> Callable[[], str]:
    """Mints a random token at each call."""
    tags = iter(lambda: secrets.choice(list(Tag)), None)
    return lambda: ring.mint(draft_token(next(tags), secrets.choice(ring.ids), secrets.token_bytes))
