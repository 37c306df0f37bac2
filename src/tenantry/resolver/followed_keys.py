from __future__ import annotations

from typing import TYPE_CHECKING

from tenantry.tokens import read_pass

if TYPE_CHECKING:
    from tenantry.cache import GroupCache
    from tenantry.groups import Token
    from tenantry.ports import Clock
    from tenantry.resolver.loading import Counters
    from tenantry.tokens import KeyRing, Pass


class FollowedKeys:
    """The signing keys of a resolver. When a key is removed, the cache is flushed. ``cached_alone``: whether there
    is no poller that calls ``refresh``. If so, ``read`` rereads the key file for each valid token."""

    __slots__ = ("_cache", "_cached_alone", "_counters", "_keys", "_removals")

    def __init__(self, keys: KeyRing, cache: GroupCache, counters: Counters, *, cached_alone: bool) -> None:
        self._keys = keys
        self._cache = cache
        self._counters = counters
        self._cached_alone = cached_alone
        self._removals = keys.removals

    def read(self, raw: bytes) -> Token:
        """Verify and decode a token, or raise InvalidToken. A forged token with a known key id causes no read of the
        key file."""
        try:
            token = self._keys.read(raw)
            return self._keys.read(raw) if self._cached_alone and self._keys.refresh() else token
        finally:
            self._forget_removed()

    def read_pass(self, raw: bytes, clock: Clock) -> Pass:
        """Verify and decode a pass. The caller must verify its token with ``read``. Raises the errors of
        ``tokens.read_pass``."""
        return read_pass(self._keys, raw, clock)

    def refresh(self) -> None:
        """Reread the key file. Call this before each poll."""
        # Otherwise the poll would extend the lease of tokens whose key was removed.
        self._keys.refresh()
        self._forget_removed()

    def _forget_removed(self) -> None:
        if self._keys.removals != self._removals:
            self._removals = self._keys.removals
            self._cache.flush()
            self._counters.flushed = self._cache.flushes
