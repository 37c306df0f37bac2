"""``upsert_many``: what was written keeps its result, whatever happens to the lines beside it."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from tenantry.backends.memory.groups import MemoryGroups
from tenantry.backends.memory.store import MemoryStore
from tenantry.errors import SigningKeyMissing, TenantryError
from tenantry.groups import Author, Environment, GroupChanges, Tag
from tenantry.provisioning import Upsert, Upserted, UpsertProvisioner
from tenantry.tokens import KeyRing, SigningKey

KEY = SigningKey("k1", b"1" * 32)
SECRET = "x".join("secret")
UPSERTS = [Upsert(each, GroupChanges(name="N")) for each in ("a", "b", "c")]


class KeysThatChange(KeyRing):
    """Mints so often, and then the file it was read from has lost its key."""

    left = 10

    def mint(self, token: Any) -> str:
        if self.left == 0:
            raise SigningKeyMissing("the signing key k1 of this user group's token is not in the key file")
        self.left -= 1
        return super().mint(token)


@pytest.fixture
async def store() -> MemoryStore:
    return MemoryStore()


@pytest.fixture
async def environment(store: MemoryStore) -> Environment:
    return await store.environments.create("production", Tag.CUSTOMER)


def told(results: list[Any]) -> list[str]:
    return [each.outcome.value if isinstance(each, Upserted) else each.code for each in results]


async def test_a_key_that_goes_away_after_the_write(store: MemoryStore, environment: Environment) -> None:
    """Is the error of the lines whose token it would sign; the others keep their results. Red when what ``mint`` raises
    after the write leaves ``upsert_many``."""
    keys = KeysThatChange([KEY])
    keys.left = 2
    results = await UpsertProvisioner(store, keys).upsert_many(environment, UPSERTS)
    assert told(results) == ["created", "created", "signing_key_missing"]
    assert len(await store.groups.list(environment)) == 3


class GroupsThatBreak(MemoryGroups):
    """The group b meets another writer at first; at the second write, or the first, there is a bug."""

    breaks_at = 2
    writes = 0

    async def write_many(self, environment: Any, writes: Any, **named: Any) -> Any:
        self.writes += 1
        if self.writes == self.breaks_at:
            raise RuntimeError(SECRET)
        kept = [each for each in writes if each.provided_id != "b"]
        done = {each.group.provided_id: each for each in await super().write_many(environment, kept, **named) if each}
        return [done.get(each.provided_id) for each in writes]


class StoreThatBreaks(MemoryStore):
    """``groups`` are GroupsThatBreak."""

    def __init__(self) -> None:
        super().__init__()
        self.groups: GroupsThatBreak = GroupsThatBreak(self._tables)


async def test_a_bug_in_a_later_attempt(caplog: pytest.LogCaptureFixture) -> None:
    """Is the error of the lines that waited for it, and the log has it without its text. Red when it leaves
    ``upsert_many``, which has written the others."""
    store = StoreThatBreaks()
    environment = await store.environments.create("production", Tag.CUSTOMER)
    with caplog.at_level(logging.ERROR, logger="tenantry.provisioning"):
        results = await UpsertProvisioner(store, KeyRing([KEY])).upsert_many(
            environment, UPSERTS, author=Author("tests", "request-7")
        )
    assert told(results) == ["created", "internal", "created"]
    assert isinstance(results[1], TenantryError)
    assert "RuntimeError" in caplog.text
    assert "request-7" in caplog.text
    assert SECRET not in caplog.text + str(results[1])


async def test_a_bug_before_anything_was_decided() -> None:
    """Is raised: the caller has nothing to report."""
    store = StoreThatBreaks()
    store.groups.breaks_at = 1
    environment = await store.environments.create("production", Tag.CUSTOMER)
    with pytest.raises(RuntimeError):
        await UpsertProvisioner(store, KeyRing([KEY])).upsert_many(environment, UPSERTS)
    assert await store.groups.list(environment) == []
