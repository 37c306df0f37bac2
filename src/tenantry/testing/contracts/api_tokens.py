# ruff: noqa: S101 - tests, which third parties run too

from __future__ import annotations

from datetime import timedelta
from typing import Final

import pytest

from tenantry.errors import AlreadyExists, ApiTokenExpired, UnknownApiToken, UnknownEnvironment
from tenantry.groups import Caller, Environment, GroupChanges, GroupDraft, RevokedApiToken, Scope, Tag
from tenantry.ports import Store
from tenantry.testing import FrozenClock, make_token

NOWHERE: Final = Environment(77, "nowhere", Tag.CUSTOMER)


class ApiTokenContract:
    async def test_an_api_token_comes_back_by_its_digest(self, store: Store, clock: FrozenClock) -> None:
        production = await store.environments.create("production", Tag.CUSTOMER)
        made = await store.api_tokens.create(
            production, digest=b"d" * 32, label="CI 😀", scopes=[Scope.PROVISION, Scope.INTROSPECT], hint="Ab3d"
        )
        assert (made.label, made.hint, made.created_at, made.revoked_at) == ("CI 😀", "Ab3d", clock(), None)
        assert made.scopes == {Scope.PROVISION, Scope.INTROSPECT}
        assert made.environment == production
        assert await store.api_tokens.get(b"d" * 32) == made
        assert await store.api_tokens.get(b"e" * 32) is None
        with pytest.raises(AlreadyExists):
            await store.api_tokens.create(
                production, digest=b"d" * 32, label="twin", scopes=[Scope.PROVISION], hint="Ab3d"
            )

    async def test_a_revoked_api_token_dies_at_once(self, store: Store, clock: FrozenClock) -> None:
        production = await store.environments.create("production", Tag.CUSTOMER)
        live, gone = [
            await store.api_tokens.create(production, digest=digest, label="x", scopes=[Scope.PROVISION], hint="abcd")
            for digest in (b"k" * 32, b"g" * 32)
        ]
        assert await store.api_tokens.get(b"g" * 32) == gone
        clock.advance(5)
        revoked = (await store.api_tokens.revoke(production, gone.id)).api_token
        assert revoked.revoked_at == clock()
        assert await store.api_tokens.get(b"g" * 32) is None
        assert await store.api_tokens.get(b"k" * 32) == live
        assert list(await store.api_tokens.list(production)) == [live, revoked]
        clock.advance(5)
        assert await store.api_tokens.revoke(production, gone.id) == RevokedApiToken(revoked, 0)

    async def test_an_api_token_belongs_to_its_environment(self, store: Store) -> None:
        production = await store.environments.create("production", Tag.CUSTOMER)
        other = await store.environments.create("other", Tag.CUSTOMER)
        made = await store.api_tokens.create(
            production, digest=b"d" * 32, label="x", scopes=[Scope.PROVISION], hint="abcd"
        )
        assert list(await store.api_tokens.list(other)) == []
        with pytest.raises(UnknownApiToken):
            await store.api_tokens.revoke(other, made.id)
        with pytest.raises(UnknownApiToken):
            await store.api_tokens.revoke(production, made.id + 1)
        assert await store.api_tokens.get(b"d" * 32) == made
        with pytest.raises(UnknownEnvironment):
            await store.api_tokens.create(NOWHERE, digest=b"n" * 32, label="x", scopes=[], hint="abcd")

    async def test_a_caller_comes_with_the_group_that_it_names(self, store: Store) -> None:
        production = await store.environments.create("production", Tag.CUSTOMER, grace_seconds=60)
        other = await store.environments.create("other", Tag.TESTING)
        digest = b"d" * 32
        caller = await store.api_tokens.create(
            production, digest=digest, label="CI 😀", scopes=[Scope.PROVISION], hint="Ab3d"
        )
        await store.groups.get_or_create(other, GroupDraft("acme", "Not yours", {"region": "us"}), make_token())
        assert await store.api_tokens.get_with_group(digest, "acme") == Caller(caller, None)
        draft = GroupDraft("acme", "Acme", {"region": "eu", "n": [1, None]}, {"main": "ds_1"})
        made = await store.groups.get_or_create(production, draft, make_token())
        assert await store.api_tokens.get_with_group(digest, "acme") == Caller(
            caller, await store.groups.get(production, "acme")
        )
        await store.groups.update(production, "acme", GroupChanges(properties=None))
        await store.groups.rotate(production, made.token, key_id="k2", nonce=b"n" * 16)
        found = await store.api_tokens.get_with_group(digest, "acme")
        assert found == Caller(caller, await store.groups.get(production, "acme"))
        assert found.issued is not None
        assert (found.issued.token.version, found.issued.token.key_id) == (2, "k2")
        assert await store.api_tokens.get_with_group(b"e" * 32, "acme") is None
        await store.api_tokens.revoke(production, caller.id)
        assert await store.api_tokens.get_with_group(digest, "acme") is None

    async def test_an_api_token_ends(self, store: Store, clock: FrozenClock) -> None:
        production = await store.environments.create("production", Tag.CUSTOMER)
        digest, end = b"d" * 32, clock() + timedelta(days=90)
        made = await store.api_tokens.create(
            production, digest=digest, label="x", scopes=[Scope.PROVISION_READ], hint="abcd", expires_at=end
        )
        assert made.expires_at == end
        assert made.scopes == {Scope.PROVISION_READ}
        assert (await store.audit.list())[-1].details["expires_at"] == end.isoformat()
        clock.advance(90 * 86_400 - 1)
        assert await store.api_tokens.get(digest) == made
        assert await store.api_tokens.get_with_group(digest, "acme") == Caller(made, None)
        clock.advance(1)
        for call in (store.api_tokens.get(digest), store.api_tokens.get_with_group(digest, "acme")):
            with pytest.raises(ApiTokenExpired, match=r"expired at 2026-04-01T00:00:00\+00:00"):
                await call
        assert list(await store.api_tokens.list(production)) == [made]
        await store.api_tokens.revoke(production, made.id)
        assert await store.api_tokens.get(digest) is None
        assert await store.api_tokens.get_with_group(digest, "acme") is None

    async def test_the_last_use_of_an_api_token_is_kept_to_the_hour(self, store: Store, clock: FrozenClock) -> None:
        production = await store.environments.create("production", Tag.CUSTOMER)
        used, other = [
            await store.api_tokens.create(production, digest=digest, label="x", scopes=[Scope.PREVIEW], hint="abcd")
            for digest in (b"u" * 32, b"o" * 32)
        ]
        assert used.last_used_at is None
        entries, first = list(await store.audit.list()), clock()
        for advance, stored in ((0, first), (3_599, first), (1, first + timedelta(hours=1))):
            clock.advance(advance)
            await store.api_tokens.record_use(used)
            found = await store.api_tokens.get(b"u" * 32)
            assert found is not None
            assert found.last_used_at == stored
        assert list(await store.api_tokens.list(production)) == [found, other]
        assert list(await store.audit.list()) == entries
