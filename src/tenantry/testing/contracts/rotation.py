from __future__ import annotations

import asyncio
import secrets
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from tenantry.errors import (
    IdempotencyInFlight,
    IdempotencyKeyReused,
    IdempotencySuperseded,
    TokenAlreadyRotated,
    UnknownGroup,
    UnknownToken,
)
from tenantry.groups import Environment, GroupChanges, GroupDraft, IdempotencyKey, Issued, Tag
from tenantry.ports import Store
from tenantry.testing import FrozenClock, make_token
from tenantry.testing.contracts.backend import make_issued, rotate

# ruff: noqa: S101 - tests, which third parties run too


class _Recorder:
    def __init__(self) -> None:
        self.changes: list[tuple[bytes, int]] = []

    def changed(self, handle: bytes, generation: int) -> None:
        self.changes.append((handle, generation))

    def take(self) -> list[tuple[bytes, int]]:
        changes, self.changes = self.changes, []
        return changes


class RotationContract:
    async def test_a_rotation_replaces_the_token(self, store: Store) -> None:
        first = await make_issued(store)
        nonce = secrets.token_bytes(16)
        second = await store.groups.rotate(first.group.environment, first.token, key_id="k9", nonce=nonce)
        assert second.token == replace(first.token, key_id="k9", nonce=nonce, version=2)
        assert second.group == replace(first.group, token_version=2, revision=2)
        assert not second.created
        assert await store.find(first.token) is None
        assert await store.find(second.token) == second.group
        assert await store.groups.get(first.group.environment, "acme") == second

    async def test_of_racing_rotations_one_wins(self, store: Store) -> None:
        first = await make_issued(store)
        outcomes = await asyncio.gather(*(rotate(store, first) for _ in range(32)), return_exceptions=True)
        won = [each for each in outcomes if isinstance(each, Issued)]
        assert len(won) == 1
        assert sum(isinstance(each, TokenAlreadyRotated) for each in outcomes) == 31
        assert await store.groups.get(first.group.environment, "acme") == won[0]
        assert won[0].token.version == 2

    async def test_a_token_of_another_environment_is_unknown(self, store: Store) -> None:
        first = await make_issued(store)
        for name, tag in [("b", Tag.CUSTOMER), ("c", Tag.TESTING)]:
            foreign = await store.environments.create(name, tag)
            for token in (first.token, replace(first.token, tag=tag)):
                with pytest.raises(UnknownToken):
                    await store.groups.rotate(foreign, token, key_id="k1", nonce=bytes(16))
        assert await store.find(first.token) == first.group

    @pytest.mark.parametrize(
        "wrong", [{"nonce": bytes(16)}, {"handle": bytes(8)}, {"version": 7}, {"key_id": "zz"}, {"tag": Tag.TESTING}]
    )
    async def test_a_token_that_never_was_is_unknown(self, store: Store, wrong: dict[str, Any]) -> None:
        first = await make_issued(store)
        with pytest.raises(UnknownToken):
            await store.groups.rotate(
                first.group.environment, replace(first.token, **wrong), key_id="k1", nonce=bytes(16)
            )
        assert await store.find(first.token) == first.group

    async def test_an_earlier_token_cannot_rotate(self, store: Store) -> None:
        first = await make_issued(store)
        second = await rotate(store, first, grace_seconds=60)
        with pytest.raises(TokenAlreadyRotated):
            await rotate(store, first)
        await rotate(store, second)
        for old in (first, second):
            with pytest.raises(TokenAlreadyRotated):
                await rotate(store, old)

    async def test_grace_ends_at_its_time(self, store: Store, clock: FrozenClock) -> None:
        first = await make_issued(store)
        second = await rotate(store, first, grace_seconds=60)
        assert second.group.grace_until == clock() + timedelta(seconds=60)
        assert await store.find(first.token) == second.group
        assert await store.find(replace(first.token, nonce=bytes(16))) is None
        clock.advance(59.999999)
        assert await store.find(first.token) == second.group
        clock.advance(0.000001)
        assert await store.find(first.token) is None
        assert await store.find(second.token) == second.group

    @pytest.mark.parametrize("grace_seconds", [0, 60])
    async def test_a_further_rotation_ends_the_grace_before(self, store: Store, grace_seconds: int) -> None:
        first = await make_issued(store)
        second = await rotate(store, first, grace_seconds=60)
        third = await rotate(store, second, grace_seconds=grace_seconds)
        assert await store.find(first.token) is None
        assert (await store.find(second.token) is not None) == (grace_seconds > 0)
        assert await store.find(third.token) == third.group

    async def test_a_deleted_group_has_no_grace(self, store: Store) -> None:
        first = await make_issued(store)
        second = await rotate(store, first, grace_seconds=60)
        await store.groups.delete(first.group.environment, "acme")
        for dead in (first, second):
            assert await store.find(dead.token) is None
            with pytest.raises(UnknownToken):
                await rotate(store, dead)

    async def test_an_update_keeps_the_grace(self, store: Store) -> None:
        first = await make_issued(store)
        second = await rotate(store, first, grace_seconds=60)
        third = await store.groups.update(first.group.environment, "acme", GroupChanges(properties={"a": 1}))
        assert third.group.grace_until == second.group.grace_until
        assert await store.find(first.token) == third.group

    async def test_listeners_receive_each_change_once(self, store: Store) -> None:
        """A creation, a read, a refused write or a repeated write is not a change."""
        recorder = _Recorder()
        store.subscribe(recorder)
        first = await make_issued(store)
        await store.groups.get_or_create(first.group.environment, GroupDraft("acme", "Acme"), make_token())
        await store.find(first.token)
        assert recorder.take() == []
        handle, start = first.token.handle, (await store.changes(None)).generation
        second = await rotate(store, first)
        assert recorder.take() == [(handle, start + 1)]
        await store.groups.update(first.group.environment, "acme", GroupChanges(name="x"))
        assert recorder.take() == [(handle, start + 2)]
        await store.groups.update(first.group.environment, "acme", GroupChanges(name="x"))
        with pytest.raises(TokenAlreadyRotated):
            await rotate(store, first)
        assert recorder.take() == []
        once = IdempotencyKey("key", (bytes(32),))
        third = await rotate(store, second, once=once)
        assert recorder.take() == [(handle, start + 3)]
        assert (await rotate(store, second, once=once)).token == third.token
        assert recorder.take() == []
        await store.groups.delete(first.group.environment, "acme")
        assert recorder.take() == [(handle, start + 4)]

    async def test_listeners_are_notified_before_the_writer(self, store: Store) -> None:
        first = await make_issued(store)
        seen: list[str] = []

        class Listener:
            def changed(self, handle: bytes, generation: int) -> None:
                seen.append("changed")

        store.subscribe(Listener())
        await rotate(store, first)
        seen.append("answered")
        assert seen == ["changed", "answered"]

    async def test_a_listener_that_fails_harms_nobody(self, store: Store) -> None:
        first = await make_issued(store)
        recorder = _Recorder()

        class Failing:
            def changed(self, handle: bytes, generation: int) -> None:
                raise OSError("no bus")

        store.subscribe(Failing())
        store.subscribe(recorder)
        second = await rotate(store, first)
        assert await store.find(second.token) == second.group
        assert [handle for handle, _ in recorder.take()] == [first.token.handle]

    async def test_a_missing_group_notifies_nobody(self, store: Store) -> None:
        recorder = _Recorder()
        store.subscribe(recorder)
        production = await store.environments.create("production", Tag.CUSTOMER)
        with pytest.raises(UnknownGroup):
            await store.groups.delete(production, "nobody")
        assert recorder.take() == []


