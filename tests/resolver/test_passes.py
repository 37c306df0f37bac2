"""Passes in the resolver: as quick as tokens, ended with their token, at most so many."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from tenantry.cache import CacheEntry
from tenantry.errors import InvalidToken, PassExpired, PassRevoked, UserGroupExpired, UserGroupSuspended
from tenantry.groups import Record, UserGroup, revoking_changes
from tenantry.resolver import Resolver
from tenantry.resolver.loading import Counters
from tenantry.testing import FrozenClock
from tenantry.tokens import sign_pass
from tests.resolver.fake import FOREIGN_KEYS, KEYS, FakeBackend, token_of


class Uses:
    """Records each use that the resolver reports as usage."""

    def __init__(self, used: list[UserGroup]) -> None:
        self.used = used

    def counted(self, group: UserGroup) -> UserGroup:
        self.used.append(group)
        return group

    def count_hit(self, entry: CacheEntry) -> None:
        self.used.append(entry.group)


class Host:
    def __init__(self, **options: int) -> None:
        self.backend = FakeBackend()
        self.seconds, self.time_of_day = FrozenClock(), FrozenClock()
        self.resolver = Resolver(
            self.backend, keys=KEYS, clock=self.seconds.monotonic, time_of_day=self.time_of_day, **options
        )

    def sign(self, token: bytes, viewer_id: str, seconds: int = 600, **attributes: object) -> bytes:
        issued = int(self.time_of_day().timestamp())
        claims = {"iat": issued, "exp": issued + seconds, "sub": viewer_id, "viewer": attributes}
        return sign_pass(token.decode(), claims).encode()

    def advance(self, seconds: float) -> None:
        self.seconds.advance(seconds)
        self.time_of_day.advance(seconds)

    async def poll(self) -> None:
        assert self.resolver._poller is not None
        await self.resolver._poller.poll()


@pytest.fixture
def host() -> Host:
    return Host()


async def test_viewers_of_a_group_share_its_read(host: Host) -> None:
    """A thousand at once, each with an own pass, cost one read. Red if a pass is loaded by itself."""
    group, token = host.backend.issue(properties={"region": "eu"})
    passes = [host.sign(token, f"v{number}") for number in range(1_000)]
    found = await asyncio.gather(*map(host.resolver.resolve, passes))
    assert host.backend.reads == 1
    assert [each.viewer and each.viewer.id for each in found] == [f"v{number}" for number in range(1_000)]
    assert {each.handle for each in found} == {group.handle}
    assert host.resolver.peek(passes[7]) is found[7]
    assert host.resolver.peek(token) is group  # whose pass is another's business
    assert group.viewer is None


async def test_a_forged_pass_reads_nothing(host: Host) -> None:
    group, token = host.backend.issue()
    await host.resolver.resolve(token)
    foreign = token_of(group, keys=FOREIGN_KEYS)
    for forged in (host.sign(foreign, "ada"), host.sign(token, "ada")[:-1] + b"~", b"ugvc_"):
        with pytest.raises(InvalidToken):
            await host.resolver.resolve(forged)
    assert (host.backend.reads, host.resolver.counters.forged) == (1, 3)


async def test_a_pass_ends_at_its_exp(host: Host) -> None:
    _, token = host.backend.issue()
    raw = host.sign(token, "ada", seconds=60)
    await host.resolver.resolve(raw)
    for _ in range(19):  # polls keep the lease
        host.advance(3)
        await host.poll()
        assert await host.resolver.resolve(raw)
    host.advance(2.999)
    assert await host.resolver.resolve(raw)
    host.advance(0.001)
    assert host.resolver.peek(raw) is None
    with pytest.raises(PassExpired):
        await host.resolver.resolve(raw)
    assert await host.resolver.resolve(token)


async def test_the_group_may_end_before_the_pass(host: Host) -> None:
    _, token = host.backend.issue(expires_at=host.time_of_day() + timedelta(seconds=3))
    raw = host.sign(token, "ada")
    assert not (await host.resolver.resolve(raw)).ends_with_pass
    host.advance(3)
    with pytest.raises(UserGroupExpired):
        await host.resolver.resolve(raw)


async def test_a_suspended_group_is_refused_until_it_is_resumed(host: Host) -> None:
    """Its token and its passes, at each request and without a read. Red if ``may_end`` or ``require_access`` ignores
    ``suspended``."""
    group, token = host.backend.issue()
    raw = host.sign(token, "ada")
    await host.resolver.resolve(raw)
    host.backend.write(replace(group, suspended=True, revision=2))
    for _ in range(3):
        for each in (raw, token):
            assert host.resolver.peek(each) is None
            with pytest.raises(UserGroupSuspended):
                await host.resolver.resolve(each)
    assert host.backend.reads == 2
    host.backend.write(replace(group, revision=3))
    assert await host.resolver.resolve(raw)
    assert await host.resolver.resolve(token)


async def test_one_viewer_is_cut_off(host: Host) -> None:
    """At once and without a look at each pass; the others go on, and so does a pass that the viewer gets later. Red
    when ``with_viewer`` ignores the revocation."""
    group, token = host.backend.issue()
    ann, bob, nobody = host.sign(token, "ann"), host.sign(token, "bob"), host.sign(token, "ann", seconds=90)
    for raw in (ann, bob, nobody):
        await host.resolver.resolve(raw)
    changes = revoking_changes(group, "ann", host.time_of_day())
    host.backend.write(replace(group, **changes.given(), revision=2))
    for raw in (ann, nobody):
        assert host.resolver.peek(raw) is None
        with pytest.raises(PassRevoked):
            await host.resolver.resolve(raw)
    assert await host.resolver.resolve(bob)
    assert await host.resolver.resolve(token)
    host.advance(1)
    assert await host.resolver.resolve(host.sign(token, "ann"))
    with pytest.raises(PassRevoked):
        await host.resolver.resolve(ann)
    assert host.backend.reads == 2


@pytest.mark.parametrize(("group_ends", "error"), [(False, PassExpired), (True, UserGroupExpired)])
async def test_a_pass_that_ends_during_the_read_is_refused(
    host: Host, monkeypatch: pytest.MonkeyPatch, group_ends: bool, error: type[InvalidToken]
) -> None:
    """As is one whose group ends then. Red when ``exp`` is compared only before the read."""
    ends = host.time_of_day() + timedelta(seconds=2)
    _, token = host.backend.issue(expires_at=ends if group_ends else None)
    read_at_snapshot = host.backend.read_at_snapshot

    async def slow(*arguments: Any, **options: Any) -> Any:
        host.time_of_day.advance(3)
        return await read_at_snapshot(*arguments, **options)

    monkeypatch.setattr(host.backend, "read_at_snapshot", slow)
    with pytest.raises(error):
        await host.resolver.resolve(host.sign(token, "ada", seconds=60 if group_ends else 3))
    assert (host.backend.reads, host.resolver.cached_passes) == (1, 0)


async def test_each_request_with_a_pass_is_counted_once(host: Host) -> None:
    """What is refused is no hit, and no use of the group. Red when the token of a revoked viewer's pass is counted as a
    hit, and when a pass that has ended is counted as a read."""
    counted, used = host.resolver.counters, []
    host.resolver._usage = Uses(used)
    group, token = host.backend.issue(expires_at=host.time_of_day() + timedelta(days=1))
    ann, bob, short = host.sign(token, "ann"), host.sign(token, "bob"), host.sign(token, "bob", seconds=1)

    async def outcomes(*passes: bytes) -> tuple[int, ...]:
        """Hits, refused, forged, reads and uses of the group."""
        before = _sums(counted, used)
        for raw in passes:
            with suppress(InvalidToken):
                await host.resolver.resolve(raw)
        return tuple(now - then for now, then in zip(_sums(counted, used), before, strict=True))

    assert await outcomes(ann, bob, bob, short) == (3, 0, 0, 1, 4)
    assert await outcomes(bob[:-1] + b"~") == (0, 0, 1, 0, 0)
    host.advance(1)
    assert await outcomes(*[short] * 10) == (0, 10, 0, 0, 0)
    changes = revoking_changes(group, "ann", host.time_of_day())
    host.backend.write(replace(group, **changes.given(), revision=2))
    assert await outcomes(ann, *[ann] * 99) == (0, 99, 0, 1, 0)  # the first one reads the changed group
    assert await outcomes(bob, bob) == (2, 0, 0, 0, 2)


def _sums(counted: Counters, used: list[UserGroup]) -> tuple[int, ...]:
    reads = counted.misses - counted.refused - counted.forged - counted.joined
    assert reads == counted.loads
    return counted.hits, counted.refused, counted.forged, reads, len(used)


async def test_what_ends_the_token_ends_its_passes(host: Host) -> None:
    """However many there are, and in this moment. Red if the entry of a token is dropped without its deadline."""
    group, token = host.backend.issue()
    passes = [host.sign(token, f"v{number}") for number in range(50)]
    for raw in passes:
        await host.resolver.resolve(raw)
    host.resolver.evict(group.handle, host.backend.generation + 1)
    assert [host.resolver.peek(raw) for raw in passes] == [None] * 50
    del host.backend.groups[group.handle]
    for raw in passes:
        with pytest.raises(InvalidToken):
            await host.resolver.resolve(raw)


async def test_a_changed_group_is_seen_through_its_passes(host: Host) -> None:
    group, token = host.backend.issue(properties={"region": "eu"})
    raw = host.sign(token, "ada", team="blue")
    await host.resolver.resolve(raw)
    host.backend.write(replace(group, properties=Record({"region": "us"}), revision=group.revision + 1))
    seen = await host.resolver.resolve(raw)
    assert (seen.variables["region"], seen.variables["viewer"]["team"]) == ("us", "blue")


async def test_passes_have_a_capacity_of_their_own() -> None:
    """Passes without number push out neither tokens nor grow. Red if they share the ring of the tokens."""
    host = Host(capacity=2, pass_capacity=10)
    _, token = host.backend.issue()
    for number in range(1_000):
        await host.resolver.resolve(host.sign(token, f"v{number}"))
    assert (host.resolver.cached, host.resolver.cached_passes) == (1, 10)
    assert host.backend.reads == 1


async def test_the_passes_of_a_group_are_in_many_tables() -> None:
    """A table of 20,000 passes that grows stops the event loop for more than a millisecond. Red when the table is
    selected by a character of the handle, which all passes of a group share."""
    host = Host()
    _, token = host.backend.issue()
    for number in range(1_000):
        await host.resolver.resolve(host.sign(token, f"v{number}"))
    assert max(map(len, host.resolver._index)) < 60


async def test_a_pass_in_use_keeps_its_token_in_the_cache() -> None:
    host = Host(capacity=2)
    _, token = host.backend.issue()
    raw = host.sign(token, "ada")
    await host.resolver.resolve(raw)
    for _ in range(20):
        assert host.resolver.peek(raw) is not None
        _, other = host.backend.issue()
        await host.resolver.resolve(other)
    assert host.resolver.peek(raw) is not None


def test_a_viewer_is_part_of_what_templates_bind(host: Host) -> None:
    """Two viewers of a group are not bound alike, so that a stream ends if its viewer's attributes change."""
    group, token = host.backend.issue()

    async def seen(**attributes: object) -> UserGroup:
        return await host.resolver.resolve(host.sign(token, "ada", **attributes))

    async def run() -> None:
        one, same, other = await seen(region="eu"), await seen(region="eu"), await seen(region="us")
        assert one.is_bound_like(same)
        assert not one.is_bound_like(other)
        assert not one.is_bound_like(group)

    asyncio.run(run())
