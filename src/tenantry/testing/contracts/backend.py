"""BackendContract and LeaseContract: tests for your Backend or LeasedBackend::

    class TestMyBackend(BackendContract):
        @pytest.fixture
        async def store(self, clock): ...   # an empty Store, to which the tests write

        @pytest.fixture
        async def backend(self, store): ... # your backend, from which the tests read

The store must take its time from the fixture ``clock``. The tests run on asyncio with the anyio plugin. A
LeasedBackend, whose results a Resolver caches, must pass LeaseContract, which includes BackendContract."""
# ruff: noqa: S101 - tests, which third parties run too

from __future__ import annotations

import asyncio
import secrets
from dataclasses import replace
from typing import Any

import pytest

from tenantry.cache import slot_index
from tenantry.errors import TokenAlreadyRotated, UnknownGroup
from tenantry.groups import Change, GroupChanges, GroupDraft, IdempotencyKey, Issued, Tag, UserGroup
from tenantry.ports import Backend, LeasedBackend, Store
from tenantry.testing import FrozenClock, make_token


@pytest.mark.anyio
class BackendContract:
    """Tests ``find``."""

    @pytest.fixture
    def anyio_backend(self) -> str:
        """The event loop."""
        return "asyncio"

    @pytest.fixture
    def clock(self) -> FrozenClock:
        """The clock that the tests move forward."""
        return FrozenClock()

    async def test_only_the_live_token_finds_its_group(self, store: Store, backend: Backend) -> None:
        issued = await make_issued(store)
        assert _fields(await backend.find(issued.token)) == _fields(issued.group)
        other = "k2" if issued.token.key_id == "k1" else "k1"
        parts: list[dict[str, Any]] = [
            {"nonce": bytes(16)},
            {"version": 2},
            {"version": 0},
            {"key_id": other},
            {"handle": bytes(8)},
            {"tag": Tag.TESTING},
        ]
        for wrong in parts:
            assert await backend.find(replace(issued.token, **wrong)) is None, wrong

    async def test_a_rotated_token_is_dead_and_the_new_one_lives(self, store: Store, backend: Backend) -> None:
        first = await make_issued(store)
        assert await backend.find(first.token) is not None
        second = await rotate(store, first)
        assert await backend.find(first.token) is None
        assert _fields(await backend.find(second.token)) == _fields(second.group)

    async def test_a_token_in_its_grace_finds_the_group(
        self, store: Store, backend: Backend, clock: FrozenClock
    ) -> None:
        first = await make_issued(store)
        second = await rotate(store, first, grace_seconds=60)
        assert _fields(await backend.find(first.token)) == _fields(second.group)
        assert await backend.find(replace(first.token, nonce=bytes(16))) is None
        clock.advance(60)
        assert await backend.find(first.token) is None
        assert await backend.find(second.token) is not None

    async def test_an_update_shows_and_a_deletion_hides(self, store: Store, backend: Backend) -> None:
        issued = await make_issued(store)
        assert await backend.find(issued.token) is not None
        changed = await store.groups.update(issued.group.environment, "acme", GroupChanges(properties={"b": [1, None]}))
        assert _fields(await backend.find(issued.token)) == _fields(changed.group)
        await store.groups.delete(issued.group.environment, "acme")
        assert await backend.find(issued.token) is None

    async def test_groups_of_two_environments_stay_apart(self, store: Store, backend: Backend) -> None:
        one = await make_issued(store)
        testing = await store.environments.create("testing", Tag.TESTING)
        two = await store.groups.get_or_create(testing, GroupDraft("acme", "Two"), make_token(tag=Tag.TESTING))
        assert _fields(await backend.find(one.token)) == _fields(one.group)
        assert _fields(await backend.find(two.token)) == _fields(two.group)
        assert await backend.find(replace(one.token, tag=Tag.TESTING)) is None


