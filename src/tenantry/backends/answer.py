"""Answer: what an Idempotency-Key was answered with, kept so that a repeated request gets the same answer.

It holds no token: the answer is given again only while the token that it spoke of is still the live one, and then the
group's own row has the parts of that token.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from hmac import compare_digest

from tenantry.backends.stored import StoredGroup
from tenantry.errors import IdempotencyKeyReused, IdempotencySuperseded
from tenantry.groups import IdempotencyKey, Issued, UserGroup

KEPT = timedelta(hours=24)
"""How long an Idempotency-Key is remembered."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The group as it was answered, whether it was new, and the first keyed hash of the body that asked."""

    body_hash: bytes
    group: UserGroup
    created: bool

    @classmethod
    def of(cls, once: IdempotencyKey, issued: Issued) -> Answer:
        return cls(once.body_hashes[0], issued.group, issued.created)

    def replay(self, once: IdempotencyKey, now: StoredGroup | None) -> Issued:
        """The answer again. ``now`` is the group with the same handle as it stands; None when it was deleted.

        Raises IdempotencyKeyReused when the body was another one, IdempotencySuperseded when the token that was
        answered is not live any more.
        """
        check_body(self.body_hash, once)
        if now is None or now.token.version != self.group.token_version:
            raise IdempotencySuperseded(
                "the group was rotated or deleted after this Idempotency-Key was answered: fetch it with GET /api/user"
            )
        return Issued(self.group, now.token, created=self.created, replayed=True)


def check_body(body_hash: bytes, once: IdempotencyKey) -> None:
    """Raises IdempotencyKeyReused unless the key came with this very body before, under any of the signing keys."""
    if not any(compare_digest(body_hash, given) for given in once.body_hashes):
        raise IdempotencyKeyReused("this Idempotency-Key came with another body before: use a new key")
