"""The contracts of environments and data sources, and of the audit trail."""
# ruff: noqa: S101 - a test suite, which is in the package because third parties run it too

from __future__ import annotations

import secrets
from dataclasses import replace
from typing import Any

import pytest

from tenantry.errors import (
    AlreadyExists,
    InvalidSource,
    TokenAlreadyRotated,
    UnknownDataSource,
    UnknownEnvironment,
    UnknownGroup,
)
from tenantry.groups import (
    UNNAMED,
    AuditEntry,
    Author,
    Environment,
    GroupChanges,
    GroupDraft,
    IdempotencyKey,
    Scope,
    Tag,
)
from tenantry.ports import LeasedSources, Store
from tenantry.testing import FrozenClock, make_token

NOWHERE = Environment(77, "nowhere", Tag.CUSTOMER)
URL = "postgresql://reader:s3cret@warehouse/sales"
ANN = Author("ann", "req-1")
SECRET = "s3cr3t-value"  # noqa: S105 - what must not be found


class DirectoryContract:
    """Tests of EnvironmentStore and SourceStore."""

    async def test_the_store_is_ready(self, store: Store) -> None:
        """A store that was set up says so."""
        await store.ready()

    async def test_an_environment_comes_back(self, store: Store) -> None:
        """Name, tag and flag come back as they were given; names are unique and compared exactly."""
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

    async def test_a_data_source_is_found_by_either_id(self, store: Store) -> None:
        """Our id and the caller's id both find it, in its own environment only."""
        production = await store.environments.create("production", Tag.CUSTOMER)
        other = await store.environments.create("other", Tag.TESTING)
        made = await store.sources.create(production, source_id="ds_1", provided_id="warehouse", url=URL, trusted=True)
        assert (made.id, made.provided_id, made.url, made.trusted) == ("ds_1", "warehouse", URL, True)
        assert made.environment == production
        for reference in ("ds_1", "warehouse"):
            assert await store.sources.get(production, reference) == made
            assert await store.sources.get(other, reference) is None
        assert await store.sources.get(production, "Warehouse") is None
        twin = await store.sources.create(other, source_id="ds_1", provided_id="warehouse", url=URL)
        assert not twin.trusted
        assert list(await store.sources.list(production)) == [made]

    async def test_a_data_source_keeps_its_session_variables(self, store: Store) -> None:
        """In their order and spelled one way, however it is read; a wrong one is refused and nothing is stored."""
        production = await store.environments.create("production", Tag.CUSTOMER)
        given = {"app.tenant": "{{user_group.id}}", "app.plan": "{{ user_group.properties.plan }}"}
        made = await store.sources.create(
            production, source_id="ds_1", provided_id="a", url="postgresql://u@127.0.0.1:1/d", session=given
        )
        expected = (("app.tenant", "{{ user_group.id }}"), ("app.plan", "{{ user_group.properties.plan }}"))
        assert made.session == expected
        assert await store.sources.get(production, "a") == made
        if isinstance(store, LeasedSources):
            assert (await store.sources.get_at_snapshot(production, "ds_1")).source == made
        assert list(await store.sources.list(production)) == [made]
        for url, session in (("sqlite:////a.db", given), ("postgresql://u@127.0.0.1:1/d", {"role": "x"})):
            with pytest.raises(InvalidSource):
                await store.sources.create(production, source_id="ds_2", provided_id="b", url=url, session=session)
        plain = await store.sources.create(production, source_id="ds_3", provided_id="c", url=URL)
        assert plain.session == ()
        assert (await store.sources.delete(production, "a")).session == expected
        assert list(await store.sources.list(production)) == [plain]

    async def test_both_ids_of_a_data_source_are_unique(self, store: Store) -> None:
        """Neither id can be taken twice in one environment, and what was there stays."""
        production = await store.environments.create("production", Tag.CUSTOMER)
        made = await store.sources.create(production, source_id="ds_1", provided_id="a", url=URL)
        for source_id, provided_id in (("ds_1", "b"), ("ds_2", "a")):
            with pytest.raises(AlreadyExists):
                await store.sources.create(production, source_id=source_id, provided_id=provided_id, url="x://")
        assert list(await store.sources.list(production)) == [made]
        with pytest.raises(UnknownEnvironment):
            await store.sources.create(NOWHERE, source_id="ds_9", provided_id="z", url=URL)

    async def test_the_url_of_a_data_source_replaces_the_one_that_was_read(self, store: Store) -> None:
        """Once: whoever read it before, or reads another environment's, writes nothing. The rest stays as it is."""
        production = await store.environments.create("production", Tag.CUSTOMER)
        other = await store.environments.create("other", Tag.CUSTOMER)
        made = await store.sources.create(production, source_id="ds_1", provided_id="a", url=URL, trusted=True)
        twin = await store.sources.create(other, source_id="ds_1", provided_id="a", url=URL)
        written = await store.sources.set_url(made, "encrypted")
        assert written == replace(made, url="encrypted")
        assert await store.sources.get(production, "a") == written
        assert await store.sources.set_url(made, "late") is None
        assert await store.sources.get(other, "a") == twin
        await store.sources.delete(production, "a")
        assert await store.sources.set_url(replace(made, url="encrypted"), "gone") is None
        assert list(await store.sources.list(production)) == []

    async def test_a_data_source_can_be_deleted_by_either_id(self, store: Store) -> None:
        """It is gone for both ids; deleting what is not there raises UnknownDataSource."""
        production = await store.environments.create("production", Tag.CUSTOMER)
        other = await store.environments.create("other", Tag.CUSTOMER)
        for reference in ("ds_1", "a"):
            made = await store.sources.create(production, source_id="ds_1", provided_id="a", url=URL)
            with pytest.raises(UnknownDataSource):
                await store.sources.delete(other, reference)
            assert await store.sources.delete(production, reference) == made
            assert list(await store.sources.list(production)) == []
            with pytest.raises(UnknownDataSource):
                await store.sources.delete(production, reference)


