# ruff: noqa: S101 - tests, which third parties run too

from __future__ import annotations

import secrets
from typing import Any

import pytest

from tenantry.errors import (
    AlreadyExists,
    TokenAlreadyRotated,
    UnknownGroup,
)
from tenantry.groups import (
    UNNAMED,
    AuditEntry,
    AuditNote,
    Author,
    Environment,
    GroupChanges,
    GroupDraft,
    IdempotencyKey,
    Scope,
    SourceDraft,
    SourceUpdate,
    Tag,
)
from tenantry.ports import Store
from tenantry.testing import FrozenClock, make_token

NOWHERE = Environment(77, "nowhere", Tag.CUSTOMER)
URL = "postgresql://reader:s3cret@warehouse/sales"
ANN = Author("ann", "req-1")
SECRET = "s3cr3t-value"  # noqa: S105 - what must not be found


class AuditContract:
    async def test_every_action_leaves_one_entry(self, store: Store, clock: FrozenClock) -> None:
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
        source = await store.sources.create(environment, "ds_1", SourceDraft("main", url), author=ANN)
        await store.sources.update(source, SourceUpdate(url=f"{url}?again"), author=ANN)
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
            ("data_source.updated", "ds_1"),
            ("data_source.deleted", "ds_1"),
        ]
        assert {(entry.author, entry.environment) for entry in entries} == {(ANN, "production")}
        assert [entry.at for entry in entries[1:]] == [clock()] * 10
        numbers = [entry.number for entry in entries]
        assert numbers == sorted(set(numbers))
        assert SECRET not in repr(entries)
        assert all(type(value) is str for entry in entries for value in entry.details.values())

    async def test_what_is_not_done_leaves_no_entry(self, store: Store) -> None:
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

    async def test_an_action_outside_the_store_is_recorded(self, store: Store, clock: FrozenClock) -> None:
        await store.environments.create("production", Tag.CUSTOMER)
        clock.advance(1)
        token = f"ugkc_{'c' * 49}"
        await store.audit.record(AuditNote(ANN, "query.run", "production", "acme", {"query": token}))
        await store.audit.record(AuditNote(ANN, "editor.opened", "", "ann"))
        _, run, opened = await store.audit.list()
        assert (run.author, run.action, run.environment, run.subject) == (ANN, "query.run", "production", "acme")
        assert (dict(run.details), run.at) == ({"query": "ugkc_…cccc"}, clock())
        assert (opened.action, opened.environment, dict(opened.details)) == ("editor.opened", "", {})
        assert opened.number > run.number
        assert [entry.action for entry in await store.audit.list(environment="production")][1:] == ["query.run"]

    async def test_the_trail_is_read_in_pages(self, store: Store) -> None:
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
        """The head ends the chain of sealed entries. A store without an audit key has no head."""
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
        await store.environments.create("production", Tag.CUSTOMER)
        (entry,) = await store.audit.list()
        assert entry.author == UNNAMED
