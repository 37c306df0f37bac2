"""Slots (``ports.Slots``) in shared memory. They show each process the writes of all processes on its host."""

from tenantry.cache.slots.folder import FolderTaken, RunFolder, run_folder
from tenantry.cache.slots.shared import SharedSlots
from tenantry.cache.slots.table import PrivateSlots

__all__ = ["FolderTaken", "PrivateSlots", "RunFolder", "SharedSlots", "run_folder"]
