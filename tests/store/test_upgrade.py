"""A store is migrated while processes of the version before serve it: none of them lets an old token live.

They know another run folder and note no lease, so they are kept from polling and from writing, and the first writes
under the new table wait until what they cached has run out.
"""

from __future__ import annotations

import asyncio
import secrets
import sqlite3
import time
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest
from alembic import command

from engines.postgres import Postgres
from tenantry.backends.sql import SQLStore
from tenantry.groups import GroupDraft, Tag
from tenantry.migrations import migrate
from tenantry.testing import make_token
from tests.store.test_migrations import _OLD_ROWS, _upgrade_to

_POLL = """
select generation.store_id, generation.number, listed.generation, listed.handle, listed.at from generation
  left join (select changes.generation, changes.handle, changes.at from changes limit 5) as listed on true
"""
_WRITE = "insert into changes (generation, handle, at) values (1, {handle}, 0)"
"""As revision 0002's processes send them."""


@pytest.fixture(params=["sqlite", "postgres"])
def used(request: pytest.FixtureRequest, tmp_path: Path, postgres: Postgres, monkeypatch: pytest.MonkeyPatch) -> str:
    """A store at revision 0002 with a group; its processes run."""
    sqlite = request.param == "sqlite"
    url = f"sqlite:///{tmp_path}/used.db" if sqlite else postgres.create_database()
    with monkeypatch.context() as patch:
        patch.setattr(command, "upgrade", partial(_upgrade_to, command.upgrade, "0002"))
        migrate(url)
    handle, nonce = ("x'0102030405060708'", "x'00'") if sqlite else ("'\\x0102030405060708'", "'\\x00'")
    _run(url, postgres, _OLD_ROWS.format(handle=handle, nonce=nonce))
    _run(url, postgres, _POLL)
    _run(url, postgres, _WRITE.format(handle=handle))
    _run(url, postgres, "delete from changes")
    return url


def _run(url: str, postgres: Postgres, script: str) -> None:
    if url.startswith("postgresql"):
        postgres.execute(script, url=url)
        return
    with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as connection:
        for statement in filter(str.strip, script.split(";")):
            connection.execute(statement).fetchall()
        connection.commit()


def test_a_process_of_the_version_before_polls_and_writes_no_more(used: str, postgres: Postgres) -> None:
    """Red when the step only adds columns: such a process kept its lease, looked at a table that no new process
    writes, and accepted an old token for 0.9 s after its rotation had returned (seen with real processes)."""
    migrate(used)
    for statement in (_POLL, _WRITE.format(handle="'x'")):
        with pytest.raises((sqlite3.OperationalError, AssertionError, RuntimeError), match=r"\bat\b"):
            _run(used, postgres, statement)


async def test_what_it_has_cached_runs_out_before_a_write_returns(used: str) -> None:
    """Five seconds, the default staleness bound. Red when the step leaves the longest lease at 0."""
    migrate(used)
    store = SQLStore(used)
    environment = await store.environment("production")
    assert environment is not None
    found = await store.get(environment, "acme")
    assert found is not None
    begun = time.monotonic()
    await store.rotate(environment, found.token, key_id="k1", nonce=secrets.token_bytes(16))
    assert time.monotonic() - begun > 4.5
    await store.aclose()


async def test_a_new_store_waits_for_nobody(url: str) -> None:
    """No process served it before. Red when the step notes a lease whatever is there."""
    store = SQLStore(url)
    environment = await store.create_environment("production", Tag.CUSTOMER)
    issued = await store.get_or_create(environment, GroupDraft("acme", "Acme"), make_token())
    async with asyncio.timeout(4):
        await store.rotate(environment, issued.token, key_id="k1", nonce=secrets.token_bytes(16))
    await store.aclose()