class AuditContract:
    """Tests of AuditTrail and of the ``author`` of each write; of the environment's own grace."""

    async def test_every_action_leaves_one_entry(self, store: Store, clock: FrozenClock) -> None:
        """Each write that does something appends one entry with its author, time, subject and environment."""
        environment = await store.environments.create("production", Tag.CUSTOMER, author=ANN)
        clock.advance(1)
        await store.environments.set_grace(environment, 30, author=ANN)
        made = await store.groups.get_or_create(
            environment, GroupDraft("acme", "Acme", {"key": SECRET}), make_token(), author=ANN
        )
        await store.groups.update(environment, "acme", GroupChanges(properties={"key": SECRET + "2"}), author=ANN)
        await store.groups.rotate(environment, made.token, key_id="k1", nonce=secrets.token_bytes(16), author=ANN)
        await store.groups.delete(environment, "acme", author=ANN)
        token = await store.api_tokens.create(
            environment, digest=SECRET.encode().ljust(32), label="CI", scopes=[Scope.PROVISION], hint="Ab3d", author=ANN
        )
        await store.api_tokens.revoke(environment, token.id, author=ANN)
        url = f"postgresql://u:{SECRET}@h/d"
        source = await store.sources.create(environment, source_id="ds_1", provided_id="main", url=url, author=ANN)
        await store.sources.set_url(source, f"{url}?again", author=ANN)
        await store.sources.delete(environment, "main", author=ANN)
        entries = await store.audit.list()
        assert [(entry.action, entry.subject) for entry in entries] == [
            ("environment.created", "production"),
            ("environment.grace_set", "production"),
            ("group.created", "acme"),
            ("group.updated", "acme"),
            ("group.rotated", "acme"),
            ("group.deleted", "acme"),
            ("api_token.created", str(token.id)),
            ("api_token.revoked", str(token.id)),
            ("data_source.created", "ds_1"),
            ("data_source.url_written", "ds_1"),
            ("data_source.deleted", "ds_1"),
        ]
        assert {(entry.author, entry.environment) for entry in entries} == {(ANN, "production")}
        assert [entry.at for entry in entries[1:]] == [clock()] * 10
        numbers = [entry.number for entry in entries]
        assert numbers == sorted(set(numbers))
        assert SECRET not in repr(entries)
        assert all(type(value) is str for entry in entries for value in entry.details.values())

    async def test_what_is_not_done_leaves_no_entry(self, store: Store) -> None:
        """A refused, replayed or empty write appends nothing."""
        environment = await store.environments.create("production", Tag.CUSTOMER)
        once = IdempotencyKey("key", (bytes(32),))
        made = await store.groups.get_or_create(environment, GroupDraft("acme", "Acme"), make_token(), once=once)
        rotation: dict[str, Any] = {"key_id": "k1", "nonce": bytes(16)}
        await store.groups.rotate(environment, made.token, **rotation, once=IdempotencyKey("key-2", (bytes(32),)))
        token = await store.api_tokens.create(environment, digest=b"d" * 32, label="x", scopes=[], hint="abcd")
        await store.api_tokens.revoke(environment, token.id)
        before = list(await store.audit.list())
        with pytest.raises(AlreadyExists):
            await store.environments.create("production", Tag.CUSTOMER)
        await store.groups.get_or_create(environment, GroupDraft("acme", "Other"), make_token())
        await store.groups.rotate(environment, made.token, **rotation, once=IdempotencyKey("key-2", (bytes(32),)))
        with pytest.raises(TokenAlreadyRotated):
            await store.groups.rotate(environment, made.token, **rotation)
        await store.groups.update(environment, "acme", GroupChanges(name="Acme"))
        with pytest.raises(UnknownGroup):
            await store.groups.delete(environment, "nobody")
        await store.api_tokens.revoke(environment, token.id)
        await store.environments.set_grace(environment, 0)
        assert list(await store.audit.list()) == before

    async def test_a_token_in_the_wrong_field_is_masked(self, store: Store) -> None:
        """A token may be sent as an id or a request id: what is stored for good has none."""
        environment = await store.environments.create("production", Tag.CUSTOMER)
        whole = f"ugtc_k1_{'A' * 39}.{'A' * 43}123456", f"ugkc_{'c' * 49}"
        for number, token in enumerate(whole):
            author = Author(f"api token 1 ({token})", f"x{token}"[:64])
            await store.groups.get_or_create(
                environment, GroupDraft(f"{token}-{number}", "x"), make_token(), author=author
            )
        await store.api_tokens.create(environment, digest=b"d" * 32, label=whole[1], scopes=[], hint="abcd")
        text = repr(list(await store.audit.list()))
        assert all(token not in text for token in whole)
        assert "ugkc_…cccc" in text

    async def test_the_trail_is_read_in_pages(self, store: Store) -> None:
        """``after`` and ``limit`` give each entry once, oldest first; ``environment`` those of one."""
        for name in ("a", "b"):
            environment = await store.environments.create(name, Tag.CUSTOMER)
            for number in range(3):
                await store.groups.get_or_create(
                    environment, GroupDraft(str(number), "x"), make_token(), author=Author(name)
                )
        everything = list(await store.audit.list())
        assert len(everything) == 8
        seen: list[AuditEntry] = []
        after = 0
        while page := await store.audit.list(after=after, limit=3):
            assert len(page) <= 3
            seen += page
            after = page[-1].number
        assert seen == everything
        assert [entry.environment for entry in await store.audit.list(environment="b")] == ["b"] * 4
        assert len(await store.audit.list(environment="b", limit=2)) == 2
        assert list(await store.audit.list(environment="nowhere")) == []

    async def test_the_head_is_that_of_the_entry_that_was_sealed_last(self, store: Store) -> None:
        """None where the store has no keys: then no entry has a seal. ``tenantry audit verify`` relies on it."""
        assert await store.audit.head() is None
        environment = await store.environments.create("production", Tag.CUSTOMER)
        await store.environments.set_grace(environment, 5)
        seals = [(entry.number, entry.seal) for entry in await store.audit.list()]
        head, (number, seal) = await store.audit.head(), seals[-1]
        if head is None:
            assert [each for _, each in seals] == [None, None]
        else:
            assert seal is not None
            assert (head.number, head.mac) == (number, seal.mac)

    async def test_a_write_without_an_author_says_so(self, store: Store) -> None:
        """The author of a program that gives none is UNNAMED, without a request id."""
        await store.environments.create("production", Tag.CUSTOMER)
        (entry,) = await store.audit.list()
        assert entry.author == UNNAMED

    async def test_an_environment_has_a_grace_of_its_own(self, store: Store, clock: FrozenClock) -> None:
        """A rotation that names no grace has that of its environment as it is now; one that names 0 has none."""
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
        assert await store.find(first.token) is not None  # a grace that runs is not touched
        third = await store.groups.rotate(environment, second.token, key_id="k1", nonce=secrets.token_bytes(16))
        clock.advance(4)
        assert await store.find(second.token) is not None
        clock.advance(1)
        assert await store.find(second.token) is None
        await store.groups.rotate(environment, third.token, key_id="k1", nonce=secrets.token_bytes(16), grace_seconds=0)
        assert await store.find(third.token) is None
        with pytest.raises(UnknownEnvironment):
            await store.environments.set_grace(Environment(77, "nowhere", Tag.CUSTOMER), 5)
