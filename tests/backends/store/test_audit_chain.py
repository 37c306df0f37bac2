"""Sealed entries of the audit trail in real stores: whatever writes, and whoever writes beside it."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator
from typing import TypeAlias

import pytest

from engines.postgres import Postgres
from tenantry.backends.audit.chain import ChainCheck
from tenantry.backends.memory.store import MemoryStore
from tenantry.backends.sql import SQLStore, sealed_entries
from tenantry.errors import AlreadyExists, TokenAlreadyRotated
from tenantry.groups import ChainHead, GroupChanges, GroupCreation, GroupDraft, GroupUpdate, Scope, SourceDraft, Tag
from tenantry.testing import make_token
from tenantry.tokens import KeyRing, SigningKey
from tests.backends.store.test_upgrade import _run as execute

KEYS = KeyRing([SigningKey("k1", secrets.token_bytes(32))])
AnyStore: TypeAlias = SQLStore | MemoryStore


async def checked(store: AnyStore, *expected: ChainHead, keys: KeyRing = KEYS) -> ChainCheck:
    """The whole trail, against the head that the store has noted."""
    noted = await store.audit.head()
    check = ChainCheck(keys.audit_keys, [*expected, *([] if noted is None else [noted])])
    for entry in await store.audit.list(limit=10_000):
        check.add(entry)
    check.finish()
    return check


@pytest.fixture(params=["memory", "sqlite", "postgres"])
async def store(request: pytest.FixtureRequest) -> AsyncIterator[AnyStore]:
    """A store with keys."""
    if request.param == "memory":
        yield MemoryStore(keys=KEYS)
        return
    made = SQLStore(request.getfixturevalue(f"{request.param}_url"), keys=KEYS)
    yield made
    await made.aclose()


async def test_every_write_is_sealed(store: AnyStore) -> None:
    """Of each kind, in the order in which they were done; what is refused leaves no seal. The head is the last entry.
    Red when one kind of write adds its entry past the chain."""
    assert await store.audit.head() is None
    production = await store.environments.create("production", Tag.CUSTOMER)
    made = await store.groups.get_or_create(production, GroupDraft("acme", "Acme ä 😀"), make_token())
    await store.groups.update(production, "acme", GroupChanges(name="Acme Ltd"))
    await store.groups.rotate(production, made.token, key_id="k1", nonce=bytes(16))
    with pytest.raises(TokenAlreadyRotated):
        await store.groups.rotate(production, made.token, key_id="k1", nonce=bytes(16))
    await store.groups.delete(production, "acme")
    token = await store.api_tokens.create(production, digest=bytes(32), label="ä", scopes=[Scope.PREVIEW], hint="abcd")
    await store.api_tokens.revoke(production, token.id)
    await store.sources.create(production, "ds_1", SourceDraft("w", "postgresql://h:1/d"))
    with pytest.raises(AlreadyExists):
        await store.sources.create(production, "ds_1", SourceDraft("w", "postgresql://h:1/d"))
    await store.sources.delete(production, "w")
    await store.environments.set_embedding_hosts(production, ["https://a.example"])
    many = [GroupCreation(GroupDraft(f"g{number}", "x"), make_token()) for number in range(3)]
    made_many = await store.groups.write_many(production, many)
    changed = [GroupUpdate(each.group, GroupChanges(name="ä")) for each in made_many if each is not None]
    await store.groups.write_many(production, [*changed, GroupCreation(GroupDraft("last", "x"), make_token())])
    check = await checked(store)
    assert (check.fault, check.sealed, check.unsealed, check.before) == (None, 17, 0, 0)
    assert check.head == await store.audit.head()
    numbers = [entry.number for entry in await store.audit.list()]
    assert numbers == sorted(numbers)


async def test_writers_at_the_same_time_make_one_chain(url: str) -> None:
    """Four stores, as four processes, and changes among the creations. Red when the head is read without the lock: two
    seals follow the same entry."""
    stores = [SQLStore(url, keys=KEYS) for _ in range(4)]
    production = await stores[0].environments.create("production", Tag.CUSTOMER)

    async def write(store: SQLStore, writer: int) -> None:
        for number in range(8):
            made = await store.groups.get_or_create(production, GroupDraft(f"{writer}-{number}", "x"), make_token())
            if number % 2:
                await store.groups.rotate(production, made.token, key_id="k1", nonce=bytes(16))

    await asyncio.gather(*(write(stores[number % 4], number) for number in range(8)))
    check = await checked(stores[0])
    assert (check.fault, check.sealed, check.unsealed) == (None, 1 + 8 * 12, 0)
    for store in stores:
        await store.aclose()


async def test_a_writer_without_the_keys_beside_others(url: str) -> None:
    """Its entries have no seal, and the next one covers them: then a change of them is found. Red when a seal covers
    nothing but its own entry."""
    sealing, plain = SQLStore(url, keys=KEYS), SQLStore(url)
    production = await plain.environments.create("production", Tag.CUSTOMER)
    for number in range(3):
        await plain.groups.get_or_create(production, GroupDraft(f"a{number}", "x"), make_token())
    await sealing.groups.get_or_create(production, GroupDraft("b", "x"), make_token())
    await plain.groups.get_or_create(production, GroupDraft("c", "x"), make_token())
    await asyncio.gather(
        *(
            each.groups.get_or_create(production, GroupDraft(f"{each is plain}{n}", "x"), make_token())
            for each in (plain, sealing)
            for n in range(8)
        )
    )
    await sealing.groups.get_or_create(production, GroupDraft("last", "x"), make_token())
    check = await checked(sealing)
    assert (check.fault, check.sealed, check.unsealed, check.before, check.left_out) == (None, 10, 13, 0, 0)
    entries = list(await plain.audit.list())
    changed = ChainCheck(KEYS.audit_keys)
    for entry in [*entries[:1], *entries[2:]]:
        changed.add(entry)
    assert changed.fault is not None
    for store in (sealing, plain):
        await store.aclose()


async def test_a_long_run_without_seals_is_left_out(url: str, postgres: Postgres) -> None:
    """Of more entries than one seal covers none is read for it. Red when a writer hashes all that others wrote."""
    store = SQLStore(url, keys=KEYS)
    production = await store.environments.create("production", Tag.CUSTOMER)
    many = sealed_entries.MAX_COVERED + 1
    details = "'{}'::json" if url.startswith("postgresql") else "'{}'"
    numbers = (
        f"generate_series(1, {many}) as n"
        if url.startswith("postgresql")
        else f"(with recursive c(n) as (select 1 union all select n + 1 from c where n < {many}) select n from c)"
    )
    insert = (
        "insert into audit (at, author, action, environment, subject, details) "
        f"select 0, 'old', 'group.created', 'production', 'g' || n, {details} from {numbers}"
    )
    await asyncio.to_thread(execute, url, postgres, insert)
    await store.groups.get_or_create(production, GroupDraft("acme", "x"), make_token())
    check = await checked(store)
    assert (check.fault, check.sealed, check.unsealed, check.left_out) == (None, 2, many, many)
    await store.aclose()


_UNLOCK = {
    "sqlite": "drop trigger audit_is_not_updated; drop trigger audit_is_not_deleted;",
    "postgresql": "drop trigger audit_is_append_only on audit;",
}


@pytest.mark.parametrize(
    ("forgery", "number"),
    [
        ("update audit set subject = 'other' where number = 3", 3),
        ("delete from audit where number = 3", 3),
        ("update audit set number = 99 where number = 3", 3),
        ("delete from audit where number > 4", 5),
        ("update audit set seal = null, subject = 'other' where number = 5", None),
        ("delete from audit where number > 4; update generation set audit_number = 4, audit_mac = null", None),
    ],
)
async def test_what_an_administrator_does_is_found(
    url: str, postgres: Postgres, forgery: str, number: int | None
) -> None:
    """He drops the triggers, and changes the tables. Where a later head was noted elsewhere, an end that was cut off
    with all its traces is found too."""
    store = SQLStore(url, keys=KEYS)
    production = await store.environments.create("production", Tag.CUSTOMER)
    for each in range(4):
        await store.groups.get_or_create(production, GroupDraft(f"g{each}", "x"), make_token())
    noted = await store.audit.head()
    assert noted is not None
    kind = url.partition(":")[0]
    await asyncio.to_thread(execute, url, postgres, f"{_UNLOCK[kind]} {forgery}")
    check = await checked(store, noted)
    assert check.fault is not None
    assert check.fault.number == (5 if number is None else number)
    await store.aclose()


async def test_a_chain_that_begins_after_older_entries(url: str, postgres: Postgres) -> None:
    """As in a store that is older than its chain. Red when the first seal covers all that there ever was."""
    older = f"{_OLD_NOTE * 3} update generation set audit_number = 3;"
    await asyncio.to_thread(execute, url, postgres, older)
    store = SQLStore(url, keys=KEYS)
    assert await store.audit.head() is None
    production = await store.environments.create("production", Tag.CUSTOMER)
    await asyncio.to_thread(execute, url, postgres, _OLD_NOTE)
    await store.groups.get_or_create(production, GroupDraft("acme", "x"), make_token())
    check = await checked(store)
    assert (check.fault, check.before, check.sealed, check.unsealed, check.left_out) == (None, 3, 2, 1, 0)
    await store.aclose()


_OLD_NOTE = """
insert into audit (at, author, request_id, action, environment, subject, details)
  values (1, 'ann', null, 'group.created', 'production', 'old', '{}');
"""
