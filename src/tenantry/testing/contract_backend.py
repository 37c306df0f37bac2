"""BackendContract: what every Backend guarantees, as tests to run over your own.

    class TestMyBackend(BackendContract):
        @pytest.fixture
        async def store(self, clock): ...      # where the tests write: any Store, empty at the start

        @pytest.fixture
        async def backend(self, store): ...    # what they read through

The store takes its time from the fixture ``clock``. The tests run on asyncio by the anyio plugin.
"""
# ruff: noqa: S101 - a test suite, which is in the package because third parties run it too

from __future__ import annotations

import secrets
from dataclasses import replace
from typing import Any

import pytest

from tenantry.groups import GroupChanges, GroupDraft, Issued, Tag, UserGroup
from tenantry.ports import Backend, Store
from tenantry.testing.samples import FrozenClock, make_token


@pytest.mark.anyio
class BackendContract:
    """Tests of ``find``. A subclass gives the fixtures ``store`` and ``backend``."""

    @pytest.fixture
    def anyio_backend(self) -> str:
        return "asyncio"

    @pytest.fixture
    def clock(self) -> FrozenClock:
        return FrozenClock()

    async def test_only_the_live_token_finds_its_group(self, store: Store, backend: Backend) -> None:
        """``find`` gives the group as it was written for its live token, and nothing for one that differs in any
        part."""
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
        """When ``rotate`` has returned, the token before finds nothing and the new one the group."""
        first = await make_issued(store)
        assert await backend.find(first.token) is not None
        second = await rotate(store, first)
        assert await backend.find(first.token) is None
        assert _fields(await backend.find(second.token)) == _fields(second.group)

    async def test_a_token_in_its_grace_finds_the_group(
        self, store: Store, backend: Backend, clock: FrozenClock
    ) -> None:
        """The token before is good for its grace and not a moment longer; the nonce of another is not."""
        first = await make_issued(store)
        second = await rotate(store, first, grace_seconds=60)
        assert _fields(await backend.find(first.token)) == _fields(second.group)
        assert await backend.find(replace(first.token, nonce=bytes(16))) is None
        clock.advance(60)
        assert await backend.find(first.token) is None
        assert await backend.find(second.token) is not None

    async def test_an_update_shows_and_a_deletion_hides(self, store: Store, backend: Backend) -> None:
        """When ``update`` or ``delete`` has returned, ``find`` gives the new state."""
        issued = await make_issued(store)
        assert await backend.find(issued.token) is not None
        changed = await store.update(issued.group.environment, "acme", GroupChanges(properties={"b": [1, None]}))
        assert _fields(await backend.find(issued.token)) == _fields(changed.group)
        await store.delete(issued.group.environment, "acme")
        assert await backend.find(issued.token) is None

    async def test_groups_of_two_environments_stay_apart(self, store: Store, backend: Backend) -> None:
        """Two environments with one id each: a token finds the group of its own."""
        one = await make_issued(store)
        testing = await store.create_environment("testing", Tag.TESTING)
        two = await store.get_or_create(testing, GroupDraft("acme", "Two"), make_token(tag=Tag.TESTING))
        assert _fields(await backend.find(one.token)) == _fields(one.group)
        assert _fields(await backend.find(two.token)) == _fields(two.group)
        assert await backend.find(replace(one.token, tag=Tag.TESTING)) is None


def _fields(group: UserGroup | None) -> dict[str, Any] | None:
    return None if group is None else {**group.as_dict(), "handle": group.handle}


async def make_issued(store: Store, name: str = "acme") -> Issued:
    """A new group of this id, in an environment ``production`` that is made if there is none."""
    production = await store.environment("production") or await store.create_environment("production", Tag.CUSTOMER)
    draft = GroupDraft(name, "Acme", {"a": 1, "z": {"items": [1.0, "😀"]}}, {"main": "eu"})
    return await store.get_or_create(production, draft, make_token())


async def rotate(store: Store, issued: Issued, **options: Any) -> Issued:
    """A rotation of the group's live token."""
    nonce = secrets.token_bytes(16)
    return await store.rotate(issued.group.environment, issued.token, key_id="k1", nonce=nonce, **options)
