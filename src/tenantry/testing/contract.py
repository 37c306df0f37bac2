"""StoreContract: what every Store keeps to, as tests to run over your own.

    class TestMyStore(StoreContract):
        @pytest.fixture
        async def store(self, clock):
            store = MyStore(clock=clock)
            yield store
            await store.aclose()

The store starts empty and takes its time from the fixture ``clock``. The tests run on asyncio by the anyio plugin.
"""

from __future__ import annotations

import pytest

from tenantry.testing.clock import FrozenClock
from tenantry.testing.contract_directory import DirectoryContract
from tenantry.testing.contract_groups import GroupContract
from tenantry.testing.contract_once import OnceContract
from tenantry.testing.contract_rotation import RotationContract


@pytest.mark.anyio
class StoreContract(GroupContract, RotationContract, OnceContract, DirectoryContract):
    """All tests of a Store. A subclass gives the fixture ``store``."""

    @pytest.fixture
    def anyio_backend(self) -> str:
        return "asyncio"

    @pytest.fixture
    def clock(self) -> FrozenClock:
        return FrozenClock()
