"""A bulk whose PostgreSQL goes away in the middle, and comes back."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from engines.postgres import Postgres
from tenantry.backends.sql import SQLStore
from tenantry.database.migrations import migrate
from tests.provisioning.http.conftest import make_app, make_service
from tests.provisioning.http.test_bulk_stream import Exchange, line


async def test_a_bulk_goes_on_when_postgresql_is_back(postgres: Postgres, tmp_path: Path) -> None:
    """Its connections end at once, and nobody may connect: the report says which lines are done, and they are. The same
    body again does the rest. Red when lines of a batch whose transaction was lost are reported as done."""
    url = postgres.create_database()
    migrate(url)
    name = url.rpartition("/")[2]
    store = SQLStore(url, run_dir=tmp_path / "run")
    service = await make_service(store)
    app = make_app(store, service.keys)
    first, second = ([line(number) for number in numbers] for numbers in (range(700), range(700, 1_400)))

    def parts() -> Iterator[bytes]:
        yield b"".join(first)
        postgres.execute(f"alter database {name} allow_connections false")
        postgres.disconnect(url)
        yield b"".join(second)
        yield b""

    exchange = Exchange(app, service, parts())
    await exchange.run()
    *done, last = exchange.lines()
    created = [each["user_group"]["provided_id"] for each in done if each["success"]]
    assert (last["success"], last["error"]["code"], last["summary"]["created"]) == (0, "store_unavailable", 700)
    assert len(created) == 700
    postgres.execute(f"alter database {name} allow_connections true")
    stored = await store.groups.list(service.production, limit=2_000)
    assert {group.provided_id for group in stored} == set(created)
    again = Exchange(app, service, [b"".join(first + second), b""])
    await again.run()
    *lines, last = again.lines()
    assert last["summary"] == {"lines": 1_400, "created": 700, "updated": 0, "unchanged": 700, "failed": 0}
    assert [each["line"] for each in lines] == [*range(1, 1_401)]
    await service.http.aclose()
    await store.aclose()
