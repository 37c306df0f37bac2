"""What tests of a host program need: a store in memory, a clock that stands still, and the contracts of the ports.

The contracts need pytest, which is loaded only when one of their names is asked for.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from tenantry.backends.memory import MemoryStore
from tenantry.testing.clock import FrozenClock
from tenantry.testing.sample import make_environment, make_group, make_token

if TYPE_CHECKING:
    from tenantry.testing.contract import StoreContract
    from tenantry.testing.contract_backend import BackendContract
    from tenantry.testing.contract_lease import LeaseContract

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

_CONTRACTS = {"BackendContract": "contract_backend", "LeaseContract": "contract_lease", "StoreContract": "contract"}


def __getattr__(name: str) -> Any:
    if name in _CONTRACTS:
        return getattr(import_module(f"tenantry.testing.{_CONTRACTS[name]}"), name)
    raise AttributeError(f"module 'tenantry.testing' has no attribute {name!r}")
