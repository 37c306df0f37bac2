"""What tests of a host program need: a store in memory, a clock to advance by hand, and the contracts of the ports.

The contracts need pytest, which is imported only when one of their names is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tenantry._lazy import lazy_exports
from tenantry.backends.memory import MemoryStore
from tenantry.testing.samples import FrozenClock, make_environment, make_group, make_token

if TYPE_CHECKING:
    from tenantry.testing.contract_backend import BackendContract, LeaseContract
    from tenantry.testing.contract_store import StoreContract
else:
    __getattr__, __dir__ = lazy_exports(
        __name__,
        {
            "BackendContract": "tenantry.testing.contract_backend",
            "LeaseContract": "tenantry.testing.contract_backend",
            "StoreContract": "tenantry.testing.contract_store",
        },
    )

__all__ = [
    "BackendContract",
    "FrozenClock",
    "LeaseContract",
    "MemoryStore",
    "StoreContract",
    "make_environment",
    "make_group",
    "make_token",
]
