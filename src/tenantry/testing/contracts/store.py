"""StoreContract: what every Store guarantees, as tests to run over your own.

    class TestMyStore(StoreContract):
        @pytest.fixture
        async def store(self, clock):
            store = MyStore(clock=clock)
            yield store
            await store.aclose()

It is the sum of the contracts of the seven parts and of what a resolver reads. The store starts empty and takes its
time from the fixture ``clock``. The tests run on asyncio by the anyio plugin. For a backend that only reads there are
BackendContract (``find``) and LeaseContract (``read_at_snapshot``, ``changes``, ``slots`` too).
"""

from __future__ import annotations

import pytest

from tenantry.ports import Store
from tenantry.testing.contracts.api_tokens import ApiTokenContract
from tenantry.testing.contracts.audit import AuditContract
from tenantry.testing.contracts.backend import LeaseContract
from tenantry.testing.contracts.codes import CodeContract
from tenantry.testing.contracts.environments import EnvironmentContract
from tenantry.testing.contracts.groups import GroupContract
from tenantry.testing.contracts.sources import SourceContract
from tenantry.testing.contracts.usage import UsageContract


class StoreContract(
    LeaseContract,
    GroupContract,
    EnvironmentContract,
    ApiTokenContract,
    SourceContract,
    CodeContract,
    UsageContract,
    AuditContract,
):
    """All tests of a Store. A subclass gives the fixture ``store``."""

    @pytest.fixture
    def backend(self, store: Store) -> Store:
        """A store is read through itself."""
        return store

    async def test_the_store_is_ready(self, store: Store) -> None:
        """A store that was set up says so."""
        await store.ready()
