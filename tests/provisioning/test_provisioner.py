"""The verbs, on the store in memory."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tenantry.backends.memory import MemoryStore
from tenantry.errors import (
    AlreadyExists,
    InvalidBody,
    SigningKeyMissing,
    TokenAlreadyRotated,
    UnknownDataSource,
    UnknownGroup,
    UnknownToken,
)
from tenantry.groups import Author, Environment, GroupChanges, GroupDraft, Tag
from tenantry.provisioning import Provisioner, issue_api_token
from tenantry.testing import FrozenClock
from tenantry.tokens import KeyRing, SigningKey

OLD, NEW = SigningKey("k1", b"1" * 32), SigningKey("k2", b"2" * 32)
ACME = GroupDraft("acme", "Acme", {"region": "eu"})


class Room:
    """A store with one environment, and a provisioner of it."""

    def __init__(self, environment: Environment, store: MemoryStore, clock: FrozenClock) -> None:
        self.environment, self.store, self.clock = environment, store, clock
        self.keys = KeyRing([OLD])
        self.provisioner = Provisioner(store, self.keys)


@pytest.fixture
async def room() -> Room:
    clock = FrozenClock()
    store = MemoryStore(clock=clock)
    return Room(await store.create_environment("production", Tag.CUSTOMER), store, clock)


async def test_the_token_is_derived_anew_each_time(room: Room) -> None:
    """Nothing but its parts is kept, and the same parts and key give the same text; it stays out of repr."""
    made = await room.provisioner.get_or_create(room.environment, ACME)
    again = await Provisioner(room.store, KeyRing([OLD, NEW])).get(room.environment, "acme")
    assert again is not None
    assert (made.created, again.created) == (True, False)
    assert made.token == again.token
    assert made.token not in repr(made)
    assert made.token not in str(vars(room.store))


async def test_get_of_nothing(room: Room) -> None:
    """None, and nothing is created."""
    assert await room.provisioner.get(room.environment, "acme") is None


async def test_a_grace_keeps_the_old_token_for_a_while(room: Room) -> None:
    """Exactly as long as was said; without one it is dead at once."""
    old = await room.provisioner.get_or_create(room.environment, ACME)
    new = await room.provisioner.rotate(room.environment, old.token, grace_seconds=60)
    token = room.keys.read(old.token)
    room.clock.advance(59)
    assert await room.store.find(token) is not None
    room.clock.advance(1)
    assert await room.store.find(token) is None
    newest = await room.provisioner.rotate(room.environment, new.token)
    assert await room.store.find(room.keys.read(new.token)) is None
    assert await room.store.find(room.keys.read(newest.token)) is not None


async def test_a_rotation_that_names_no_grace_has_the_environments(room: Room) -> None:
    """And one that names 0 has none, whatever the environment says. Red when None is made 0 on the way."""
    environment = await room.store.set_grace(room.environment, 60)
    old = await room.provisioner.get_or_create(environment, ACME)
    new = await room.provisioner.rotate(environment, old.token)
    assert await room.store.find(room.keys.read(old.token)) is not None
    newest = await room.provisioner.rotate_group(environment, "acme", grace_seconds=0)
    assert await room.store.find(room.keys.read(new.token)) is None
    assert await room.store.find(room.keys.read(newest.token)) is not None


async def test_every_write_has_its_author(room: Room) -> None:
    """Each verb passes it on. Red when one forgets it."""
    someone = Author("a test", "r-1")
    made = await room.provisioner.get_or_create(room.environment, ACME, author=someone)
    await room.provisioner.update(room.environment, "acme", GroupChanges("Acme Ltd"), author=someone)
    await room.provisioner.rotate(room.environment, made.token, author=someone)
    await room.provisioner.rotate_group(room.environment, "acme", author=someone)
    await room.provisioner.delete(room.environment, "acme", author=someone)
    await issue_api_token(room.store, room.environment, author=someone)
    entries = (await room.store.audit())[1:]  # the first made the environment
    assert [entry.action for entry in entries] == [
        "group.created",
        "group.updated",
        "group.rotated",
        "group.rotated",
        "group.deleted",
        "api_token.created",
    ]
    assert {entry.author for entry in entries} == {someone}


@pytest.mark.parametrize("seconds", [-1, 86_401])
async def test_a_grace_is_bounded(room: Room, seconds: int) -> None:
    """One day at most; nothing was rotated."""
    old = await room.provisioner.get_or_create(room.environment, ACME)
    with pytest.raises(ValueError, match="0 to 86400"):
        await room.provisioner.rotate(room.environment, old.token, grace_seconds=seconds)
    with pytest.raises(ValueError, match="0 to 86400"):
        await room.provisioner.rotate_group(room.environment, "acme", grace_seconds=seconds)
    assert await room.store.find(room.keys.read(old.token)) is not None


async def test_a_removed_signing_key(room: Room) -> None:
    """get, get_or_create and update say so; rotating by token cannot; rotating by id mends it."""
    old = await room.provisioner.get_or_create(room.environment, ACME)
    after = Provisioner(room.store, KeyRing([NEW]))
    with pytest.raises(SigningKeyMissing):
        await after.get_or_create(room.environment, ACME)
    with pytest.raises(SigningKeyMissing):
        await after.get(room.environment, "acme")
    with pytest.raises(SigningKeyMissing):
        await after.update(room.environment, "acme", GroupChanges(name="B"))
    with pytest.raises(UnknownToken):
        await after.rotate(room.environment, old.token)
    mended = await after.rotate_group(room.environment, "acme")
    assert KeyRing([NEW]).read(mended.token).version == 2
    assert mended.group.name == "Acme"
    assert (await after.get_or_create(room.environment, ACME)).token == mended.token


async def test_of_many_rotations_by_id_and_by_token_none_is_lost(room: Room) -> None:
    """The version goes up by one for each that says it won."""
    old = await room.provisioner.get_or_create(room.environment, ACME)
    outcomes = await asyncio.gather(
        *[room.provisioner.rotate(room.environment, old.token) for _ in range(8)],
        *[room.provisioner.rotate_group(room.environment, "acme") for _ in range(8)],
        return_exceptions=True,
    )
    won = [outcome for outcome in outcomes if not isinstance(outcome, TokenAlreadyRotated)]
    now = await room.provisioner.get(room.environment, "acme")
    assert now is not None
    assert now.group.token_version == 1 + len(won)


async def test_rotate_and_delete_of_an_unknown_group(room: Room) -> None:
    """UnknownGroup; another environment's group is unknown."""
    other = await room.store.create_environment("testing", Tag.TESTING)
    await room.provisioner.get_or_create(room.environment, ACME)
    for call in (room.provisioner.rotate_group, room.provisioner.delete):
        with pytest.raises(UnknownGroup):
            await call(other, "acme")
    with pytest.raises(UnknownGroup):
        await room.provisioner.update(other, "acme", GroupChanges(name="x"))


