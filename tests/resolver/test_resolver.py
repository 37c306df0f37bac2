"""Resolver: what is answered, from where, and what it costs."""

from __future__ import annotations

import asyncio
import logging
import math
import secrets
from datetime import UTC, datetime, timedelta

import pytest

from tenantry.errors import InvalidToken, StoreUnavailable
from tenantry.groups import GroupDraft, LookupResult, Tag, Token
from tenantry.resolver import Resolver
from tenantry.testing import FrozenClock, MemoryStore, make_environment, make_group
from tenantry.tokens import draft_token
from tests.resolver.fake import FOREIGN_KEYS, KEYS, PATIENT, FakeBackend, FindBackend, loads, token_of, unknown_token


@pytest.fixture
def clock() -> FrozenClock:
    return FrozenClock()


@pytest.fixture
def backend() -> FakeBackend:
    return FakeBackend()


@pytest.fixture
def resolver(backend: FakeBackend, clock: FrozenClock) -> Resolver:
    resolver = Resolver(backend, keys=KEYS, clock=clock.monotonic)
    resolver._patience = PATIENT  # it goes by the loop's time, and not by the clock
    return resolver


async def test_a_hit_costs_no_read_and_no_signature(resolver: Resolver, backend: FakeBackend) -> None:
    """After one read the same bytes are answered by peek, as bytes or as str."""
    group, token = backend.issue()
    assert resolver.peek(token) is None
    assert await resolver.resolve(token) is group
    resolver._keys = None  # type: ignore[assignment]  # a signature check would now fail
    assert resolver.peek(bytes(bytearray(token))) is group
    assert await resolver.resolve(token.decode()) is group
    assert (backend.reads, resolver.counters.hits, resolver.counters.misses) == (1, 2, 1)


@pytest.mark.parametrize("kind", [FakeBackend, FindBackend])
async def test_an_answer_lives_for_its_staleness(kind: type[FindBackend], clock: FrozenClock) -> None:
    """Five seconds by default without a poll, measured from the question, whatever the backend can do. Red when lease
    or deadline are not looked at."""
    backend = kind()
    resolver = Resolver(backend, keys=KEYS, clock=clock.monotonic)
    group, token = backend.issue()
    await resolver.resolve(token)
    clock.advance(4.999)
    assert resolver.peek(token) is group
    clock.advance(0.001)
    assert resolver.peek(token) is None
    if kind is FindBackend:
        await resolver.resolve(token)
        assert backend.reads == 2


@pytest.mark.parametrize("junk", [b"", b"x", b"\xff" * 97, "é" * 97, "ugtc_k1_", b"ugtc_k1_" + b"A" * 89])
async def test_what_is_no_token_is_refused_without_a_read(
    resolver: Resolver, backend: FakeBackend, junk: bytes | str
) -> None:
    """Any junk is InvalidToken, and nothing else."""
    with pytest.raises(InvalidToken):
        await resolver.resolve(junk)
    assert (backend.reads, resolver.counters.forged) == (0, 1)


async def test_a_hundred_thousand_forgeries_reach_no_backend(resolver: Resolver, backend: FakeBackend) -> None:
    """100,000 forged tokens: no read, no cache entry, no flight. Red when _read is skipped."""
    group, token = backend.issue()
    genuine = bytearray(token)
    foreign = token_of(group, keys=FOREIGN_KEYS)
    for number in range(100_000):
        if number % 10:
            forged = genuine.copy()
            position = 8 + number % 89
            forged[position] = ord("A") if forged[position] != ord("A") else ord("B")
        else:
            forged = bytearray(foreign)
        with pytest.raises(InvalidToken):
            await resolver.resolve(bytes(forged))
    assert backend.reads == 0
    assert resolver.counters.forged == 100_000
    assert len(resolver._cache) == 0
    assert len(resolver._cache._negative) == 0
    assert loads(resolver) == []


async def test_a_flood_of_unknown_tokens_evicts_nobody(backend: FakeBackend, clock: FrozenClock) -> None:
    """5,000 signed tokens of no group leave the one real customer in a cache of one. Red when refusals are stored
    among the positive entries."""
    resolver = Resolver(backend, keys=KEYS, capacity=1, unknown_capacity=10, clock=clock.monotonic)
    group, token = backend.issue()
    await resolver.resolve(token)
    for _ in range(5_000):
        with pytest.raises(InvalidToken):
            await resolver.resolve(unknown_token())
    assert resolver.peek(token) is group
    assert len(resolver._cache._negative) == 10


async def test_an_unknown_token_is_asked_for_once_a_second(
    resolver: Resolver, backend: FakeBackend, clock: FrozenClock
) -> None:
    """The refusal is remembered for a second."""
    token = unknown_token()
    for _ in range(5):
        with pytest.raises(InvalidToken):
            await resolver.resolve(token)
    assert (backend.reads, resolver.counters.unknown, resolver.counters.refused) == (1, 1, 4)
    clock.advance(1.0)
    with pytest.raises(InvalidToken):
        await resolver.resolve(token)
    assert backend.reads == 2


