"""The verbs, on the store in memory."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tenantry.backends.memory.store import MemoryStore
from tenantry.errors import (
    AlreadyExists,
    InvalidBody,
    SigningKeyMissing,
    TokenAlreadyRotated,
    UnknownDataSource,
    UnknownGroup,
    UnknownToken,
)
from tenantry.groups import Author, Environment, GroupChanges, GroupDraft, SourceDraft, Tag
from tenantry.provisioning import Provisioner, issue_api_token
from tenantry.testing import FrozenClock
from tenantry.tokens import KeyRing, SigningKey

OLD, NEW = SigningKey("k1", b"1" * 32), SigningKey("k2", b"2" * 32)
ACME = GroupDraft("acme", "Acme", {"region": "eu"})


class Setup:
    """A store with one environment, and a provisioner of it."""

    def __init__(self, environment: Environment, store: MemoryStore, clock: FrozenClock) -> None:
        self.environment, self.store, self.clock = environment, store, clock
        self.keys = KeyRing([OLD])
        self.provisioner = Provisioner(store, self.keys)


@pytest.fixture
async def setup() -> Setup:
    clock = FrozenClock()
    store = MemoryStore(clock=clock)
    return Setup(await store.environments.create("production", Tag.CUSTOMER), store, clock)


async def test_the_token_is_derived_anew_each_time(setup: Setup) -> None:
    """Nothing but its parts is kept, and the same parts and key give the same text; it stays out of repr."""
    made = await setup.provisioner.get_or_create(setup.environment, ACME)
    again = await Provisioner(setup.store, KeyRing([OLD, NEW])).get(setup.environment, "acme")
    assert again is not None
    assert (made.created, again.created) == (True, False)
    assert made.token == again.token
    assert made.token not in repr(made)
    assert made.token not in str(vars(setup.store))


async def test_get_of_nothing(setup: Setup) -> None:
    """None, and nothing is created."""
    assert await setup.provisioner.get(setup.environment, "acme") is None


async def test_a_grace_keeps_the_old_token_for_a_while(setup: Setup) -> None:
    """Exactly as long as was asked for; without one it is dead at once."""
    old = await setup.provisioner.get_or_create(setup.environment, ACME)
    new = await setup.provisioner.rotate(setup.environment, old.token, grace_seconds=60)
    token = setup.keys.read(old.token)
    setup.clock.advance(59)
    assert await setup.store.find(token) is not None
    setup.clock.advance(1)
    assert await setup.store.find(token) is None
    newest = await setup.provisioner.rotate(setup.environment, new.token)
    assert await setup.store.find(setup.keys.read(new.token)) is None
    assert await setup.store.find(setup.keys.read(newest.token)) is not None


async def test_a_rotation_that_names_no_grace_has_the_environments(setup: Setup) -> None:
    """And one that names 0 has none, whatever the environment says. Red when None is made 0 on the way."""
    environment = await setup.store.environments.set_grace(setup.environment, 60)
    old = await setup.provisioner.get_or_create(environment, ACME)
    new = await setup.provisioner.rotate(environment, old.token)
    assert await setup.store.find(setup.keys.read(old.token)) is not None
    newest = await setup.provisioner.rotate_group(environment, "acme", grace_seconds=0)
    assert await setup.store.find(setup.keys.read(new.token)) is None
    assert await setup.store.find(setup.keys.read(newest.token)) is not None


async def test_every_write_has_its_author(setup: Setup) -> None:
    """Each verb passes it on. Red when one forgets it."""
    someone = Author("a test", "r-1")
    made = await setup.provisioner.get_or_create(setup.environment, ACME, author=someone)
    await setup.provisioner.update(setup.environment, "acme", GroupChanges("Acme Ltd"), author=someone)
    await setup.provisioner.rotate(setup.environment, made.token, author=someone)
    await setup.provisioner.rotate_group(setup.environment, "acme", author=someone)
    await setup.provisioner.delete(setup.environment, "acme", author=someone)
    await issue_api_token(setup.store.api_tokens, setup.environment, author=someone)
    entries = (await setup.store.audit.list())[1:]  # the first made the environment
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
async def test_a_grace_is_bounded(setup: Setup, seconds: int) -> None:
    """One day at most; nothing was rotated."""
    old = await setup.provisioner.get_or_create(setup.environment, ACME)
    with pytest.raises(ValueError, match="0 to 86400"):
        await setup.provisioner.rotate(setup.environment, old.token, grace_seconds=seconds)
    with pytest.raises(ValueError, match="0 to 86400"):
        await setup.provisioner.rotate_group(setup.environment, "acme", grace_seconds=seconds)
    assert await setup.store.find(setup.keys.read(old.token)) is not None


async def test_a_removed_signing_key(setup: Setup) -> None:
    """get, get_or_create and update say so; rotating by token cannot; rotating by id repairs it."""
    old = await setup.provisioner.get_or_create(setup.environment, ACME)
    after = Provisioner(setup.store, KeyRing([NEW]))
    with pytest.raises(SigningKeyMissing):
        await after.get_or_create(setup.environment, ACME)
    with pytest.raises(SigningKeyMissing):
        await after.get(setup.environment, "acme")
    with pytest.raises(SigningKeyMissing):
        await after.update(setup.environment, "acme", GroupChanges(name="B"))
    with pytest.raises(UnknownToken):
        await after.rotate(setup.environment, old.token)
    rotated = await after.rotate_group(setup.environment, "acme")
    assert KeyRing([NEW]).read(rotated.token).version == 2
    assert rotated.group.name == "Acme"
    assert (await after.get_or_create(setup.environment, ACME)).token == rotated.token


async def test_of_many_rotations_by_id_and_by_token_none_is_lost(setup: Setup) -> None:
    """The version goes up by one for each that says it won."""
    old = await setup.provisioner.get_or_create(setup.environment, ACME)
    outcomes = await asyncio.gather(
        *[setup.provisioner.rotate(setup.environment, old.token) for _ in range(8)],
        *[setup.provisioner.rotate_group(setup.environment, "acme") for _ in range(8)],
        return_exceptions=True,
    )
    won = [outcome for outcome in outcomes if not isinstance(outcome, TokenAlreadyRotated)]
    now = await setup.provisioner.get(setup.environment, "acme")
    assert now is not None
    assert now.group.token_version == 1 + len(won)


async def test_rotate_and_delete_of_an_unknown_group(setup: Setup) -> None:
    """UnknownGroup; another environment's group is unknown."""
    other = await setup.store.environments.create("testing", Tag.TESTING)
    await setup.provisioner.get_or_create(setup.environment, ACME)
    for call in (setup.provisioner.rotate_group, setup.provisioner.delete):
        with pytest.raises(UnknownGroup):
            await call(other, "acme")
    with pytest.raises(UnknownGroup):
        await setup.provisioner.update(other, "acme", GroupChanges(name="x"))


