"""What tests of a host program need: a store in memory, a clock that stands still, and the contract of a Store.

``StoreContract`` needs pytest, which is loaded only when that name is asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tenantry.backends.memory import MemoryStore
from tenantry.testing.clock import FrozenClock
from tenantry.testing.sample import make_environment, make_group, make_token

if TYPE_CHECKING:
    from tenantry.testing.contract import StoreContract

__all__ = ["FrozenClock", "MemoryStore", "StoreContract", "make_environment", "make_group", "make_token"]


def __getattr__(name: str) -> Any:
    if name == "StoreContract":
        from tenantry.testing.contract import StoreContract

        return StoreContract
    raise AttributeError(f"module 'tenantry.testing' has no attribute {name!r}")
