# ruff: noqa: S101 - tests, which third parties run too

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from tenantry.errors import AlreadyExists, Unauthorized
from tenantry.groups import AuditNote, Author, Scope, Tag
from tenantry.ports import CodeShare, Store
from tenantry.testing import FrozenClock

DIGEST = b"d" * 32


class CodeContract:
    async def test_a_code_is_redeemed_once(self, store: Store) -> None:
        payload = '{"filters":{"city":"Praha 😀"},"n":1.0}'
        await store.codes.add(DIGEST, purpose="download", payload=payload, lifetime=60)
        assert await store.codes.redeem(b"e" * 32, purpose="download") is None
        assert await store.codes.redeem(DIGEST, purpose="download") == payload
        assert await store.codes.redeem(DIGEST, purpose="download") is None

    async def test_of_many_at_once_one_redeems(self, store: Store) -> None:
        await store.codes.add(DIGEST, purpose="embed", payload="x", lifetime=60)
        found = await asyncio.gather(*(store.codes.redeem(DIGEST, purpose="embed") for _ in range(24)))
        assert sorted(found, key=str) == [None] * 23 + ["x"]

    async def test_a_code_is_for_one_purpose(self, store: Store) -> None:
        await store.codes.add(DIGEST, purpose="preview", payload="x", lifetime=60)
        assert await store.codes.redeem(DIGEST, purpose="embed") is None
        assert await store.codes.redeem(DIGEST, purpose="preview") == "x"

    async def test_what_a_code_is_for_is_read(self, store: Store, clock: FrozenClock) -> None:
        await store.codes.add(DIGEST, purpose="preview", payload="x", lifetime=60)
        assert [await store.codes.purpose(each) for each in (DIGEST, DIGEST, b"e" * 32)] == ["preview"] * 2 + [None]
        clock.advance(60)
        assert await store.codes.purpose(DIGEST) is None

    async def test_a_code_of_a_session_stays(self, store: Store, clock: FrozenClock) -> None:
        await store.codes.add(DIGEST, purpose="session", payload="x", lifetime=60)
        assert [await store.codes.read(DIGEST, purpose="session") for _ in range(3)] == ["x"] * 3
        assert await store.codes.read(DIGEST, purpose="embed") is None
        assert await store.codes.read(b"e" * 32, purpose="session") is None
        clock.advance(60)
        assert await store.codes.read(DIGEST, purpose="session") is None

    async def test_a_code_may_be_recorded(self, store: Store) -> None:
        made = AuditNote(Author("ann", "r-1"), "preview.created", "production", "acme", {"dashboard": "sales"})
        await store.codes.add(DIGEST, purpose="preview", payload="x", lifetime=60, audited=made)
        with pytest.raises(AlreadyExists):
            await store.codes.add(DIGEST, purpose="preview", payload="y", lifetime=60, audited=made)
        (entry,) = [each for each in await store.audit.list() if each.action == "preview.created"]
        assert (entry.author, entry.environment, entry.subject) == (Author("ann", "r-1"), "production", "acme")
        assert entry.details == {"dashboard": "sales"}

    async def test_a_code_ends(self, store: Store, clock: FrozenClock) -> None:
        await store.codes.add(DIGEST, purpose="embed", payload="x", lifetime=60)
        await store.codes.add(b"e" * 32, purpose="embed", payload="y", lifetime=60)
        clock.advance(59)
        assert await store.codes.redeem(DIGEST, purpose="embed") == "x"
        clock.advance(1)
        assert await store.codes.redeem(b"e" * 32, purpose="embed") is None

    async def test_a_group_keeps_its_newest_codes(self, store: Store, clock: FrozenClock) -> None:
        share, digests = CodeShare(b"group-01", 3), [bytes([number]) * 32 for number in range(7)]
        others = [("embed", share), ("download", CodeShare(b"group-02", 3)), ("download", None)]
        for number, (purpose, other) in enumerate(others):
            kept = bytes([100 + number]) * 32
            await store.codes.add(kept, purpose=purpose, payload="kept", lifetime=60, share=other)
        for digest in digests:
            clock.advance(1)
            await store.codes.add(digest, purpose="download", payload="x", lifetime=60, share=share)
        found = [await store.codes.purpose(each) for each in digests]
        assert found == [None] * 4 + ["download"] * 3
        assert await store.codes.redeem(digests[-1], purpose="download") == "x"
        clock.advance(1)
        await store.codes.add(digests[0], purpose="download", payload="x", lifetime=60, share=share)
        assert [await store.codes.purpose(each) for each in digests[4:]] == ["download", "download", None]
        for number, (purpose, _) in enumerate(others):
            assert await store.codes.redeem(bytes([100 + number]) * 32, purpose=purpose) == "kept"

    async def test_all_codes_of_one_owner_are_deleted(self, store: Store, clock: FrozenClock) -> None:
        ann, bob = CodeShare(b"ann", 5), CodeShare(b"bob", 5)
        await store.codes.add(b"0" * 32, purpose="session", payload="x", lifetime=10, share=ann)
        clock.advance(10)
        shares = [("session", ann), ("session", ann), ("session", bob), ("link", ann), ("session", None)]
        digests = [bytes([number]) * 32 for number in range(len(shares))]
        for digest, (purpose, share) in zip(digests, shares, strict=True):
            await store.codes.add(digest, purpose=purpose, payload="x", lifetime=60, share=share)
        assert await store.codes.delete(b"ann", purpose="session") == 2
        assert [await store.codes.purpose(each) for each in digests] == [None, None, "session", "link", "session"]
        assert await store.codes.delete(b"ann", purpose="session") == 0

    async def test_codes_of_one_moment_are_a_share_too(self, store: Store) -> None:
        """The new code is kept. An older code of the group is deleted only when the group has its maximum number of
        codes."""
        share, digests = CodeShare(b"group-01", 20), [bytes([number]) * 32 for number in range(30)]
        for number, digest in enumerate(digests, 1):
            await store.codes.add(digest, purpose="download", payload="x", lifetime=60, share=share)
            assert await store.codes.purpose(digest) == "download"
            found = [await store.codes.purpose(each) for each in digests]
            assert found.count("download") == min(number, 20)

    async def test_codes_that_ended_are_forgotten(self, store: Store, clock: FrozenClock) -> None:
        await store.codes.add(DIGEST, purpose="embed", payload="old", lifetime=60)
        await store.codes.add(b"e" * 32, purpose="embed", payload="live", lifetime=600)
        with pytest.raises(AlreadyExists):
            await store.codes.add(DIGEST, purpose="embed", payload="twin", lifetime=60)
        clock.advance(61)
        await store.codes.add(DIGEST, purpose="embed", payload="new", lifetime=60)
        assert await store.codes.redeem(DIGEST, purpose="embed") == "new"
        assert await store.codes.redeem(b"e" * 32, purpose="embed") == "live"

    async def test_codes_end_with_the_api_token_that_issued_them(self, store: Store, clock: FrozenClock) -> None:
        production = await store.environments.create("production", Tag.CUSTOMER)
        gone, other = [
            await store.api_tokens.create(production, digest=digest, label="x", scopes=[Scope.PREVIEW], hint="abcd")
            for digest in (b"g" * 32, b"o" * 32)
        ]
        await store.codes.add(b"0" * 32, purpose="preview", payload="old", lifetime=5, api_token_id=gone.id)
        clock.advance(5)
        for digest, issuer in ((b"1" * 32, gone.id), (b"2" * 32, gone.id), (b"3" * 32, other.id), (b"4" * 32, None)):
            await store.codes.add(digest, purpose="session", payload="x", lifetime=60, api_token_id=issuer)
        assert (await store.api_tokens.revoke(production, gone.id)).ended == 2
        assert (await store.api_tokens.revoke(production, gone.id)).ended == 0
        left = [await store.codes.read(bytes([each]) * 32, purpose="session") for each in b"1234"]
        assert left == [None, None, "x", "x"]
        with pytest.raises(Unauthorized):
            await store.codes.add(b"5" * 32, purpose="session", payload="x", lifetime=60, api_token_id=gone.id)
        with pytest.raises(Unauthorized):
            await store.codes.add(b"5" * 32, purpose="session", payload="x", lifetime=60, api_token_id=other.id + 1)
        assert await store.codes.purpose(b"5" * 32) is None

    async def test_codes_end_with_the_end_date_of_their_api_token(self, store: Store, clock: FrozenClock) -> None:
        production = await store.environments.create("production", Tag.CUSTOMER)
        ends = clock() + timedelta(seconds=30)
        issuer = await store.api_tokens.create(
            production, digest=DIGEST, label="x", scopes=[Scope.PREVIEW], hint="abcd", expires_at=ends
        )
        await store.codes.add(DIGEST, purpose="session", payload="x", lifetime=60, api_token_id=issuer.id)
        await store.codes.add(b"e" * 32, purpose="session", payload="y", lifetime=10, api_token_id=issuer.id)
        clock.advance(29)
        assert await store.codes.read(DIGEST, purpose="session") == "x"
        assert await store.codes.read(b"e" * 32, purpose="session") is None
        clock.advance(1)
        assert await store.codes.read(DIGEST, purpose="session") is None
        with pytest.raises(Unauthorized):
            await store.codes.add(b"f" * 32, purpose="session", payload="x", lifetime=60, api_token_id=issuer.id)

    async def test_no_code_outlives_a_revocation_at_the_same_time(self, store: Store) -> None:
        """Fails unless the store locks the API token when it adds a code."""
        production = await store.environments.create("production", Tag.CUSTOMER)
        for round_ in range(8):
            issuer = await store.api_tokens.create(
                production, digest=bytes([round_]) * 32, label="x", scopes=[Scope.PREVIEW], hint="abcd"
            )
            digests = [bytes([round_, number]) * 16 for number in range(12)]
            adding = [
                store.codes.add(digest, purpose="session", payload="x", lifetime=60, api_token_id=issuer.id)
                for digest in digests
            ]
            revoking = store.api_tokens.revoke(production, issuer.id)
            outcomes = await asyncio.gather(*adding[:6], revoking, *adding[6:], return_exceptions=True)
            unexpected = [each for each in outcomes if isinstance(each, Exception) and type(each) is not Unauthorized]
            assert not unexpected
            assert [await store.codes.purpose(digest) for digest in digests] == [None] * 12