async def test_a_write_makes_a_refused_token_good_at_once(resolver: Resolver, backend: FakeBackend) -> None:
    """A token that was unknown a moment ago works when its group is written. Red when a refusal has no version."""
    group = make_group()
    token = token_of(group)
    with pytest.raises(InvalidToken):
        await resolver.resolve(token)
    backend.write(group)
    assert await resolver.resolve(token) is group


async def test_rotation_update_and_deletion_are_seen_at_once(resolver: Resolver, backend: FakeBackend) -> None:
    """When a write in this process has returned, no old token and no old property is answered. Red when peek
    does not look at the version."""
    group, token = backend.issue(properties={"region": "eu"})
    await resolver.resolve(token)
    backend.write(make_group(handle=group.handle, revision=2, properties={"region": "us"}))
    seen = await resolver.resolve(token)
    assert seen.properties is not None
    assert seen.properties["region"] == "us"
    backend.write(make_group(handle=group.handle, revision=3, token_version=2))
    with pytest.raises(InvalidToken):
        await resolver.resolve(token)


async def test_a_real_store_is_followed_at_once() -> None:
    """Rotation and deletion in a store of this process: the old token is dead, and the new one good, when they return,
    with a staleness of an hour."""
    store = MemoryStore()
    resolver = Resolver(store, keys=KEYS, staleness=3_600)
    environment = await store.environments.create("production", Tag.CUSTOMER)
    first = draft_token(Tag.CUSTOMER, "k1", secrets.token_bytes)
    issued = await store.groups.get_or_create(environment, GroupDraft("acme", "Acme"), first)
    old = KEYS.mint(issued.token)
    assert (await resolver.resolve(old)).provided_id == "acme"
    assert resolver.peek(old.encode()) is not None
    rotated = await store.groups.rotate(environment, issued.token, key_id="k1", nonce=secrets.token_bytes(16))
    assert resolver.peek(old.encode()) is None
    with pytest.raises(InvalidToken):
        await resolver.resolve(old)
    new = KEYS.mint(rotated.token)
    assert (await resolver.resolve(new)).token_version == 2
    await store.groups.delete(environment, "acme")
    with pytest.raises(InvalidToken):
        await resolver.resolve(new)
    await resolver.aclose()
    await store.aclose()


async def test_a_newer_version_forces_a_read_and_ends_the_older(resolver: Resolver, backend: FakeBackend) -> None:
    """A rotation on another host: its new token is read although the group is cached, and then the old one, still under
    the lease, is refused without a read."""
    group, old = backend.issue()
    await resolver.resolve(old)
    backend.groups[group.handle] = rotated = make_group(handle=group.handle, token_version=2, revision=2)
    new = token_of(rotated)
    assert await resolver.resolve(new) is rotated
    assert backend.reads == 2
    with pytest.raises(InvalidToken):
        await resolver.resolve(old)
    assert (backend.reads, resolver.counters.refused) == (2, 1)


async def test_an_older_version_is_refused_without_a_read(resolver: Resolver, backend: FakeBackend) -> None:
    """Below the cached version a token dies at once, whatever its nonce."""
    group, token = backend.issue(token_version=3, revision=3)
    await resolver.resolve(token)
    for version in (1, 2):
        with pytest.raises(InvalidToken):
            await resolver.resolve(token_of(group, version=version))
    assert backend.reads == 1


async def test_the_version_before_lives_until_its_grace_ends(
    resolver: Resolver, backend: FakeBackend, clock: FrozenClock
) -> None:
    """For the seconds that the store gives it both tokens are good, without a read each; then the old one is asked for
    again, and the store decides. Red when the deadline of the entry ignores the seconds."""
    group, new = backend.issue(token_version=3, revision=3, grace_until=datetime(2020, 1, 1, tzinfo=UTC))
    old, older = token_of(group, version=2), token_of(group, version=1)
    backend.seconds = 0.5
    assert await resolver.resolve(new) is group
    assert await resolver.resolve(old) is group
    with pytest.raises(InvalidToken):
        await resolver.resolve(older)
    assert backend.reads == 2
    clock.advance(0.499)
    assert resolver.peek(old) is group
    clock.advance(0.001)
    assert resolver.peek(old) is None
    backend.seconds = 0.0
    with pytest.raises(InvalidToken):
        await resolver.resolve(old)
    assert backend.reads == 3
    assert resolver.peek(new) is group


@pytest.mark.parametrize("kind", [FakeBackend, FindBackend])
async def test_a_grace_of_unknown_length_is_not_cached(kind: type[FindBackend], clock: FrozenClock) -> None:
    """Where the backend does not say for how long, each request with the old token asks. Red when classify says
    GOOD."""
    backend = kind()
    resolver = Resolver(backend, keys=KEYS, clock=clock.monotonic)
    group, _ = backend.issue(token_version=2, grace_until=clock() + timedelta(hours=1))
    old = token_of(group, version=1)
    for reads in (1, 2):
        assert await resolver.resolve(old) is group
        assert resolver.peek(old) is None
        assert backend.reads == reads


