"""The slots of one host: how all its processes see a write before the writer returns, without a message.

A table of ``tenantry.cache.SLOT_COUNT`` slots, each with a version of 8 bytes, mapped into the memory of every process
that reads or writes the store. A group has its slot by its handle; groups that share a slot void each other's answers,
which costs a read. It is a seqlock with random versions:

- **An odd version before the commit (a write is in progress), a new even one after it.** Whoever caches an answer notes
  the even version that it read *before* it asked, and uses the answer while the slot has it. While a write is in
  progress nothing is cached. With the even version alone, a writer that is killed between its commit and the version
  would leave old answers good until the next poll; with the odd one alone, nothing could ever be cached again.
- **Random, not an increment.** Two writers who add one to the same version can both read 6 and both leave 7: one write
  is lost, and what was cached under the first 7 looks good after the second. No lock is needed if no two versions are
  alike: whichever of two stores comes last, nobody has cached anything under it. (Two writers in one slot: the even
  version of the first may be there while the second is about to commit. What is cached under it is void when the second
  stores its own, before that write returns.)
- **One machine store.** The table begins 64 bytes into a page, so every version is aligned to its 8 bytes, and CPython
  copies an item of a ``memoryview`` with format ``Q`` by one 8-byte move, which such an address makes indivisible on
  every 64-bit machine. Were it not, as on a 32-bit one, a reader could meet half of an old and half of a new version.
  Nobody has cached anything under that either: it costs a read and shows nothing stale.
"""

from tenantry.cache.slots.folder import FolderTaken, run_folder
from tenantry.cache.slots.shared import SharedSlots
from tenantry.cache.slots.table import PrivateSlots, monotonic_with_suspend, utc_now

__all__ = ["FolderTaken", "PrivateSlots", "SharedSlots", "monotonic_with_suspend", "run_folder", "utc_now"]
