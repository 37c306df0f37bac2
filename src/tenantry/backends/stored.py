"""Rules that all stores share, such as rotation and grace."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from hmac import compare_digest
from weakref import ReferenceType, ref

from tenantry.clock import utc_now
from tenantry.errors import (
    ApiTokenExpired,
    GroupChanged,
    GroupSuspended,
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
    GroupRotation,
    IdempotencyKey,
    Issued,
    LookupResult,
    Record,
    Token,
    UserGroup,
    from_micros,
)
from tenantry.ports import Clock, SharedSourceCache, SourceCacheHolder

UNKNOWN_TOKEN = "no user group of this environment has this token"  # noqa: S105 - a message, not a password
ALREADY_ROTATED = "this token has already been rotated: fetch the live one with GET /api/user"

IDEMPOTENCY_LIFETIME = timedelta(hours=24)

USAGE_WRITER_LIFETIME = timedelta(days=90)
"""How long a store remembers the number of the last batch that a UsageRecorder wrote."""

PRUNED_AT_ONCE = 5_000
"""One call of ``prune`` deletes at most this many usage rows of groups, and at most this many of viewers. When a group
is deleted, each transaction deletes at most this many of its viewers' rows."""


@dataclass(frozen=True, slots=True)
class StoredGroup:
    group: UserGroup
    token: Token
    previous: Token | None = None
    """The token before the last rotation. None if that rotation set no grace period."""

    def read(self, token: Token, now: datetime, generation: int) -> LookupResult:
        """Return the group if ``token`` is its live token, or its previous token in the grace period. Otherwise, the
        result contains no group."""
        if _same(self.token, token):
            return LookupResult(self.group, generation)
        until = self.group.grace_until
        if self.previous is not None and until is not None and now < until and _same(self.previous, token):
            return LookupResult(self.group, generation, (until - now).total_seconds())
        return LookupResult(None, generation)

    def updated(self, changes: GroupChanges) -> StoredGroup:
        """Return the group's next revision, or self if the changes make no difference."""
        differing = changes.differing(self.group)
        if not differing:
            return self
        return replace(self, group=replace(self.group, **differing, revision=self.group.revision + 1))

    def require(self, expected: UserGroup | None) -> None:
        """Check that the group is unchanged since it was read as ``expected``. None: no check. Raises GroupChanged."""
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
        """Return the group with a new token, which replaces the live token ``current``. The old token stays valid for
        ``grace_seconds`` from ``now`` (None: the environment's default).

        Raises UnknownToken if ``current`` is not a token of this group, TokenAlreadyRotated if ``current`` was replaced
        before, and GroupSuspended."""
        if self.group.environment.id != environment.id or current.tag is not self.token.tag:
            raise UnknownToken(UNKNOWN_TOKEN, field="/current_token")
        if current.version < self.token.version:  # an earlier token: handles are never reused
            raise TokenAlreadyRotated(ALREADY_ROTATED, field="/current_token")
        if not _same(self.token, current):
            raise UnknownToken(UNKNOWN_TOKEN, field="/current_token")
        if self.group.suspended:
            raise GroupSuspended(GroupSuspended.MESSAGE)
        token = replace(self.token, key_id=key_id, nonce=nonce, version=self.token.version + 1)
        grace = self.group.environment.grace_seconds if grace_seconds is None else grace_seconds
        grace_until = now + timedelta(seconds=grace) if grace > 0 else None
        group = replace(
            self.group,
            token_version=token.version,
            revision=self.group.revision + 1,
            grace_until=grace_until,
            # Without grace, the rotation ends all earlier passes.
            revoked_viewers=self.group.revoked_viewers if grace_until else None,
        )
        return StoredGroup(group, token, self.token if grace_until else None)

    def rotated_if_live(self, rotation: GroupRotation, now: datetime) -> StoredGroup | None:
        """Like ``rotated``, but return None instead of raising an error."""
        try:
            return self.rotated(
                self.group.environment,
                rotation.issued.token,
                key_id=rotation.key_id,
                nonce=rotation.nonce,
                grace_seconds=rotation.grace_seconds,
                now=now,
            )
        except (UnknownToken, TokenAlreadyRotated, GroupSuspended):
            return None

    def issued(self, *, created: bool = False) -> Issued:
        return Issued(self.group, self.token, created=created)


