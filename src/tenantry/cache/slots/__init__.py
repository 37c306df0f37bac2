"""Shared memory that shows each process the writes of all processes on its host, without messages.

A store has 65,536 slots. A group's handle selects one of them. Each slot holds a version, which is a random number: odd
during a write, otherwise even.

- Write: the slot gets an odd version before the commit and a new even one after it.
- Read: a load notes the version before it asks the store. The answer may be cached only if this is even.
  It is valid until the version changes.
- Crash: the version stays odd and prevents caching until a poll repairs the slot.

``SharedSlots`` keeps the slots in a file in the run folder, for all processes of a host. ``PrivateSlots`` keeps them in
the memory of one process."""

from tenantry.cache.slots.folder import FolderTaken, run_folder
from tenantry.cache.slots.shared import SharedSlots
from tenantry.cache.slots.table import PrivateSlots

__all__ = ["FolderTaken", "PrivateSlots", "SharedSlots", "run_folder"]
