"""A store that was restored from a backup while workers remember what came after it."""

from __future__ import annotations

import os
import re
import sqlite3
from pathlib import Path

import pytest

from tenantry.backends.sql import SQLStore
from tenantry.database.migrations import migrate
from tenantry.errors import InvalidToken
from tenantry.groups import GroupDraft, Tag
from tenantry.provisioning import Provisioner
from tenantry.resolver import Resolver
from tenantry.tokens import KeyRing, SigningKey

PAGE = Path(__file__).parents[2] / "docs" / "operating.md"


async def test_a_new_id_makes_every_worker_begin_anew(tmp_path: Path) -> None:
    """Even one that was idle until the restored store had counted beyond what the worker knew: its list would go on
    unbroken, and the token of the lost time with it. Red without the statement of docs/operating.md.
    """
    database = tmp_path / "tenantry.db"
    migrate(f"sqlite:///{database}")
    keys = KeyRing([SigningKey("k1", os.urandom(32))])
    here, there = (SQLStore(f"sqlite:///{database}", run_dir=tmp_path / name) for name in ("here", "there"))
    now = 1_000.0
    worker = Resolver(there, keys=keys, clock=lambda: now)
    operator = Provisioner(here, keys)
    production = await here.environments.create("production", Tag.CUSTOMER)
    first, other, busy = [(await operator.get_or_create(production, GroupDraft(name, name))).token for name in "abc"]
    with sqlite3.connect(database) as live, sqlite3.connect(":memory:") as backup:
        live.backup(backup)
        lost = (await operator.rotate(production, first)).token
        await worker.resolve(lost)
        await worker.resolve(other)
        now += 60  # it sleeps
        backup.backup(live)
        live.execute(f"update generation set store_id = {_new_id()}")
    live.close()
    backup.close()
    for _ in range(5):
        busy = (await operator.rotate(production, busy)).token
    await worker.resolve(other)
    with pytest.raises(InvalidToken):
        await worker.resolve(lost)
    await worker.resolve(first)  # the store's own truth: it was never rotated
    await worker.aclose()
    await here.aclose()
    await there.aclose()


def _new_id() -> str:
    found = re.search(r"In SQLite the new id is `(.+?)`", PAGE.read_text("utf-8"))
    assert found is not None
    return found[1]
