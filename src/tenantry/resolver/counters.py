"""Counters: what a resolver did."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class Counters:
    """What a resolver did since it was made; ``hits + misses`` is the number of tokens looked at.

    Plain integers: reading them costs nothing, and with several threads they may fall a little short.
    """

    hits: int = 0
    """Answered from the cache."""
    misses: int = 0
    """Everything else: the sum of ``forged``, ``refused``, ``joined`` and ``loads``."""
    forged: int = 0
    """Malformed, or not signed by one of our keys: refused without I/O."""
    refused: int = 0
    """Signed, but remembered as unknown or older than the cached group: refused without I/O."""
    joined: int = 0
    """Waited for a load that another request had begun."""
    loads: int = 0
    """Reads of the backend."""
    unknown: int = 0
    """Loads that found no group for the token, or one outside the resolver's environment."""
    mismatched: int = 0
    """Loads whose answer was not of the token, and was refused: a fault of the backend."""
    failures: int = 0
    """Loads that the backend did not answer."""
