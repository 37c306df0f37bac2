"""PrivateSlots: the words of a store that lives in one process."""

from __future__ import annotations

from tenantry.slots.table import TABLE, Table


class PrivateSlots(Table):
    """A table that no other process sees, with the face of ``Slots``."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__(memoryview(bytearray(TABLE)).cast("Q"))

    def is_current(self) -> bool:
        """Always: nobody can replace it."""
        return True

    def renewed(self) -> PrivateSlots:
        """Itself."""
        return self

    def close(self) -> None:
        """Nothing to do."""
