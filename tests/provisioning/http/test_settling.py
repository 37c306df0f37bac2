"""A write under a new table of versions is answered when nobody can use an older one, however long requests take."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from tenantry.backends.sql import SQLStore
from tenantry.database.migrations import migrate
from tenantry.provisioning.http.endpoint import STORE_SECONDS
from tenantry.server.app import compose
from tests.provisioning.http.conftest import make_keys, make_service

LEASE = 4.0


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TENANTRY_RUN_DIR", str(tmp_path / "run"))
    return tmp_path / "run"


async def test_a_rotation_waits_longer_than_a_store_may_take(tmp_path: Path, run: Path) -> None:
    """A request gives its store 2 s; this wait comes on top. Red when ``_extend`` does not ask how long it is: the
    answer would be 503 ``outcome_unknown``."""
    url = f"sqlite:///{tmp_path}/store.db"
    migrate(url)
    store, worker = SQLStore(url), SQLStore(url)
    service = await make_service(store, store_seconds=STORE_SECONDS)
    async with service.http:
        made = (await service.ask("GET", {"user_group_id": "acme"})).json()
        await worker.changes(None, lease=LEASE)
        for path in run.glob("*.slots"):
            path.unlink()
        begun = time.monotonic()
        answer = await service.ask("POST", {"current_token": made["user_group"]["token"]})
        assert answer.status_code == 200, answer.text
        assert time.monotonic() - begun > LEASE - 0.1
    for each in (store, worker):
        await each.aclose()


async def test_the_server_makes_the_table_when_it_starts(tmp_path: Path, run: Path) -> None:
    """Red when it is left to the first write, which would wait for its own making."""
    url = f"sqlite:///{tmp_path}/store.db"
    migrate(url)
    app = compose(SQLStore(url, keys=make_keys()), make_keys())
    async with app.router.lifespan_context(app):
        assert len(list(run.glob("*.slots"))) == 1


async def test_a_server_whose_store_is_down_starts_all_the_same(tmp_path: Path, run: Path) -> None:
    app = compose(SQLStore(f"sqlite:///{tmp_path}/missing.db", keys=make_keys()), make_keys())
    async with app.router.lifespan_context(app):
        assert not run.exists()
