"""The contract of the audit trail: one entry for each thing that was done, and none for what was not."""
# ruff: noqa: S101 - a test suite, which lives in the package because third parties run it too

from __future__ import annotations

import secrets
from typing import Any

import pytest

from tenantry.errors import AlreadyExists, TokenAlreadyRotated, UnknownEnvironment, UnknownGroup
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
from tenantry.ports import Store
from tenantry.testing.clock import FrozenClock
from tenantry.testing.sample import make_token

ANN = Author("ann", "req-1")
SECRET = "s3cr3t-value"  # noqa: S105 - what must not be found


class AuditContract:
    """Tests of AuditTrail and of the ``author`` of each write; of the environment's own grace."""

    async def test_every_action_leaves_one_entry(self, store: Store, clock: FrozenClock) -> None:
        """Each write that does something appends one entry with its author, time, subject and environment."""
        place = await store.create_environment("production", Tag.CUSTOMER, author=ANN)
        clock.advance(1)
        await store.set_grace(place, 30, author=ANN)
        made = await store.get_or_create(place, GroupDraft("acme", "Acme", {"key": SECRET}), make_token(), author=ANN)
        await store.update(place, "acme", GroupChanges(properties={"key": SECRET + "2"}), author=ANN)
        await store.rotate(place, made.token, key_id="k1", nonce=secrets.token_bytes(16), author=ANN)
        await store.delete(place, "acme", author=ANN)
        token = await store.create_api_token(
            place, digest=SECRET.encode().ljust(32), label="CI", scopes=[Scope.PROVISION], hint="Ab3d", author=ANN
        )
        await store.revoke_api_token(place, token.id, author=ANN)
        url = f"postgresql://u:{SECRET}@h/d"
        await store.create_data_source(place, source_id="ds_1", provided_id="main", url=url, author=ANN)
        await store.delete_data_source(place, "main", author=ANN)
        entries = await store.audit()
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
            ("data_source.deleted", "ds_1"),
        ]
        assert {(entry.author, entry.environment) for entry in entries} == {(ANN, "production")}
        assert [entry.at for entry in entries[1:]] == [clock()] * 9
        numbers = [entry.number for entry in entries]
        assert numbers == sorted(set(numbers))
        assert SECRET not in repr(entries)
        assert all(type(value) is str for entry in entries for value in entry.details.values())

    async def test_what_is_not_done_leaves_no_entry(self, store: Store) -> None:
        """A refused, replayed or empty write appends nothing."""
        place = await store.create_environment("production", Tag.CUSTOMER)
        once = IdempotencyKey("key", (bytes(32),))
        made = await store.get_or_create(place, GroupDraft("acme", "Acme"), make_token(), once=once)
        rotation: dict[str, Any] = {"key_id": "k1", "nonce": bytes(16)}
        await store.rotate(place, made.token, **rotation, once=IdempotencyKey("key-2", (bytes(32),)))
        token = await store.create_api_token(place, digest=b"d" * 32, label="x", scopes=[], hint="abcd")
        await store.revoke_api_token(place, token.id)
        before = list(await store.audit())
        with pytest.raises(AlreadyExists):
            await store.create_environment("production", Tag.CUSTOMER)
        await store.get_or_create(place, GroupDraft("acme", "Other"), make_token())
        await store.rotate(place, made.token, **rotation, once=IdempotencyKey("key-2", (bytes(32),)))
        with pytest.raises(TokenAlreadyRotated):
            await store.rotate(place, made.token, **rotation)
        await store.update(place, "acme", GroupChanges(name="Acme"))
        with pytest.raises(UnknownGroup):
            await store.delete(place, "nobody")
        await store.revoke_api_token(place, token.id)
        await store.set_grace(place, 0)
        assert list(await store.audit()) == before

    async def test_a_token_in_the_wrong_place_is_masked(self, store: Store) -> None:
        """A caller may take a token for an id, and a request id is whatever he sent: what is kept for good has none."""
        place = await store.create_environment("production", Tag.CUSTOMER)
        whole = f"ugtc_k1_{'A' * 39}.{'A' * 43}123456", f"ugkc_{'c' * 49}"
        for number, token in enumerate(whole):
            author = Author(f"api token 1 ({token})", f"x{token}"[:64])
            await store.get_or_create(place, GroupDraft(f"{token}-{number}", "x"), make_token(), author=author)
        await store.create_api_token(place, digest=b"d" * 32, label=whole[1], scopes=[], hint="abcd")
        told = repr(list(await store.audit()))
        assert all(token not in told for token in whole)
        assert "ugkc_…cccc" in told

    async def test_the_trail_is_read_in_pages(self, store: Store) -> None:
        """``after`` and ``limit`` give each entry once, oldest first; ``environment`` those of one."""
        for name in ("a", "b"):
            place = await store.create_environment(name, Tag.CUSTOMER)
            for number in range(3):
                await store.get_or_create(place, GroupDraft(str(number), "x"), make_token(), author=Author(name))
        everything = list(await store.audit())
        assert len(everything) == 8
        seen: list[AuditEntry] = []
        after = 0
        while page := await store.audit(after=after, limit=3):
            assert len(page) <= 3
            seen += page
            after = page[-1].number
        assert seen == everything
        assert [entry.environment for entry in await store.audit(environment="b")] == ["b"] * 4
        assert len(await store.audit(environment="b", limit=2)) == 2
        assert list(await store.audit(environment="nowhere")) == []

    async def test_a_write_without_an_author_says_so(self, store: Store) -> None:
        """The author of a program that gives none is UNNAMED, without a request id."""
        await store.create_environment("production", Tag.CUSTOMER)
        (entry,) = await store.audit()
        assert entry.author == UNNAMED

    async def test_an_environment_has_a_grace_of_its_own(self, store: Store, clock: FrozenClock) -> None:
        """A rotation that names no grace has that of its environment as it is kept now; one that names 0 has none."""
        place = await store.create_environment("production", Tag.CUSTOMER, grace_seconds=60)
        assert place.grace_seconds == 60
        assert await store.environment("production") == place
        first = await store.get_or_create(place, GroupDraft("acme", "Acme"), make_token())
        second = await store.rotate(place, first.token, key_id="k1", nonce=secrets.token_bytes(16))
        assert await store.find(first.token) == second.group
        changed = await store.set_grace(place, 5)
        assert (changed.id, changed.grace_seconds) == (place.id, 5)
        assert list(await store.environments()) == [changed]
        clock.advance(59)
        assert await store.find(first.token) is not None  # a grace that runs is not touched
        third = await store.rotate(place, second.token, key_id="k1", nonce=secrets.token_bytes(16))
        clock.advance(4)
        assert await store.find(second.token) is not None
        clock.advance(1)
        assert await store.find(second.token) is None
        await store.rotate(place, third.token, key_id="k1", nonce=secrets.token_bytes(16), grace_seconds=0)
        assert await store.find(third.token) is None
        with pytest.raises(UnknownEnvironment):
            await store.set_grace(Environment(77, "nowhere", Tag.CUSTOMER), 5)
