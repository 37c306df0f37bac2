"""Slots: shared memory by which the processes of one host see each other's writes, without a message.

A store has 65,536 slots; the first two bytes of a group's handle select its slot. A slot holds a version: a random
number, even at rest and odd during a write.

- Write: the writer stores a new odd version before its commit and a new even one afterwards, and only then returns.
- Read: a load notes the version before it asks the store. Its cached answer is valid while the slot has that version,
  so that each later write invalidates it. An answer that was loaded under an odd version is not cached.
- Crash: if a writer is killed, its version stays odd, and groups of that slot are not cached until a poll, one
  staleness bound later, repairs the slot.

``SharedSlots`` maps a file in the run folder, for all processes of a host; ``PrivateSlots`` serve one process. Writes
on other hosts are not seen here: polls and buses report them.
"""

from tenantry.cache.slots.folder import FolderTaken, run_folder
from tenantry.cache.slots.shared import SharedSlots
from tenantry.cache.slots.table import PrivateSlots

__all__ = ["FolderTaken", "PrivateSlots", "SharedSlots", "run_folder"]