DAY = 24 * 60 * 60
ONCE = IdempotencyKey("key-1", (b"a" * 32,))


class IdempotencyContract:
    async def test_a_repeated_rotation_gives_the_same_answer(self, store: Store) -> None:
        first = await _issued(store)
        second = await rotate(store, first, once=ONCE, grace_seconds=60)
        again = await rotate(store, first, once=ONCE, grace_seconds=60)
        assert again == replace(second, replayed=True)
        assert again.token.version == 2

    async def test_a_replay_is_the_answer_as_it_was(self, store: Store) -> None:
        first = await _issued(store)
        second = await rotate(store, first, once=ONCE)
        await store.groups.update(
            first.group.environment, "acme", GroupChanges(name="Other", properties=None, mapping={})
        )
        again = await rotate(store, first, once=ONCE)
        assert again == replace(second, replayed=True)
        assert await store.find(again.token) is not None

    async def test_a_repeated_creation_says_created_again(self, store: Store) -> None:
        production = await store.environments.create("production", Tag.CUSTOMER)
        draft = GroupDraft("acme", "Acme", {"z": 1, "a": 1.0}, None)
        first = await store.groups.get_or_create(production, draft, make_token(), once=ONCE)
        again = await store.groups.get_or_create(production, draft, make_token(), once=ONCE)
        fresh = await store.groups.get_or_create(
            production, draft, make_token(), once=IdempotencyKey("key-2", (b"a" * 32,))
        )
        assert first.created
        assert again == replace(first, replayed=True)
        assert (fresh.created, fresh.replayed) == (False, False)

    async def test_another_body_is_refused(self, store: Store) -> None:
        first = await _issued(store)
        second = await rotate(store, first, once=ONCE)
        with pytest.raises(IdempotencyKeyReused):
            await rotate(store, second, once=IdempotencyKey("key-1", (b"b" * 32,)))
        assert await store.find(second.token) == second.group

    async def test_any_signing_key_recognises_the_body(self, store: Store) -> None:
        # Another signing key may become active before the request is repeated.
        first = await _issued(store)
        second = await rotate(store, first, once=ONCE)
        again = await rotate(store, first, once=IdempotencyKey("key-1", (b"n" * 32, b"a" * 32)))
        assert again == replace(second, replayed=True)

    async def test_a_dead_token_is_never_replayed(self, store: Store) -> None:
        first = await _issued(store)
        second = await rotate(store, first, once=ONCE)
        third = await rotate(store, second, grace_seconds=60)
        with pytest.raises(IdempotencySuperseded):
            await rotate(store, first, once=ONCE)
        last = IdempotencyKey("key-2", (b"a" * 32,))
        await rotate(store, third, once=last)
        await store.groups.delete(first.group.environment, "acme")
        with pytest.raises(IdempotencySuperseded):
            await rotate(store, third, once=last)
        await store.groups.get_or_create(first.group.environment, GroupDraft("acme", "Acme"), make_token())
        with pytest.raises(IdempotencySuperseded):
            await rotate(store, third, once=last)

    async def test_a_failed_write_leaves_no_key(self, store: Store) -> None:
        first = await _issued(store)
        second = await rotate(store, first)
        with pytest.raises(TokenAlreadyRotated):
            await rotate(store, first, once=ONCE)
        third = await rotate(store, second, once=ONCE)
        assert not third.replayed

    async def test_a_key_belongs_to_its_environment(self, store: Store) -> None:
        first = await _issued(store)
        await rotate(store, first, once=ONCE)
        other = await store.environments.create("other", Tag.TESTING)
        created = await _create(store, other, ONCE)
        assert (created.created, created.replayed) == (True, False)

    async def test_a_key_is_forgotten_after_a_day(self, store: Store, clock: FrozenClock) -> None:
        production = await store.environments.create("production", Tag.CUSTOMER)
        await _create(store, production, ONCE)
        clock.advance(DAY - 1)
        assert (await _create(store, production, ONCE)).replayed
        clock.advance(1)
        assert not (await _create(store, production, IdempotencyKey("key-1", (b"b" * 32,)))).replayed

    async def test_racing_writers_with_one_key_rotate_once(self, store: Store) -> None:
        first = await _issued(store)
        outcomes = await asyncio.gather(*(rotate(store, first, once=ONCE) for _ in range(8)), return_exceptions=True)
        issued = [each for each in outcomes if isinstance(each, Issued)]
        assert all(isinstance(each, Issued | IdempotencyInFlight) for each in outcomes), outcomes
        assert sum(not each.replayed for each in issued) == 1
        assert len({each.token.nonce for each in issued}) == 1
        got = await store.groups.get(first.group.environment, "acme")
        assert got is not None
        assert got.token.version == 2


async def _issued(store: Store) -> Issued:
    production = await store.environments.create("production", Tag.CUSTOMER)
    draft = GroupDraft("acme", "Acme", {"z": 1, "a": 1.0, "n": None}, {"main": "eu"})
    return await store.groups.get_or_create(production, draft, make_token())


async def _create(store: Store, environment: Environment, once: IdempotencyKey) -> Issued:
    return await store.groups.get_or_create(
        environment, GroupDraft("acme", "Acme"), make_token(tag=environment.tag), once=once
    )