@dataclass(frozen=True, slots=True)
class StoredResponse:
    """A stored response to a request with an Idempotency-Key. The token is stored only in the group's row."""

    body_hash: bytes
    group: UserGroup
    created: bool

    @classmethod
    def of(cls, once: IdempotencyKey, issued: Issued) -> StoredResponse:
        return cls(once.body_hashes[0], issued.group, issued.created)

    def replay(self, once: IdempotencyKey, now: StoredGroup | None) -> Issued:
        """Return the stored response, with the group's current value of ``suspended``. ``now``: the group as it is now,
        or None if it was deleted. Raises IdempotencyKeyReused for another body, and IdempotencySuperseded if the group
        was deleted or its token rotated."""
        if not any(compare_digest(self.body_hash, given) for given in once.body_hashes):
            raise IdempotencyKeyReused("this Idempotency-Key was used with another body: use a new key")
        if now is None or now.token.version != self.group.token_version:
            raise IdempotencySuperseded(
                "after the first request with this Idempotency-Key, the group was deleted or its token was rotated: "
                "fetch or recreate the group with GET /api/user"
            )
        group = replace(self.group, suspended=now.group.suspended)
        return Issued(group, now.token, created=self.created, replayed=True)


def _same(stored: Token, given: Token) -> bool:
    has_names = (stored.handle, stored.key_id, stored.version) == (given.handle, given.key_id, given.version)
    # The nonce is secret, so it is compared in constant time.
    return has_names and stored.tag is given.tag and compare_digest(stored.nonce, given.nonce)


def unknown_environment(environment: Environment) -> UnknownEnvironment:
    return UnknownEnvironment(f"there is no environment {environment.name!r}: create it first")


_LOWER = {upper: upper + 32 for upper in range(ord("A"), ord("Z") + 1)}


def ascii_lower(text: str) -> str:
    """Lower-case A to Z only."""
    # Databases do not agree on other letters.
    return text.translate(_LOWER)


def matches(group: UserGroup, text: str) -> bool:
    return group.provided_id.startswith(text) or ascii_lower(text) in ascii_lower(group.name)


# --- API tokens ---

USE_INTERVAL = timedelta(hours=1)
"""Minimum time between two recorded uses of an API token."""


def require_unexpired(token: ApiToken, now: datetime) -> ApiToken:
    """Return ``token``. Raises ApiTokenExpired if it ended at or before ``now``."""
    if token.expires_at is not None and now >= token.expires_at:
        ended = token.expires_at.isoformat(timespec="seconds")
        raise ApiTokenExpired(f"the API token expired at {ended}: create another with tenantry api-token create")
    return token


def use_is_recorded(token: ApiToken, now: datetime) -> bool:
    return token.last_used_at is not None and now - token.last_used_at < USE_INTERVAL


# --- data sources ---


def references_of(mapping: Mapping[str, str] | Record) -> frozenset[str]:
    return frozenset(mapping[schema] for schema in mapping)


class LentSourceCache(SourceCacheHolder):
    _source_cache: ReferenceType[SharedSourceCache] | None = None

    @property
    def source_cache(self) -> SharedSourceCache | None:
        return None if self._source_cache is None else self._source_cache()

    @source_cache.setter
    def source_cache(self, source_cache: SharedSourceCache | None) -> None:
        self._source_cache = None if source_cache is None else ref(source_cache)


# --- the time of day ---


class StoreClock:
    """The time of day by the clock of the database or, with SQLite, of this host. In tests, ``given`` replaces both
    clocks."""

    def __init__(self, given: Clock | None) -> None:
        self._given = given

    def at(self, micros: int | None) -> datetime:
        """Return the time. ``micros``: the time that the database reported, in microseconds since 1970, or None if the
        database has no clock."""
        if self._given is not None:
            return self._given()
        return utc_now() if micros is None else from_micros(micros)
