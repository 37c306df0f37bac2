"""The contract of Idempotency-Keys: one write, one answer, given again for 24 hours while its token lives."""
# ruff: noqa: S101 - a test suite, which is in the package because third parties run it too

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from tenantry.errors import IdempotencyInFlight, IdempotencyKeyReused, IdempotencySuperseded, TokenAlreadyRotated
from tenantry.groups import Environment, GroupChanges, GroupDraft, IdempotencyKey, Issued, Tag
from tenantry.ports import Store
from tenantry.testing import FrozenClock, make_token
from tenantry.testing.contract_backend import rotate

DAY = 24 * 60 * 60
ONCE = IdempotencyKey("key-1", (b"a" * 32,))


class IdempotencyContract:
    """Tests of the parameter ``once`` of get_or_create and rotate."""

    async def test_a_repeated_rotation_gives_the_same_answer(self, store: Store) -> None:
        """The same key and body rotate once: the second call gives the first answer, marked as replayed."""
        first = await _issued(store)
        second = await rotate(store, first, once=ONCE, grace_seconds=60)
        again = await rotate(store, first, once=ONCE, grace_seconds=60)
        assert again == replace(second, replayed=True)
        assert again.token.version == 2

    async def test_a_replay_is_the_answer_as_it_was(self, store: Store) -> None:
        """A change of name or properties in between is not in the replay; the token is live all the same."""
        first = await _issued(store)
        second = await rotate(store, first, once=ONCE)
        await store.update(first.group.environment, "acme", GroupChanges(name="Other", properties=None, mapping={}))
        again = await rotate(store, first, once=ONCE)
        assert again == replace(second, replayed=True)
        assert await store.find(again.token) is not None

    async def test_a_repeated_creation_says_created_again(self, store: Store) -> None:
        """The replay of a get-or-create repeats whether the group was new."""
        production = await store.create_environment("production", Tag.CUSTOMER)
        draft = GroupDraft("acme", "Acme", {"z": 1, "a": 1.0}, None)
        first = await store.get_or_create(production, draft, make_token(), once=ONCE)
        again = await store.get_or_create(production, draft, make_token(), once=ONCE)
        fresh = await store.get_or_create(production, draft, make_token(), once=IdempotencyKey("key-2", (b"a" * 32,)))
        assert first.created
        assert again == replace(first, replayed=True)
        assert (fresh.created, fresh.replayed) == (False, False)

    async def test_another_body_is_refused(self, store: Store) -> None:
        """A key that comes back with another body is refused, and nothing is written."""
        first = await _issued(store)
        second = await rotate(store, first, once=ONCE)
        with pytest.raises(IdempotencyKeyReused):
            await rotate(store, second, once=IdempotencyKey("key-1", (b"b" * 32,)))
        assert await store.find(second.token) == second.group

    async def test_any_signing_key_recognises_the_body(self, store: Store) -> None:
        """The first hash is stored; a replay whose hashes hold it at any position is the same body."""
        first = await _issued(store)
        second = await rotate(store, first, once=ONCE)
        again = await rotate(store, first, once=IdempotencyKey("key-1", (b"n" * 32, b"a" * 32)))
        assert again == replace(second, replayed=True)

    async def test_a_dead_token_is_never_replayed(self, store: Store) -> None:
        """After a further rotation, with or without grace, or after a deletion the key is superseded."""
        first = await _issued(store)
        second = await rotate(store, first, once=ONCE)
        third = await rotate(store, second, grace_seconds=60)
        with pytest.raises(IdempotencySuperseded):
            await rotate(store, first, once=ONCE)
        last = IdempotencyKey("key-2", (b"a" * 32,))
        await rotate(store, third, once=last)
        await store.delete(first.group.environment, "acme")
        with pytest.raises(IdempotencySuperseded):
            await rotate(store, third, once=last)
        await store.get_or_create(first.group.environment, GroupDraft("acme", "Acme"), make_token())
        with pytest.raises(IdempotencySuperseded):
            await rotate(store, third, once=last)

    async def test_a_failed_write_leaves_no_key(self, store: Store) -> None:
        """A rotation that is refused does not use up its key."""
        first = await _issued(store)
        second = await rotate(store, first)
        with pytest.raises(TokenAlreadyRotated):
            await rotate(store, first, once=ONCE)
        third = await rotate(store, second, once=ONCE)
        assert not third.replayed

    async def test_a_key_belongs_to_its_environment(self, store: Store) -> None:
        """The same key in another environment is another key."""
        first = await _issued(store)
        await rotate(store, first, once=ONCE)
        other = await store.create_environment("other", Tag.TESTING)
        created = await _create(store, other, ONCE)
        assert (created.created, created.replayed) == (True, False)

    async def test_a_key_is_forgotten_after_a_day(self, store: Store, clock: FrozenClock) -> None:
        """For 24 hours a key is a replay; then it is a new key, also with another body."""
        production = await store.create_environment("production", Tag.CUSTOMER)
        await _create(store, production, ONCE)
        clock.advance(DAY - 1)
        assert (await _create(store, production, ONCE)).replayed
        clock.advance(1)
        assert not (await _create(store, production, IdempotencyKey("key-1", (b"b" * 32,)))).replayed

    async def test_racing_writers_with_one_key_rotate_once(self, store: Store) -> None:
        """Of 8 rotations with one key one writes; the others replay it or get IdempotencyInFlight."""
        first = await _issued(store)
        outcomes = await asyncio.gather(*(rotate(store, first, once=ONCE) for _ in range(8)), return_exceptions=True)
        issued = [each for each in outcomes if isinstance(each, Issued)]
        assert all(isinstance(each, Issued | IdempotencyInFlight) for each in outcomes), outcomes
        assert sum(not each.replayed for each in issued) == 1
        assert len({each.token.nonce for each in issued}) == 1
        got = await store.get(first.group.environment, "acme")
        assert got is not None
        assert got.token.version == 2


async def _issued(store: Store) -> Issued:
    production = await store.create_environment("production", Tag.CUSTOMER)
    draft = GroupDraft("acme", "Acme", {"z": 1, "a": 1.0, "n": None}, {"main": "eu"})
    return await store.get_or_create(production, draft, make_token())


async def _create(store: Store, environment: Environment, once: IdempotencyKey) -> Issued:
    return await store.get_or_create(
        environment, GroupDraft("acme", "Acme"), make_token(tag=environment.tag), once=once
    )
