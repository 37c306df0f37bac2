"""Slots: shared memory in which the processes of one host see each other's writes, without a message.

A store has 65,536 slots; a group's handle selects one. A slot holds a version, a random number: it is odd during a
write, and even otherwise.

- Write: the writer stores an odd version before its commit and a new even one after it, and only then returns.
- Read: a load notes the version before it asks the store. Its cached answer is valid while the slot has that version.
  An odd version prevents caching.
- Crash: if a writer is killed, the version stays odd, and nothing of the slot is cached, until a poll repairs the slot
  one staleness bound later.

``SharedSlots`` is a file in the run folder, for all processes of a host; ``PrivateSlots`` serves one process. Polls and
buses report writes of other hosts.
"""

from tenantry.cache.slots.folder import FolderTaken, run_folder
from tenantry.cache.slots.shared import SharedSlots
from tenantry.cache.slots.table import PrivateSlots

__all__ = ["FolderTaken", "PrivateSlots", "SharedSlots", "run_folder"]