async def test_delete_kills_the_token(room: Room) -> None:
    """And the same id later is another group."""
    old = await room.provisioner.get_or_create(room.environment, ACME)
    await room.provisioner.delete(room.environment, "acme")
    new = await room.provisioner.get_or_create(room.environment, ACME)
    assert await room.store.find(room.keys.read(old.token)) is None
    assert new.created
    assert new.group.handle != old.group.handle


async def test_limits_and_mappings_are_checked_before_anything_is_written(room: Room) -> None:
    """Through this door as through HTTP. The command that is named is safe to paste."""
    with pytest.raises(InvalidBody):
        await room.provisioner.get_or_create(room.environment, GroupDraft("", "x"))
    with pytest.raises(UnknownDataSource, match=r"data-source create 'x; rm -rf /' --environment production"):
        await room.provisioner.get_or_create(room.environment, GroupDraft("acme", "x", None, {"main": "x; rm -rf /"}))
    assert await room.store.groups(room.environment) == []
    await room.provisioner.get_or_create(room.environment, ACME)
    with pytest.raises(UnknownDataSource):
        await room.provisioner.update(room.environment, "acme", GroupChanges(mapping={"main": "nowhere"}))
    with pytest.raises(InvalidBody):
        await room.provisioner.update(room.environment, "acme", GroupChanges(properties={"a": float("nan")}))


async def test_a_source_of_another_environment_is_unknown(room: Room) -> None:
    """Nothing of one environment routes in another. Red when the mapping is not checked."""
    other = await room.store.create_environment("testing", Tag.TESTING)
    await room.store.create_data_source(other, source_id="ds_1", provided_id="mine", url="sqlite:///x.db")
    for reference in ("ds_1", "mine"):
        with pytest.raises(UnknownDataSource):
            await room.provisioner.get_or_create(room.environment, GroupDraft("a", "a", None, {"main": reference}))


async def test_two_handles_that_meet(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another is drawn, once. Red when the error of the store is passed on."""
    drawn = iter([b"\1" * 8, b"\1" * 16, b"\1" * 8, b"\2" * 16, b"\2" * 8, b"\3" * 16])
    provisioner = Provisioner(room.store, room.keys, random=lambda size: next(drawn))
    await provisioner.get_or_create(room.environment, ACME)
    second = await provisioner.get_or_create(room.environment, GroupDraft("b", "b"))
    assert second.group.handle == b"\2" * 8

    async def always(*given: Any, **named: Any) -> None:
        raise AlreadyExists("x")

    monkeypatch.setattr(room.store, "get_or_create", always)
    with pytest.raises(AlreadyExists):
        await room.provisioner.get_or_create(room.environment, GroupDraft("c", "c"))
