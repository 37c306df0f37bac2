"""Counters: what a resolver did."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class Counters:
    """What a resolver did since it was made; ``hits + misses`` is the number of tokens looked at.

    Plain numbers: reading them costs nothing, and with several threads they may fall a little short.
    """

    hits: int = 0
    """Answered from the cache."""
    misses: int = 0
    """Everything else: the sum of ``forged``, ``refused``, ``joined`` and the loads begun."""
    forged: int = 0
    """Malformed, or not signed by one of our keys: refused without I/O."""
    refused: int = 0
    """Signed, but remembered as unknown or older than the cached group: refused without I/O."""
    joined: int = 0
    """Waited for a load that another request had begun."""
    loads: int = 0
    """Reads of the backend. A load that finds the first answer too old reads twice."""
    fresh: int = 0
    """Reads that only the store of record could answer, not a cache before it."""
    stale: int = 0
    """Answers that were not used, because the group had been written to since, or that could not be told."""
    unknown: int = 0
    """Loads that found no group for the token, or one outside the resolver's environment."""
    mismatched: int = 0
    """Loads whose answer was not of the token, and was refused: a fault of the backend."""
    failures: int = 0
    """Loads that the backend did not answer."""
    polls: int = 0
    """Questions for changes that were answered."""
    failed_polls: int = 0
    """Questions for changes that were not."""
    evicted: int = 0
    """Writes elsewhere that took away what could still be used, heard of by a poll or a bus."""
    flushed: int = 0
    """How often all was forgotten: the list of changes broke, the store or its slots were others, a bus lost some."""
    last_staleness: float = 0.0
    """Seconds from the last such write to the poll that brought it, by the store's clock: how old a group was shown."""
    max_staleness: float = 0.0
    """The highest of these; below the resolver's ``staleness`` on a host whose clock runs as fast as the store's."""
