"""Slots: processes of one host see a write before the writer returns, without a message.

SLOT_COUNT versions of 8 bytes are mapped into every process that uses the store; a handle chooses its slot. A writer
stores an odd version before its commit (nothing is cached meanwhile) and a new even one after it; a reader uses an
answer while the slot keeps the even version read before the question. With the even version alone, a writer killed
after its commit would leave old answers valid.

Versions are random and so unique, which makes locks unnecessary: two increments of one version could collide. CPython
copies an item of a ``memoryview`` of format ``Q`` by one atomic 8-byte move; elsewhere a torn version matches nothing.
"""

from tenantry.cache.slots.folder import FolderTaken, run_folder
from tenantry.cache.slots.shared import SharedSlots
from tenantry.cache.slots.table import PrivateSlots, monotonic_with_suspend, utc_now

__all__ = ["FolderTaken", "PrivateSlots", "SharedSlots", "monotonic_with_suspend", "run_folder", "utc_now"]
