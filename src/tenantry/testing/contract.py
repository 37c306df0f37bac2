"""StoreContract: what every Store guarantees, as tests to run over your own.

    class TestMyStore(StoreContract):
        @pytest.fixture
        async def store(self, clock):
            store = MyStore(clock=clock)
            yield store
            await store.aclose()

The store starts empty and takes its time from the fixture ``clock``. The tests run on asyncio by the anyio plugin. For
what only reads there are BackendContract (``find``) and LeaseContract (``look``, ``changes``, ``slots`` too).
"""

from __future__ import annotations

import pytest

from tenantry.ports import Store
from tenantry.testing.contract_directory import AuditContract, DirectoryContract
from tenantry.testing.contract_groups import GroupContract
from tenantry.testing.contract_idempotency import IdempotencyContract
from tenantry.testing.contract_lease import LeaseContract
from tenantry.testing.contract_rotation import RotationContract


class StoreContract(
    LeaseContract, GroupContract, RotationContract, IdempotencyContract, DirectoryContract, AuditContract
):
    """All tests of a Store. A subclass gives the fixture ``store``."""

    @pytest.fixture
    def backend(self, store: Store) -> Store:
        """A store is read through itself."""
        return store
