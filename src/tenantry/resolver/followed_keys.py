"""FollowedKeys: the signing keys of a resolver. When one of them was taken away, all that is cached is forgotten: it
happens once in months, and what was signed by the other keys is read again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tenantry.cache import GroupCache
    from tenantry.groups import Token
    from tenantry.resolver.loading import Counters
    from tenantry.tokens import KeyRing


class FollowedKeys:
    """``cached_alone``: nothing polls, so an entry may be used for the staleness bound after it was stored; then the
    keys are looked at for each load, and not once a second."""

    __slots__ = ("_cache", "_cached_alone", "_counters", "_keys", "_removals")

    def __init__(self, keys: KeyRing, cache: GroupCache, counters: Counters, *, cached_alone: bool) -> None:
        self._keys = keys
        self._cache = cache
        self._counters = counters
        self._cached_alone = cached_alone
        self._removals = keys.removals

    def read(self, raw: bytes) -> Token:
        """The parts of a token that one of the keys signed. Raises InvalidToken; for a forgery nothing is looked at."""
        try:
            token = self._keys.read(raw)
            return self._keys.read(raw) if self._cached_alone and self._keys.refresh() else token
        finally:
            self._forget_removed()

    def refresh(self) -> None:
        """To be called by each poll, before it renews the lease of what is cached."""
        self._keys.refresh()
        self._forget_removed()

    def _forget_removed(self) -> None:
        if self._keys.removals != self._removals:
            self._removals = self._keys.removals
            self._cache.flush()
            self._counters.flushed = self._cache.flushes