async def test_delete_kills_the_token(setup: Setup) -> None:
    """And the same id later is another group."""
    old = await setup.provisioner.get_or_create(setup.environment, ACME)
    await setup.provisioner.delete(setup.environment, "acme")
    new = await setup.provisioner.get_or_create(setup.environment, ACME)
    assert await setup.store.find(setup.keys.read(old.token)) is None
    assert new.created
    assert new.group.handle != old.group.handle


async def test_limits_and_mappings_are_checked_before_anything_is_written(setup: Setup) -> None:
    """In Python as through HTTP. The command that is named is safe to paste."""
    with pytest.raises(InvalidBody):
        await setup.provisioner.get_or_create(setup.environment, GroupDraft("", "x"))
    with pytest.raises(UnknownDataSource, match=r"data-source create 'x; rm -rf /' --environment production"):
        await setup.provisioner.get_or_create(setup.environment, GroupDraft("acme", "x", None, {"main": "x; rm -rf /"}))
    assert await setup.store.groups.list(setup.environment) == []
    await setup.provisioner.get_or_create(setup.environment, ACME)
    with pytest.raises(UnknownDataSource):
        await setup.provisioner.update(setup.environment, "acme", GroupChanges(mapping={"main": "nowhere"}))
    with pytest.raises(InvalidBody):
        await setup.provisioner.update(setup.environment, "acme", GroupChanges(properties={"a": float("nan")}))


async def test_a_source_of_another_environment_is_unknown(setup: Setup) -> None:
    """Nothing of one environment routes in another. Red when the mapping is not checked."""
    other = await setup.store.environments.create("testing", Tag.TESTING)
    await setup.store.sources.create(other, "ds_1", SourceDraft("mine", "sqlite:///x.db"))
    for reference in ("ds_1", "mine"):
        with pytest.raises(UnknownDataSource):
            await setup.provisioner.get_or_create(setup.environment, GroupDraft("a", "a", None, {"main": reference}))


async def test_two_handles_that_meet(setup: Setup, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another is drawn, once. Red when the error of the store is passed on."""
    drawn = iter([b"\1" * 8, b"\1" * 16, b"\1" * 8, b"\2" * 16, b"\2" * 8, b"\3" * 16])
    provisioner = Provisioner(setup.store, setup.keys, random=lambda size: next(drawn))
    await provisioner.get_or_create(setup.environment, ACME)
    second = await provisioner.get_or_create(setup.environment, GroupDraft("b", "b"))
    assert second.group.handle == b"\2" * 8

    async def always(*given: Any, **named: Any) -> None:
        raise AlreadyExists("x")

    monkeypatch.setattr(setup.store.groups, "get_or_create", always)
    with pytest.raises(AlreadyExists):
        await setup.provisioner.get_or_create(setup.environment, GroupDraft("c", "c"))
