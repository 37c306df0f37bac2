"""Slots: processes of one host see a write before the writer returns, without a message.

A writer stores an odd version before its commit and a new even one afterwards. Answers are valid while their slot keeps
the even version read before the load; odd versions prevent caching, even if the writer is killed.
"""

from tenantry.cache.slots.folder import FolderTaken, run_folder
from tenantry.cache.slots.shared import SharedSlots
from tenantry.cache.slots.table import PrivateSlots

__all__ = ["FolderTaken", "PrivateSlots", "SharedSlots", "run_folder"]
