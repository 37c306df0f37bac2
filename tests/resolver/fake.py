"""A backend that counts, waits and fails on demand, and the tokens of its groups."""

from __future__ import annotations

import asyncio
import secrets

from tenantry.groups import Tag, Token, UserGroup
from tenantry.ports import ChangeListener
from tenantry.testing import make_group
from tenantry.tokens import KeyRing, SigningKey, draft_token

KEYS = KeyRing([SigningKey("k1", secrets.token_bytes(32))])
FOREIGN_KEYS = KeyRing([SigningKey("k1", secrets.token_bytes(32))])


class FakeBackend:
    """An ObservableBackend. ``gate`` set to an unset Event holds every read; ``error`` is raised by every read."""

    def __init__(self) -> None:
        self.groups: dict[bytes, UserGroup] = {}
        self.listeners: list[ChangeListener] = []
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
        if group is None or token.version > group.token_version:
            return None
        graced = group.grace_until is not None and token.version == group.token_version - 1
        return group if token.version == group.token_version or graced else None

    def subscribe(self, listener: ChangeListener) -> None:
        self.listeners.append(listener)

    def write(self, group: UserGroup) -> None:
        """Stores a group as a store does: listeners hear of it before and after."""
        for listener in self.listeners:
            listener.changing(group.handle)
        self.groups[group.handle] = group
        for listener in self.listeners:
            listener.changed(group.handle)

    def issue(self, **fields: object) -> tuple[UserGroup, bytes]:
        """A new group and its token."""
        group = make_group(**fields)
        self.groups[group.handle] = group
        return group, token_of(group)


def token_of(group: UserGroup, *, version: int | None = None, keys: KeyRing = KEYS) -> bytes:
    """The token of a group; its nonce is random, which this backend does not look at."""
    version = group.token_version if version is None else version
    return keys.mint(Token(group.environment.tag, "k1", group.handle, version, secrets.token_bytes(16))).encode()


def unknown_token() -> bytes:
    """Signed by us, of no group."""
    return KEYS.mint(draft_token(Tag.CUSTOMER, "k1", secrets.token_bytes)).encode()
