"""Backends that count, wait and fail on demand, and the tokens of their groups."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Sequence

from tenantry.cache import SLOT_COUNT, slot_index
from tenantry.groups import Change, Changes, LookupResult, Tag, Token, UserGroup
from tenantry.resolver import Resolver
from tenantry.testing import make_group
from tenantry.tokens import KeyRing, SigningKey, draft_token

KEYS = KeyRing([SigningKey("k1", secrets.token_bytes(32))])
FOREIGN_KEYS = KeyRing([SigningKey("k1", secrets.token_bytes(32))])

PATIENT = 600.0
"""The staleness bound and the patience of a resolver in a test that is not about time: what takes long is not given
up."""


class FakeSlots:
    """Versions of one process, and what a writer does with them."""

    def __init__(self) -> None:
        self.versions: list[int] = [0] * SLOT_COUNT
        self.repaired: list[tuple[int, int]] = []

    def copy(self) -> Sequence[int]:
        return tuple(self.versions)

    def repair(self, slot: int, version: int) -> None:
        if self.versions[slot] == version:
            self.repaired.append((slot, version))
            self.versions[slot] = secrets.randbits(63) << 1

    def before(self, handle: bytes) -> None:
        self.versions[slot_index(handle)] = secrets.randbits(63) << 1 | 1

    def after(self, handle: bytes) -> None:
        self.versions[slot_index(handle)] = secrets.randbits(63) << 1


class FindBackend:
    """Has only ``find``. ``gate`` set to an unset Event holds every read; ``error`` is raised by every read."""

    def __init__(self) -> None:
        self.groups: dict[bytes, UserGroup] = {}
        self.reads = 0
        self.gate: asyncio.Event | None = None
        self.error: BaseException | None = None

    async def find(self, token: Token) -> UserGroup | None:
        self.reads += 1
        group = self.groups.get(token.handle)  # the snapshot is taken first: what comes later is not in it
        if self.gate is not None:
            await self.gate.wait()
        if self.error is not None:
            raise self.error
        return _of_token(group, token)

    def issue(self, **fields: object) -> tuple[UserGroup, bytes]:
        """A new group and its token."""
        group = make_group(**fields)
        self.groups[group.handle] = group
        return group, token_of(group)


class FakeBackend(FindBackend):
    """A LeasedBackend on one host. ``write`` is a write on this host, ``write_elsewhere`` one on another.

    ``near`` are readings of a second-level cache, given where ``fresh`` is not asked for; ``seconds`` is the rest of an
    old token's grace. ``poll_gate`` holds every poll, ``poll_error`` is raised by each.
    """

    def __init__(self) -> None:
        super().__init__()
        self.store_id = "store"
        self.generation = 10
        self.since = 0
        self.log: list[Change] = []
        self.table = FakeSlots()
        self.opened = False
        self.polls = 0
        self.fresh_reads = 0
        self.near: dict[bytes, LookupResult] = {}
        self.seconds: float | None = None
        self.poll_gate: asyncio.Event | None = None
        self.poll_error: BaseException | None = None

    @property
    def slots(self) -> FakeSlots | None:
        return self.table if self.opened else None

    async def read_at_snapshot(self, token: Token, *, fresh: bool) -> LookupResult:
        self.fresh_reads += fresh
        near = self.near.get(token.handle)
        if not fresh and near is not None:
            self.reads += 1
            return LookupResult(_of_token(near.group, token), near.generation, near.seconds)
        generation, seconds = self.generation, self.seconds
        group = await self.find(token)
        old = group is not None and token.version < group.token_version
        return LookupResult(group, generation, seconds if old else None)

    async def changes(self, since: int | None, *, lease: float = 0.0) -> Changes:
        self.polls += 1
        self.opened = True
        first = self.since if since is None else max(since, self.since)
        answer = Changes(
            self.store_id, self.generation, first, tuple(change for change in self.log if change.generation > first)
        )
        if self.poll_gate is not None:
            await self.poll_gate.wait()
        if self.poll_error is not None:
            raise self.poll_error
        return answer

    def write(self, group: UserGroup) -> None:
        """Stores a group as a store on this host does."""
        self.table.before(group.handle)
        self.write_elsewhere(group)
        self.table.after(group.handle)

    def write_elsewhere(self, group: UserGroup, *, age: float = 0.0) -> None:
        """Stores a group as a store on another host does: no version of this one changes."""
        self.groups[group.handle] = group
        self.generation += 1
        self.log.append(Change(self.generation, group.handle, age))


def _of_token(group: UserGroup | None, token: Token) -> UserGroup | None:
    """What a store finds: the group if the token is its live one, or the one before with a grace."""
    if group is None or token.version > group.token_version:
        return None
    graced = group.grace_until is not None and token.version == group.token_version - 1
    return group if token.version == group.token_version or graced else None


def token_of(group: UserGroup, *, version: int | None = None, keys: KeyRing = KEYS) -> bytes:
    """The token of a group; its nonce is random, which this backend does not look at."""
    version = group.token_version if version is None else version
    return keys.mint(Token(group.environment.tag, "k1", group.handle, version, secrets.token_bytes(16))).encode()


def unknown_token() -> bytes:
    """Signed by us, of no group."""
    return KEYS.mint(draft_token(Tag.CUSTOMER, "k1", secrets.token_bytes)).encode()


def loads(resolver: Resolver) -> list[bytes]:
    """The tokens that are being loaded, on any event loop."""
    return [key for flights, _ in resolver._flights._values.values() for key in flights]
