"""SQLStore through a real PgBouncer with default settings. The whole contract runs there too, in transaction
mode (test_contract.py); what session mode has of its own is here."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest
from sqlalchemy import Connection

from engines.debian_packages import require
from engines.pgbouncer import PACKAGES, PgBouncer, pooled
from engines.postgres import Postgres
from tenantry.backends.sql import SQLStore
from tenantry.backends.sql.postgres import PostgresEngine
from tenantry.database.address import PostgresServer, read_address
from tenantry.database.migrations import check, migrate
from tenantry.errors import StoreUnavailable
from tenantry.groups import GroupDraft, Issued
from tenantry.testing import make_token
from tests.backends.store.acme import acme, rotate

MODES = ["transaction", "session"]


@pytest.fixture(params=MODES)
def pooler(request: pytest.FixtureRequest) -> PgBouncer:
    """A PgBouncer in each mode."""
    value: PgBouncer = request.getfixturevalue(f"{request.param}_pooler")
    return value


async def test_a_pooler_is_noticed(postgres_url: str, pooler: PgBouncer) -> None:
    """A connection knows whether it is direct: the process that answers is the one that the greeting named."""
    for url, direct in ((postgres_url, True), (pooler.url(postgres_url), False)):
        server = read_address(url)
        assert isinstance(server, PostgresServer)
        connection = await server.connect(seconds=20)
        assert connection.direct is direct
        assert (connection.prepare_threshold is None) is not direct
        connection.terminate()


async def test_several_clients_share_its_servers(postgres_url: str, pooler: PgBouncer) -> None:
    """Several stores rotate, read and follow groups of their own at once: nothing fails, nothing is another's. In
    session mode each keeps a server process for each of its connections, so there are fewer.

    Red with prepared statements held through a pooler in transaction mode: "prepared statement does not exist", or
    "already exists". Red with a start-up parameter that a pooler refuses: nothing connects.
    """
    several = 16 if pooler.mode == "transaction" else 5
    stores = [SQLStore(pooler.url(postgres_url), deadline=30) for _ in range(several)]
    first = await acme(stores[0])
    environment = first.group.environment

    async def work(store: SQLStore, number: int) -> Issued:
        issued = (
            await store.groups.get_or_create(environment, GroupDraft(f"group-{number}", "A"), make_token())
            if number
            else first
        )
        for _ in range(10):
            before = issued
            issued = await rotate(store, issued)
            assert await store.find(issued.token) == issued.group
            assert await store.find(before.token) is None
            await store.changes(None)
        return issued

    done = await asyncio.gather(*(work(store, number) for number, store in enumerate(stores)))
    assert [each.token.version for each in done] == [11] * several
    assert "unsupported startup parameter" not in pooler.log()
    await asyncio.gather(*(store.aclose() for store in stores))


async def test_a_transaction_may_not_stay_idle(postgres_url: str, pooler: PgBouncer, postgres: Postgres) -> None:
    """Each write has the limit, and no session of the pooler's keeps it for its next client.

    Red without ``set local``; red with ``set``, which stays on the server's session.
    """
    for url in (postgres_url, pooler.url(postgres_url)):
        server = read_address(url)
        assert isinstance(server, PostgresServer)
        engine = PostgresEngine(server)
        deadline = asyncio.get_running_loop().time() + 30
        assert await engine.write(_limit, deadline, lambda _: None) == "15s"
        await engine.aclose()
    through = partial(postgres.execute, "show idle_in_transaction_session_timeout", url=pooler.url(postgres_url))
    assert {(await asyncio.to_thread(through)).strip() for _ in range(4)} == {"0"}


def _limit(connection: Connection) -> str:
    return str(connection.exec_driver_sql("show idle_in_transaction_session_timeout").scalar())


@pytest.mark.parametrize(
    ("mode", "setting", "message"),
    [("statement", "", "pool_mode = statement"), ("transaction", "disable_pqexec = 1", "disable_pqexec")],
)
async def test_a_pooler_that_cannot_be_used_is_named(
    postgres_url: str, postgres: Postgres, mode: str, setting: str, message: str
) -> None:
    """Red without a reason of its own: "does not answer: try again", for ever."""
    require(*PACKAGES)
    with pooled(postgres.url, mode, setting) as pooler:
        store = SQLStore(pooler.url(postgres_url), deadline=30)
        with pytest.raises(StoreUnavailable, match=message):
            await acme(store)
        await store.aclose()


def test_migrations_run_through_it(postgres: Postgres, pooler: PgBouncer) -> None:
    """Also two at once: their lock belongs to the transaction. Red with a lock of the session."""
    url = pooler.url(postgres.create_database())
    with ThreadPoolExecutor(2) as threads:
        for each in [threads.submit(migrate, url) for _ in range(2)]:
            each.result(300)
    migrate(url)
    check(url)
