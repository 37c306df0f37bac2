"""Idempotency-Key: the keyed hash of a body, and which keys are being worked on in this process.

The store keeps the answers; between processes its transaction decides.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tenantry.errors import IdempotencyInFlight
from tenantry.groups import Environment, IdempotencyKey
from tenantry.tokens import KeyRing


def once(key: str, body: dict[str, Any], keys: KeyRing) -> IdempotencyKey:
    """The key with hashes of what the body says: white space and the order of names make no difference."""
    canonical = json.dumps(body, ensure_ascii=True, sort_keys=True, separators=(",", ":"))
    return IdempotencyKey(key, keys.body_hashes(canonical.encode("ascii")))


class InFlight:
    """The keys whose first request has not been answered yet."""

    def __init__(self) -> None:
        self._claimed: set[tuple[int, str]] = set()

    @contextmanager
    def claim(self, environment: Environment, asked: IdempotencyKey) -> Iterator[None]:
        """Holds the key while the block runs. Raises IdempotencyInFlight if it is held."""
        claimed = (environment.id, asked.key)
        if claimed in self._claimed:
            raise IdempotencyInFlight("the first request with this Idempotency-Key is still running: try again shortly")
        self._claimed.add(claimed)
        try:
            yield
        finally:
            self._claimed.discard(claimed)