async def test_an_old_version_without_a_grace_is_dead_whatever_the_backend_says(
    backend: FakeBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The resolver's own second check: the version before needs a grace_until, and the one before that has none
    ever."""
    resolver = Resolver(backend, keys=KEYS)
    group = make_group(token_version=3, grace_until=None)
    for version in (1, 2, 4):

        async def read_at_snapshot(token: Token, *, fresh: bool) -> LookupResult:
            return LookupResult(group, backend.generation, 10.0)

        monkeypatch.setattr(resolver._reader.backend, "read_at_snapshot", read_at_snapshot)
        with pytest.raises(InvalidToken):
            await resolver.resolve(token_of(group, version=version))


async def test_a_resolver_of_one_environment_knows_no_other(backend: FakeBackend) -> None:
    """environment="staging" refuses a group of production, remembers it, and accepts its own."""
    resolver = Resolver(backend, keys=KEYS, environment="staging")
    _, foreign = backend.issue()
    own, token = backend.issue(environment=make_environment(id=2, name="staging", tag=Tag.TESTING))
    for _ in range(2):
        with pytest.raises(InvalidToken):
            await resolver.resolve(foreign)
    assert backend.reads == 1
    assert await resolver.resolve(token) is own


@pytest.mark.parametrize(
    "answer",
    [
        {"handle": b"another!"},
        {"environment": make_environment(name="x", tag=Tag.TESTING)},
        {"token_version": 2},
        {"token_version": 7},
    ],
)
async def test_an_answer_that_is_not_of_the_token_is_refused(
    resolver: Resolver, backend: FakeBackend, answer: dict[str, object]
) -> None:
    """A backend that mixes up groups poisons no cache. Red when classify says GOOD always."""
    group, token = backend.issue()
    wrong = make_group(**{"handle": group.handle, **answer})

    async def find(_: object) -> object:
        backend.reads += 1
        return wrong

    backend.find = find  # type: ignore[assignment, method-assign]
    with pytest.raises(InvalidToken):
        await resolver.resolve(token)
    assert len(resolver._cache) == 0


async def test_a_failing_backend_is_unavailable_and_keeps_its_secrets(
    resolver: Resolver, backend: FakeBackend, caplog: pytest.LogCaptureFixture
) -> None:
    """Its exception is chained; the log has type and location, not the text, which may hold a password."""
    _, token = backend.issue()
    backend.error = ConnectionError("postgresql://app:hunter2@db is down")
    with caplog.at_level(logging.ERROR), pytest.raises(StoreUnavailable) as caught:
        await resolver.resolve(token)
    assert caught.value.__cause__ is backend.error
    assert "hunter2" not in caplog.text
    assert "builtins.ConnectionError at " in caplog.text
    assert token.decode() not in caplog.text
    backend.error = None
    assert await resolver.resolve(token)  # a failure is not remembered


async def test_an_error_of_ours_passes_as_it_is(
    resolver: Resolver, backend: FakeBackend, caplog: pytest.LogCaptureFixture
) -> None:
    """StoreUnavailable of the backend keeps its Retry-After; its message is in the log, for a viewer gets less."""
    _, token = backend.issue()
    backend.error = StoreUnavailable("draining", retry_after=7)
    with pytest.raises(StoreUnavailable) as caught:
        await resolver.resolve(token)
    assert caught.value.retry_after == 7
    assert "draining" in caplog.text
    assert resolver.counters.failures == 1


async def test_a_read_that_takes_too_long_has_failed(backend: FakeBackend) -> None:
    """It counts as failed. Red when only a TimeoutError of the backend counts: metrics then show a store that hangs as
    one that found the group."""
    _, token = backend.issue()
    backend.gate = asyncio.Event()
    resolver = Resolver(backend, keys=KEYS, patience=0.05)
    with pytest.raises(StoreUnavailable):
        await resolver.resolve(token)
    assert (resolver.counters.loads, resolver.counters.failures) == (1, 1)
    await resolver.aclose()


async def test_flush_empties_the_cache(resolver: Resolver, backend: FakeBackend) -> None:
    """After flush() the next request reads."""
    _, token = backend.issue()
    await resolver.resolve(token)
    resolver.flush()
    assert resolver.peek(token) is None
    assert "token" in repr(resolver)
    assert token.decode() not in repr(resolver)


@pytest.mark.parametrize("wrong", [{"staleness": 0}, {"staleness": math.inf}, {"patience": -1}, {"capacity": 0}])
def test_settings_that_cannot_work_are_refused(backend: FakeBackend, wrong: dict[str, int]) -> None:
    """Times are above 0, capacities at least 1."""
    with pytest.raises(ValueError, match=r"greater than 0|at least 1"):
        Resolver(backend, keys=KEYS, **wrong)  # type: ignore[arg-type]  # the parametrised mistake
