"""The contract of environments, API tokens and data sources."""
# ruff: noqa: S101 - a test suite, which lives in the package because third parties run it too

from __future__ import annotations

import pytest

from tenantry.errors import AlreadyExists, UnknownApiToken, UnknownDataSource, UnknownEnvironment
from tenantry.groups import Caller, Environment, GroupChanges, GroupDraft, Scope, Tag
from tenantry.ports import Store
from tenantry.testing.clock import FrozenClock
from tenantry.testing.sample import make_token

NOWHERE = Environment(77, "nowhere", Tag.CUSTOMER)
URL = "postgresql://reader:s3cret@warehouse/sales"


class DirectoryContract:
    """Tests of EnvironmentStore, ApiTokenStore and SourceStore."""

    async def test_the_store_is_ready(self, store: Store) -> None:
        """A store that was set up says so."""
        await store.ready()

    async def test_an_environment_comes_back(self, store: Store) -> None:
        """Name, tag and flag come back as they were given; names are unique and told apart exactly."""
        made = [
            await store.create_environment("production", Tag.CUSTOMER),
            await store.create_environment("Production", Tag.TESTING, external_data_sources=True),
            await store.create_environment("prüfung 😀", Tag.TESTING),
        ]
        assert [(each.tag, each.external_data_sources) for each in made] == [
            (Tag.CUSTOMER, False),
            (Tag.TESTING, True),
            (Tag.TESTING, False),
        ]
        assert list(await store.environments()) == made
        for each in made:
            assert await store.environment(each.name) == each
        assert await store.environment("nowhere") is None
        with pytest.raises(AlreadyExists):
            await store.create_environment("production", Tag.TESTING)
        assert list(await store.environments()) == made

    async def test_an_api_token_comes_back_by_its_digest(self, store: Store, clock: FrozenClock) -> None:
        """Label, scopes, hint, time and environment come back; another digest finds nothing."""
        production = await store.create_environment("production", Tag.CUSTOMER)
        made = await store.create_api_token(
            production, digest=b"d" * 32, label="CI 😀", scopes=[Scope.PROVISION, Scope.INTROSPECT], hint="Ab3d"
        )
        assert (made.label, made.hint, made.created_at, made.revoked_at) == ("CI 😀", "Ab3d", clock(), None)
        assert made.scopes == {Scope.PROVISION, Scope.INTROSPECT}
        assert made.environment == production
        assert await store.api_token(b"d" * 32) == made
        assert await store.api_token(b"e" * 32) is None
        with pytest.raises(AlreadyExists):
            await store.create_api_token(
                production, digest=b"d" * 32, label="twin", scopes=[Scope.PROVISION], hint="Ab3d"
            )

    async def test_a_revoked_api_token_dies_at_once(self, store: Store, clock: FrozenClock) -> None:
        """The very next look-up of a revoked token finds nothing; the list keeps it with its time."""
        production = await store.create_environment("production", Tag.CUSTOMER)
        kept, gone = [
            await store.create_api_token(production, digest=digest, label="x", scopes=[Scope.PROVISION], hint="abcd")
            for digest in (b"k" * 32, b"g" * 32)
        ]
        assert await store.api_token(b"g" * 32) == gone
        clock.advance(5)
        revoked = await store.revoke_api_token(production, gone.id)
        assert revoked.revoked_at == clock()
        assert await store.api_token(b"g" * 32) is None
        assert await store.api_token(b"k" * 32) == kept
        assert list(await store.api_tokens(production)) == [kept, revoked]
        clock.advance(5)
        assert await store.revoke_api_token(production, gone.id) == revoked

    async def test_an_api_token_belongs_to_its_environment(self, store: Store) -> None:
        """Another environment neither lists nor revokes it."""
        production = await store.create_environment("production", Tag.CUSTOMER)
        other = await store.create_environment("other", Tag.CUSTOMER)
        made = await store.create_api_token(
            production, digest=b"d" * 32, label="x", scopes=[Scope.PROVISION], hint="abcd"
        )
        assert list(await store.api_tokens(other)) == []
        with pytest.raises(UnknownApiToken):
            await store.revoke_api_token(other, made.id)
        with pytest.raises(UnknownApiToken):
            await store.revoke_api_token(production, made.id + 1)
        assert await store.api_token(b"d" * 32) == made
        with pytest.raises(UnknownEnvironment):
            await store.create_api_token(NOWHERE, digest=b"n" * 32, label="x", scopes=[], hint="abcd")

    async def test_a_caller_comes_with_the_group_that_it_names(self, store: Store) -> None:
        """Both are what ``api_token`` and ``get`` find, now: with a group, without one, after a write, after the end of
        the token. A group of the same id in another environment is none of the caller's: red when only the id is looked
        for."""
        production = await store.create_environment("production", Tag.CUSTOMER, grace_seconds=60)
        other = await store.create_environment("other", Tag.TESTING)
        digest = b"d" * 32
        caller = await store.create_api_token(
            production, digest=digest, label="CI 😀", scopes=[Scope.PROVISION], hint="Ab3d"
        )
        await store.get_or_create(other, GroupDraft("acme", "Not yours", {"region": "us"}), make_token())
        assert await store.caller(digest, "acme") == Caller(caller, None)
        draft = GroupDraft("acme", "Acme", {"region": "eu", "n": [1, None]}, {"main": "ds_1"})
        made = await store.get_or_create(production, draft, make_token())
        assert await store.caller(digest, "acme") == Caller(caller, await store.get(production, "acme"))
        await store.update(production, "acme", GroupChanges(properties=None))
        await store.rotate(production, made.token, key_id="k2", nonce=b"n" * 16)
        found = await store.caller(digest, "acme")
        assert found == Caller(caller, await store.get(production, "acme"))
        assert found.issued is not None
        assert (found.issued.token.version, found.issued.token.key_id) == (2, "k2")
        assert await store.caller(b"e" * 32, "acme") is None
        await store.revoke_api_token(production, caller.id)
        assert await store.caller(digest, "acme") is None

    async def test_a_data_source_is_found_by_either_id(self, store: Store) -> None:
        """Our id and the caller's id both find it, in its own environment only."""
        production = await store.create_environment("production", Tag.CUSTOMER)
        other = await store.create_environment("other", Tag.TESTING)
        made = await store.create_data_source(
            production, source_id="ds_1", provided_id="warehouse", url=URL, trusted=True
        )
        assert (made.id, made.provided_id, made.url, made.trusted) == ("ds_1", "warehouse", URL, True)
        assert made.environment == production
        for reference in ("ds_1", "warehouse"):
            assert await store.data_source(production, reference) == made
            assert await store.data_source(other, reference) is None
        assert await store.data_source(production, "Warehouse") is None
        twin = await store.create_data_source(other, source_id="ds_1", provided_id="warehouse", url=URL)
        assert not twin.trusted
        assert list(await store.data_sources(production)) == [made]

    async def test_both_ids_of_a_data_source_are_unique(self, store: Store) -> None:
        """Neither id can be taken twice in one environment, and what was there stays."""
        production = await store.create_environment("production", Tag.CUSTOMER)
        made = await store.create_data_source(production, source_id="ds_1", provided_id="a", url=URL)
        for source_id, provided_id in (("ds_1", "b"), ("ds_2", "a")):
            with pytest.raises(AlreadyExists):
                await store.create_data_source(production, source_id=source_id, provided_id=provided_id, url="x://")
        assert list(await store.data_sources(production)) == [made]
        with pytest.raises(UnknownEnvironment):
            await store.create_data_source(NOWHERE, source_id="ds_9", provided_id="z", url=URL)

    async def test_a_data_source_can_be_deleted_by_either_id(self, store: Store) -> None:
        """It is gone for both ids; deleting what is not there raises UnknownDataSource."""
        production = await store.create_environment("production", Tag.CUSTOMER)
        other = await store.create_environment("other", Tag.CUSTOMER)
        for reference in ("ds_1", "a"):
            made = await store.create_data_source(production, source_id="ds_1", provided_id="a", url=URL)
            with pytest.raises(UnknownDataSource):
                await store.delete_data_source(other, reference)
            assert await store.delete_data_source(production, reference) == made
            assert list(await store.data_sources(production)) == []
            with pytest.raises(UnknownDataSource):
                await store.delete_data_source(production, reference)
