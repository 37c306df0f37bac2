"""Slots: processes of one host see a write before the writer returns, without a message.

A table of SLOT_COUNT versions of 8 bytes is mapped into every process that uses the store; a group's handle chooses its
slot. It is a seqlock with random versions:

- A writer stores an odd version before its commit (write in progress: nothing is cached) and a new even one after it. A
  reader notes the even version before it asks, and uses the answer while the slot keeps it. With the even version
  alone, a writer killed after its commit would leave old answers valid until the next poll.
- Versions are random: two writers that increment the same version could both store 7, and an answer cached under the
  first 7 would look valid. With unique versions no lock is required, whichever store comes last.
- CPython copies an item of a ``memoryview`` of format ``Q`` by one aligned 8-byte move, which is atomic on 64-bit
  machines. Elsewhere a torn version matches nothing and costs a read.
"""

from tenantry.cache.slots.folder import FolderTaken, run_folder
from tenantry.cache.slots.shared import SharedSlots
from tenantry.cache.slots.table import PrivateSlots, monotonic_with_suspend, utc_now

__all__ = ["FolderTaken", "PrivateSlots", "SharedSlots", "monotonic_with_suspend", "run_folder", "utc_now"]
