"""What the page on several regions says to do when the primary is lost."""

from __future__ import annotations

from contextlib import AsyncExitStack, suppress
from urllib.parse import urlsplit

import anyio
import pytest

from engines.postgres import Postgres
from tenantry.backends.sql import SQLStore
from tenantry.database.migrations import migrate
from tenantry.errors import StoreUnavailable
from tenantry.groups import Tag
from tests.backends.store.proxy import proxied
from tests.deploy.lives import page

SECONDS = 60


async def test_a_url_with_both_hosts(postgres: Postgres) -> None:
    """The first of them refuses connections from some moment on; the second one is as a promoted standby. Reads and
    writes go there. Red with the first host alone. An error names both hosts, red with ``the local socket``."""
    (option,) = [word for word in page("regions").replace("`", " ").split() if word.startswith("target_session_attrs")]
    database = postgres.create_database()
    await anyio.to_thread.run_sync(migrate, database)
    async with AsyncExitStack() as primary, proxied(database) as (_, standby):
        _, first = await primary.enter_async_context(proxied(database))
        name = urlsplit(database).path
        ports = f"{urlsplit(first).port},{urlsplit(standby).port}"
        url = f"postgresql://postgres@{name}?host=127.0.0.1,127.0.0.1&port={ports}&{option}"
        store = SQLStore(url)
        await store.environments.create("before", Tag.CUSTOMER)
        await primary.aclose()
        with anyio.fail_after(SECONDS):
            while len(await _names(store)) < 2:
                with suppress(StoreUnavailable):
                    await store.environments.create("after", Tag.CUSTOMER)
    with pytest.raises(StoreUnavailable, match=r"at 127\.0\.0\.1,127\.0\.0\.1"):
        await store.environments.list()
    await store.aclose()


async def _names(store: SQLStore) -> list[str]:
    with suppress(StoreUnavailable):
        return [each.name for each in await store.environments.list()]
    return []
