"""StoredGroup: a group as a store keeps it, and the rules of updating and rotating it as pure functions of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from hmac import compare_digest

from tenantry.errors import TokenAlreadyRotated, UnknownToken
from tenantry.groups import UNCHANGED, Environment, GroupChanges, Issued, Token, UserGroup

UNKNOWN_TOKEN = "this token is of no group of this environment"  # noqa: S105 - a message, not a password
ALREADY_ROTATED = "this token was rotated already: fetch the live one with GET /api/user"


@dataclass(frozen=True, slots=True)
class StoredGroup:
    """A group, its live token, and the token just before it if that one was given a grace."""

    group: UserGroup
    token: Token
    previous: Token | None = None

    def accepts(self, token: Token, now: datetime) -> bool:
        """Whether ``token`` opens this group: it is the live one, or the previous one within its grace."""
        if _same(self.token, token):
            return True
        until = self.group.grace_until
        return self.previous is not None and until is not None and now < until and _same(self.previous, token)

    def updated(self, changes: GroupChanges) -> StoredGroup:
        """This group after ``changes``: absent fields stay, the others are replaced whole."""
        names = ("name", "properties", "mapping")
        given = {name: value for name in names if (value := getattr(changes, name)) is not UNCHANGED}
        if not given:
            return self
        return replace(self, group=replace(self.group, **given, revision=self.group.revision + 1))

    def rotated(
        self, environment: Environment, current: Token, *, key_id: str, nonce: bytes, grace_seconds: int, now: datetime
    ) -> StoredGroup:
        """This group under the next token version, if ``current`` is its live token.

        Raises UnknownToken and TokenAlreadyRotated. A version below the live one has been live once,
        for its signature is good and handles are never used again.
        """
        if self.group.environment.id != environment.id or current.tag is not self.token.tag:
            raise UnknownToken(UNKNOWN_TOKEN, field="/current_token")
        if current.version < self.token.version:
            raise TokenAlreadyRotated(ALREADY_ROTATED, field="/current_token")
        if not _same(self.token, current):
            raise UnknownToken(UNKNOWN_TOKEN, field="/current_token")
        token = replace(self.token, key_id=key_id, nonce=nonce, version=self.token.version + 1)
        grace_until = now + timedelta(seconds=grace_seconds) if grace_seconds > 0 else None
        group = replace(
            self.group, token_version=token.version, revision=self.group.revision + 1, grace_until=grace_until
        )
        return StoredGroup(group, token, self.token if grace_until else None)

    def issued(self, *, created: bool = False) -> Issued:
        return Issued(self.group, self.token, created=created)


def _same(kept: Token, given: Token) -> bool:
    """Whether two tokens are one. The nonce is the secret part, so it is compared in constant time."""
    return (
        kept.version == given.version
        and kept.key_id == given.key_id
        and kept.tag is given.tag
        and kept.handle == given.handle
        and compare_digest(kept.nonce, given.nonce)
    )
