"""Rules of stores as pure functions: rotation, grace, Idempotency-Keys; and a store's clock."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from hmac import compare_digest

from tenantry.clock import utc_now
from tenantry.errors import (
    ApiTokenExpired,
    GroupChanged,
    IdempotencyKeyReused,
    IdempotencySuperseded,
    TokenAlreadyRotated,
    UnknownEnvironment,
    UnknownToken,
)
from tenantry.groups import (
    ApiToken,
    Environment,
    GroupChanges,
    IdempotencyKey,
    Issued,
    LookupResult,
    Tag,
    Token,
    UserGroup,
    from_micros,
)
from tenantry.ports import Clock

UNKNOWN_TOKEN = "this token is of no group of this environment"  # noqa: S105 - a message, not a password
ALREADY_ROTATED = "this token was rotated already: fetch the live one with GET /api/user"

IDEMPOTENCY_LIFETIME = timedelta(hours=24)
"""The lifetime of an Idempotency-Key."""

USAGE_WRITER_LIFETIME = timedelta(days=90)
"""How long the last batch number of a process is remembered."""

PRUNED_AT_ONCE = 5_000
"""The largest number of usage rows that one write deletes."""


@dataclass(frozen=True, slots=True)
class StoredGroup:
    """A group, its live token, and a previous token with a grace."""

    group: UserGroup
    token: Token
    previous: Token | None = None

    def read(self, token: Token, now: datetime, generation: int) -> LookupResult:
        """Return this group if ``token`` is live, or in its grace at ``now``."""
        if _same(self.token, token):
            return LookupResult(self.group, generation)
        until = self.group.grace_until
        if self.previous is not None and until is not None and now < until and _same(self.previous, token):
            return LookupResult(self.group, generation, (until - now).total_seconds())
        return LookupResult(None, generation)

    def updated(self, changes: GroupChanges) -> StoredGroup:
        """Apply ``changes``; return self if nothing differs."""
        differing = changes.differing(self.group)
        if not differing:
            return self
        return replace(self, group=replace(self.group, **differing, revision=self.group.revision + 1))

    def require(self, expected: UserGroup | None) -> None:
        """Raises GroupChanged unless the group equals ``expected`` (None: anything)."""
        if expected is None:
            return
        if (self.group.handle, self.group.revision) != (expected.handle, expected.revision):
            raise GroupChanged("another writer has changed the group: read it again")

    def rotated(
        self,
        environment: Environment,
        current: Token,
        *,
        key_id: str,
        nonce: bytes,
        grace_seconds: int | None,
        now: datetime,
    ) -> StoredGroup:
        """Return the group under its next token version, if ``current`` is live. ``grace_seconds``: None means the
        stored environment's.

        Raises UnknownToken; TokenAlreadyRotated for a lower version, which was once live: its signature is valid and
        handles are never reused."""
        if self.group.environment.id != environment.id or current.tag is not self.token.tag:
            raise UnknownToken(UNKNOWN_TOKEN, field="/current_token")
        if current.version < self.token.version:
            raise TokenAlreadyRotated(ALREADY_ROTATED, field="/current_token")
        if not _same(self.token, current):
            raise UnknownToken(UNKNOWN_TOKEN, field="/current_token")
        token = replace(self.token, key_id=key_id, nonce=nonce, version=self.token.version + 1)
        grace = self.group.environment.grace_seconds if grace_seconds is None else grace_seconds
        grace_until = now + timedelta(seconds=grace) if grace > 0 else None
        group = replace(
            self.group, token_version=token.version, revision=self.group.revision + 1, grace_until=grace_until
        )
        return StoredGroup(group, token, self.token if grace_until else None)

    def issued(self, *, created: bool = False) -> Issued:
        return Issued(self.group, self.token, created=created)


@dataclass(frozen=True, slots=True)
class StoredResponse:
    """Response to an Idempotency-Key, without the token: it is replayed only while that token is live, from the group's
    row."""

    body_hash: bytes
    group: UserGroup
    created: bool

    @classmethod
    def of(cls, once: IdempotencyKey, issued: Issued) -> StoredResponse:
        return cls(once.body_hashes[0], issued.group, issued.created)

    def replay(self, once: IdempotencyKey, now: StoredGroup | None) -> Issued:
        """Repeat the response. ``now``: the stored group, or None if deleted. Raises IdempotencyKeyReused for another
        body, IdempotencySuperseded if the response's token is not live."""
        if not any(compare_digest(self.body_hash, given) for given in once.body_hashes):
            raise IdempotencyKeyReused("this Idempotency-Key came with another body before: use a new key")
        if now is None or now.token.version != self.group.token_version:
            raise IdempotencySuperseded(
                "the group was rotated or deleted after this Idempotency-Key was answered: fetch it with GET /api/user"
            )
        return Issued(self.group, now.token, created=self.created, replayed=True)


def is_token(token: Token, tag: Tag, key_id: str, version: int, nonce: bytes) -> bool:
    """Whether ``token`` has these parts. Compares the secret nonce in constant time."""
    return (
        version == token.version and key_id == token.key_id and tag is token.tag and compare_digest(nonce, token.nonce)
    )


def _same(stored: Token, given: Token) -> bool:
    return stored.handle == given.handle and is_token(given, stored.tag, stored.key_id, stored.version, stored.nonce)


def unknown_environment(environment: Environment) -> UnknownEnvironment:
    return UnknownEnvironment(f"there is no environment {environment.name!r}: make it first")


_LOWER = {upper: upper + 32 for upper in range(ord("A"), ord("Z") + 1)}


def ascii_lower(text: str) -> str:
    """Lower-case A to Z only, so that all databases agree."""
    return text.translate(_LOWER)


def matches(group: UserGroup, text: str) -> bool:
    """Implements ``match`` of ``GroupStore.list``."""
    return group.provided_id.startswith(text) or ascii_lower(text) in ascii_lower(group.name)


# --- API tokens ---

USE_INTERVAL = timedelta(hours=1)
"""The last use of an API token is stored at most once in this time."""


def require_unexpired(token: ApiToken, now: datetime) -> ApiToken:
    """Return the token. Raises ApiTokenExpired from its end on."""
    if token.expires_at is not None and now >= token.expires_at:
        ended = token.expires_at.isoformat(timespec="seconds")
        raise ApiTokenExpired(f"the API token expired at {ended}: create another with tenantry api-token create")
    return token


def use_is_recorded(token: ApiToken, now: datetime) -> bool:
    """Whether a use within the last hour is stored."""
    return token.last_used_at is not None and now - token.last_used_at < USE_INTERVAL


# --- the time of day ---


class StoreClock:
    """The database's clock, because hosts disagree; this host's without one. ``given``: override for tests."""

    def __init__(self, given: Clock | None) -> None:
        self._given = given

    def at(self, micros: int | None) -> datetime:
        """Return the time for the database's ``micros``."""
        if self._given is not None:
            return self._given()
        return utc_now() if micros is None else from_micros(micros)
