"""The words of one host: how all its processes hear of a write before the writer returns, without a message.

A table of ``tenantry.cache.SLOTS`` words of 8 bytes, mapped into the memory of every process that reads or writes the
store. A group has its place by its handle; groups that share a place void each other's answers, which costs a read.

- **A fresh odd word before the commit, a fresh even one after it.** Whoever keeps an answer keeps the even word that it
  read *before* it asked, and uses the answer while that word stands. Odd means that a write is under way: nothing is
  kept. With the even word alone, a writer that is killed between its commit and the word would leave old answers good
  until the next poll; with the odd word alone, nothing could ever be kept again.
- **Random, not an increment.** Two writers who add one to the same word can both read 6 and both leave 7: one write
  is lost, and what was kept under the first 7 looks good after the second. No lock is needed if no two words are alike:
  whichever of two stores comes last, the word is one that nobody has kept. (Two writers at one place: the first one's
  even word may stand while the second is about to commit. What is kept under it is void when the second's even word is
  stored, before that write returns.)
- **One machine store.** The table begins 64 bytes into a page, so every word is aligned to its 8 bytes, and CPython
  copies an item of a ``memoryview`` with format ``Q`` by one 8-byte move, which such an address makes indivisible on
  every 64-bit machine. Were it not, as on a 32-bit one, a reader could meet half of an old and half of a new word. That
  too is a word that nobody has kept: it costs a read and shows nothing stale.
"""

from tenantry.slots.boot import boot_clock
from tenantry.slots.folder import FolderTaken, run_folder
from tenantry.slots.private import PrivateSlots
from tenantry.slots.shared import Slots

__all__ = ["FolderTaken", "PrivateSlots", "Slots", "boot_clock", "run_folder"]
