# ruff: noqa: S101 - tests, which third parties run too

from __future__ import annotations

import secrets
from datetime import timedelta

import pytest

from tenantry.errors import (
    AlreadyExists,
    UnknownEnvironment,
)
from tenantry.groups import (
    Author,
    Environment,
    GroupDraft,
    Tag,
)
from tenantry.ports import Store, TokenCount
from tenantry.testing import FrozenClock, make_token

NOWHERE = Environment(77, "nowhere", Tag.CUSTOMER)


class EnvironmentContract:
    async def test_an_environment_comes_back(self, store: Store) -> None:
        made = [
            await store.environments.create("production", Tag.CUSTOMER),
            await store.environments.create("Production", Tag.TESTING, external_data_sources=True),
            await store.environments.create("prüfung 😀", Tag.TESTING),
        ]
        assert [(each.tag, each.external_data_sources) for each in made] == [
            (Tag.CUSTOMER, False),
            (Tag.TESTING, True),
            (Tag.TESTING, False),
        ]
        assert list(await store.environments.list()) == made
        for each in made:
            assert await store.environments.get(each.name) == each
        assert await store.environments.get("nowhere") is None
        with pytest.raises(AlreadyExists):
            await store.environments.create("production", Tag.TESTING)
        assert list(await store.environments.list()) == made

    async def test_an_environment_has_a_grace_of_its_own(self, store: Store, clock: FrozenClock) -> None:
        environment = await store.environments.create("production", Tag.CUSTOMER, grace_seconds=60)
        assert environment.grace_seconds == 60
        assert await store.environments.get("production") == environment
        first = await store.groups.get_or_create(environment, GroupDraft("acme", "Acme"), make_token())
        second = await store.groups.rotate(environment, first.token, key_id="k1", nonce=secrets.token_bytes(16))
        assert await store.find(first.token) == second.group
        changed = await store.environments.set_grace(environment, 5)
        assert (changed.id, changed.grace_seconds) == (environment.id, 5)
        assert list(await store.environments.list()) == [changed]
        clock.advance(59)
        assert await store.find(first.token) is not None  # ``set_grace`` does not change a grace that has begun
        third = await store.groups.rotate(environment, second.token, key_id="k1", nonce=secrets.token_bytes(16))
        clock.advance(4)
        assert await store.find(second.token) is not None
        clock.advance(1)
        assert await store.find(second.token) is None
        await store.groups.rotate(environment, third.token, key_id="k1", nonce=secrets.token_bytes(16), grace_seconds=0)
        assert await store.find(third.token) is None
        with pytest.raises(UnknownEnvironment):
            await store.environments.set_grace(Environment(77, "nowhere", Tag.CUSTOMER), 5)

    async def test_nobody_embeds_until_hosts_are_set(self, store: Store) -> None:
        production = await store.environments.create("production", Tag.CUSTOMER)
        other = await store.environments.create("other", Tag.TESTING)
        assert dict(await store.environments.embedding_hosts()) == {}
        hosts = ("https://app.example.com", "https://*.example.org:8443", "'self'")
        assert await store.environments.set_embedding_hosts(production, hosts, author=Author("ann")) == hosts
        await store.environments.set_embedding_hosts(other, ["http://localhost:3000"])
        assert dict(await store.environments.embedding_hosts()) == {
            "production": hosts,
            "other": ("http://localhost:3000",),
        }
        await store.environments.set_embedding_hosts(production, [])
        assert dict(await store.environments.embedding_hosts()) == {"other": ("http://localhost:3000",)}
        entry = next(each for each in await store.audit.list() if each.action == "environment.embedding_set")
        assert (entry.author.name, entry.subject, entry.details) == ("ann", "production", {"hosts": " ".join(hosts)})
        with pytest.raises(UnknownEnvironment):
            await store.environments.set_embedding_hosts(Environment(77, "nowhere", Tag.CUSTOMER), hosts)

    async def test_groups_are_counted_by_the_keys_of_their_valid_tokens(self, store: Store, clock: FrozenClock) -> None:
        """Tokens in their grace period are counted separately."""
        # Their groups already have new tokens.
        assert dict(await store.environments.count_tokens()) == {}
        production = await store.environments.create("production", Tag.CUSTOMER)
        other = await store.environments.create("other", Tag.CUSTOMER)
        made = [
            await store.groups.get_or_create(environment, GroupDraft(name, name), make_token(key_id="k1"))
            for environment, name in ((production, "a"), (production, "b"), (other, "a"))
        ]
        assert dict(await store.environments.count_tokens()) == {"k1": TokenCount(3)}
        for issued, key_id, grace in zip(made, ("k2", "k2", "k1"), (60, 0, 60), strict=True):
            await store.groups.rotate(
                issued.group.environment, issued.token, key_id=key_id, nonce=bytes(16), grace_seconds=grace
            )
        until = clock() + timedelta(seconds=60)
        assert dict(await store.environments.count_tokens()) == {"k1": TokenCount(1, 1, until), "k2": TokenCount(2)}
        clock.advance(60)
        assert dict(await store.environments.count_tokens()) == {"k1": TokenCount(1), "k2": TokenCount(2)}
