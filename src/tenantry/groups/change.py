"""Change: what a store tells of the writes that caches have to hear of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

CHANNEL: Final = "tenantry"
"""Where a store in PostgreSQL notifies of its changes, one notice each."""


@dataclass(frozen=True, slots=True)
class Change:
    """One rotation, update or deletion: the ``generation`` that it made, whose ``handle`` it was, and how many seconds
    ago it was written (``age``), by the store's own clock."""

    generation: int
    handle: bytes
    age: float = 0.0


@dataclass(frozen=True, slots=True)
class Changes:
    """The ``generation`` of the store ``store_id`` at the moment of asking, and every change in (``since``,
    ``generation``], oldest first.

    The list is unbroken but may begin later than it was asked for: older changes have been trimmed. A generation below
    one that was seen before means that the store was restored from a backup.
    """

    store_id: str
    generation: int
    since: int
    changes: tuple[Change, ...] = ()


def write_notice(store_id: str, generation: int, handle: bytes) -> str:
    """A change as the text of a notice. Public as the handle is: whoever forges one causes a read."""
    return f"{store_id} {generation} {handle.hex()}"


def read_notice(text: str) -> tuple[str, int, bytes] | None:
    """Store id, generation and handle of a notice; None if the text is not one."""
    match text.split(" "):
        case [store_id, number, handle] if number.isascii() and number.isdigit() and len(number) < 20:
            try:
                return store_id, int(number), bytes.fromhex(handle)
            except ValueError:
                return None
    return None