class LeaseContract(BackendContract):
    """Tests ``read_at_snapshot``, ``changes`` and ``slots``.

    ``store`` and ``backend`` must run on one host with the same run folder."""

    # ``backend`` notices the writes of ``store`` by a file in this folder.

    async def test_every_change_is_listed_once(self, store: Store, backend: LeasedBackend) -> None:
        """Creating a group does not count as a change."""
        start = (await backend.changes(None)).generation
        issued = await make_issued(store)
        environment = issued.group.environment
        other = await make_issued(store, "other")
        assert (await backend.changes(start)).changes == ()
        await rotate(store, issued)
        await store.groups.update(environment, "other", GroupChanges(name="New"))
        await store.groups.delete(environment, "acme")
        listed = await backend.changes(start)
        handles = [issued.token.handle, other.token.handle, issued.token.handle]
        assert _pairs(listed.changes) == [(start + number, handle) for number, handle in enumerate(handles, 1)]
        assert (listed.since, listed.generation) == (start, start + 3)
        assert _pairs((await backend.changes(start + 1)).changes) == _pairs(listed.changes[1:])
        assert (await backend.changes(start + 3)).changes == ()

    async def test_what_changes_nothing_adds_no_change(self, store: Store, backend: LeasedBackend) -> None:
        first = await make_issued(store)
        environment, once = first.group.environment, IdempotencyKey("key", (bytes(32),))
        second = await rotate(store, first, once=once)
        start = (await backend.changes(None)).generation
        assert (await rotate(store, first, once=once)).replayed
        for refused in (rotate(store, first), store.groups.delete(environment, "nobody")):
            with pytest.raises((TokenAlreadyRotated, UnknownGroup)):
                await refused
        same = GroupChanges(second.group.name, {"a": 1, "z": {"items": [1.0, "😀"]}}, {"main": "eu"})
        assert (await store.groups.update(environment, "acme", same)).group.revision == second.group.revision
        await store.groups.update(environment, "acme", GroupChanges())
        await store.groups.get_or_create(environment, GroupDraft("acme", "x"), make_token())
        await backend.read_at_snapshot(second.token, fresh=True)
        assert (await backend.changes(None)).generation == start

    async def test_an_update_to_an_equal_value_of_another_text_is_a_change(
        self, store: Store, backend: LeasedBackend
    ) -> None:
        # ``1`` and ``1.0`` are equal in Python, but not in a template.
        issued = await make_issued(store)
        start = (await backend.changes(None)).generation
        again: dict[str, Any] = {"a": 1.0, "z": {"items": [1.0, "😀"]}}
        await store.groups.update(issued.group.environment, "acme", GroupChanges(properties=again))
        assert (await backend.changes(None)).generation == start + 1

    async def test_changes_know_their_age(self, store: Store, backend: LeasedBackend, clock: FrozenClock) -> None:
        issued = await make_issued(store)
        start = (await backend.changes(None)).generation
        second = await rotate(store, issued)
        clock.advance(7)
        await rotate(store, second)
        clock.advance(2)
        assert [change.age for change in (await backend.changes(start)).changes] == [9.0, 2.0]

    async def test_changes_since_nothing_are_the_last(self, store: Store, backend: LeasedBackend) -> None:
        """Fails unless ``changes(None)`` returns consecutive changes up to the newest."""
        issued = await make_issued(store)
        for _ in range(3):
            issued = await rotate(store, issued)
        listed = await backend.changes(None)
        assert [change.generation for change in listed.changes] == list(range(listed.since + 1, listed.generation + 1))
        assert listed.changes[-1] == Change(listed.generation, issued.token.handle, listed.changes[-1].age)
        ahead = await backend.changes(listed.generation + 1_000)
        assert (ahead.generation, ahead.changes) == (listed.generation, ())

    async def test_the_store_keeps_its_id(self, store: Store, backend: LeasedBackend) -> None:
        ids = {(await backend.changes(None)).store_id, (await backend.changes(0)).store_id}
        (one,) = ids
        assert len(one) == 32
        assert set(one) <= set("0123456789abcdef")

    async def test_a_read_is_one_snapshot(self, store: Store, backend: LeasedBackend) -> None:
        issued = await make_issued(store)
        start = (await backend.changes(None)).generation
        tokens, done = [issued], asyncio.Event()

        async def write() -> None:
            for _ in range(20):
                tokens.append(await rotate(store, tokens[-1]))
            done.set()

        async def watch() -> list[tuple[int, int | None]]:
            seen = []
            while not done.is_set():
                token = tokens[-1].token
                reading = await backend.read_at_snapshot(token, fresh=True)
                if reading.group is not None:
                    seen.append((reading.group.token_version, reading.generation))
                await asyncio.sleep(0)
            return seen

        _, *seen = await asyncio.gather(write(), watch(), watch())
        for version, generation in seen[0] + seen[1]:
            assert generation == start + version - 1

    @pytest.mark.parametrize("fresh", [True, False])
    async def test_a_read_gives_group_and_generation(self, store: Store, backend: LeasedBackend, fresh: bool) -> None:
        first = await make_issued(store)
        second = await rotate(store, first)
        now = (await backend.changes(None)).generation
        for token, group in ((second.token, second.group), (first.token, None), (make_token(), None)):
            reading = await backend.read_at_snapshot(token, fresh=fresh)
            assert (reading.group, reading.seconds) == (group, None)
            assert reading.generation is not None
            assert reading.generation == now if fresh else reading.generation <= now

    async def test_a_read_gives_the_rest_of_a_grace(
        self, store: Store, backend: LeasedBackend, clock: FrozenClock
    ) -> None:
        first = await make_issued(store)
        second = await rotate(store, first, grace_seconds=60)
        clock.advance(12.5)
        assert (await backend.read_at_snapshot(first.token, fresh=True)).seconds == 47.5
        assert (await backend.read_at_snapshot(second.token, fresh=True)).seconds is None
        clock.advance(47.5)
        reading = await backend.read_at_snapshot(first.token, fresh=True)
        assert (reading.group, reading.seconds) == (None, None)

    async def test_reads_at_once_get_each_their_own(self, store: Store, backend: LeasedBackend) -> None:
        issued = [await make_issued(store, f"g{number}") for number in range(15)]
        tokens = [each.token for each in issued] * 2 + [make_token() for _ in range(8)]
        tokens += [replace(issued[0].token, nonce=bytes(16)), replace(issued[1].token, version=9)]
        readings = await asyncio.gather(*(backend.read_at_snapshot(token, fresh=True) for token in tokens))
        groups = [each.group for each in issued] * 2 + [None] * 10
        assert [reading.group for reading in readings] == groups

    async def test_the_slot_has_another_version_after_each_write(self, store: Store, backend: LeasedBackend) -> None:
        issued = await make_issued(store)
        environment = issued.group.environment
        await backend.changes(None)
        assert backend.slots is not None
        versions, at = backend.slots.versions, slot_index(issued.token.handle)
        seen = [versions[at]]
        second = await rotate(store, issued)
        seen.append(versions[at])
        with pytest.raises(TokenAlreadyRotated):
            await rotate(store, issued)
        await store.groups.update(environment, "acme", GroupChanges(name="New"))
        seen.append(versions[at])
        await rotate(store, second, grace_seconds=5)
        seen.append(versions[at])
        await store.groups.delete(environment, "acme")
        seen.append(versions[at])
        assert len(set(seen)) == len(seen)
        assert not any(version & 1 for version in seen)

    async def test_the_slot_is_odd_while_a_write_is_under_way(self, store: Store, backend: LeasedBackend) -> None:
        issued = await make_issued(store)
        await backend.changes(None)
        assert backend.slots is not None
        versions, at = backend.slots.versions, slot_index(issued.token.handle)
        before, seen = versions[at], []
        writing = asyncio.ensure_future(rotate(store, issued))
        while not writing.done():
            seen.append(versions[at])
            await asyncio.sleep(0)
        await writing
        after = versions[at]
        assert all(version & 1 or version in (before, after) for version in seen)
        assert not after & 1
        assert after != before

    async def test_racing_writers_skip_no_generation(self, store: Store, backend: LeasedBackend) -> None:
        """Fails if a generation is assigned outside the write's transaction."""
        issued = [await make_issued(store, f"g{number}") for number in range(32)]
        start = (await backend.changes(None)).generation
        listed_changes: list[Change] = []
        writing = asyncio.gather(*(rotate(store, each) for each in issued))
        at = start
        while at < start + 32:
            listed = await backend.changes(at)
            assert listed.since == at
            listed_changes += listed.changes
            at = listed.generation
            await asyncio.sleep(0)
            if writing.done():
                await writing  # raises errors
        await writing
        assert [change.generation for change in listed_changes] == list(range(start + 1, start + 33))
        assert {change.handle for change in listed_changes} == {each.token.handle for each in issued}


def _fields(group: UserGroup | None) -> dict[str, Any] | None:
    return None if group is None else {**group.as_dict(), "handle": group.handle}


async def make_issued(store: Store, name: str = "acme") -> Issued:
    production = await store.environments.get("production") or await store.environments.create(
        "production", Tag.CUSTOMER
    )
    draft = GroupDraft(name, "Acme", {"a": 1, "z": {"items": [1.0, "😀"]}}, {"main": "eu"})
    return await store.groups.get_or_create(production, draft, make_token())


async def rotate(store: Store, issued: Issued, **options: Any) -> Issued:
    nonce = secrets.token_bytes(16)
    return await store.groups.rotate(issued.group.environment, issued.token, key_id="k1", nonce=nonce, **options)


def _pairs(changes: tuple[Change, ...]) -> list[tuple[int, bytes]]:
    return [(change.generation, change.handle) for change in changes]
