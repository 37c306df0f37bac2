"""Counters: what a second-level cache did."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class RedisCounters:
    """What a RedisBackend did since it was made. Plain integers: reading them costs nothing."""

    hits: int = 0
    """Answered from the second-level cache."""
    misses: int = 0
    """It had no entry for the token."""
    refused: int = 0
    """It had something there that was not an entry of this store and handle."""
    errors: int = 0
    """It did not answer within the budget, or with an error."""
    skipped: int = 0
    """It was not asked, for it did not answer a moment ago."""
    writes: int = 0
    """Entries and tombstones that it took or had newer ones of."""
    lost_writes: int = 0
    """Attempts to write one that failed. Where the server did not answer it is tried again."""
