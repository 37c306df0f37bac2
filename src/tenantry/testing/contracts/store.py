"""StoreContract: tests for your Store::

    class TestMyStore(StoreContract):
        @pytest.fixture
        async def store(self, clock):
            store = MyStore(clock=clock)
            yield store
            await store.aclose()

Your fixture must yield an empty store that gets its time from the fixture ``clock``. The tests run on asyncio with the
anyio plugin.
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
    """All tests of a Store."""

    @pytest.fixture
    def backend(self, store: Store) -> Store:
        return store

    async def test_the_store_is_ready(self, store: Store) -> None:
        await store.ready()
