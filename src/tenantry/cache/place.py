"""Places: which of a host's words stands for a handle."""

SLOTS = 65_536
"""How many words there are. Handles that share one share its luck: a write to either voids what is cached of both."""


def place_of(handle: bytes) -> int:
    """The place of this handle among the words: its first two bytes. Handles are random, so places are even."""
    return handle[0] << 8 | handle[1]
