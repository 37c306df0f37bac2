# ruff: noqa: S101 - tests, which third parties run too

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from tenantry.errors import UnknownEnvironment
from tenantry.groups import (
    Author,
    Environment,
    GroupChanges,
    GroupCreation,
    GroupDraft,
    GroupRotation,
    GroupUpdate,
    GroupWrite,
    Issued,
    Tag,
    thaw,
    write_moment,
)
from tenantry.ports import Store
from tenantry.testing import make_token

EXACT: dict[str, Any] = {"z": 1.0, "a": {"b": [None, "é👩\u200d👧", 2**53 - 1]}, "quote": "'\"\\"}


class GroupBatchContract:
    async def test_many_groups_are_read_by_their_ids(self, store: Store) -> None:
        production, made = await _made(store, "acme", "Acme", "é '\"\\,{}")
        other = await store.environments.create("other", Tag.CUSTOMER)
        await store.groups.get_or_create(other, GroupDraft("beta", "Beta"), make_token())
        found = await store.groups.get_many(production, ["acme", "beta", "Acme", "nobody", "é '\"\\,{}"])
        assert dict(found) == {each.group.provided_id: replace(each, created=False) for each in made}
        assert dict(await store.groups.get_many(production, [])) == {}

    async def test_many_groups_are_created_together(self, store: Store) -> None:
        production, (acme,) = await _made(store, "acme")
        drafts = [GroupDraft(f"g{number}", f"G{number}", {**EXACT, "n": number}, {"m": "s"}) for number in range(40)]
        drafts += [GroupDraft("empty", "Empty", {}, {}), GroupDraft("none", "None")]
        creations = [GroupCreation(draft, make_token()) for draft in drafts]
        done = await store.groups.write_many(
            production, [GroupCreation(GroupDraft("acme", "Other"), make_token()), *creations]
        )
        assert done[0] is None
        assert await store.groups.get(production, "acme") == replace(acme, created=False)
        for creation, issued in zip(creations, done[1:], strict=True):
            assert issued is not None
            assert issued.created
            assert issued.token == creation.token
            stored = await store.groups.get(production, creation.provided_id)
            assert stored == replace(issued, created=False)
            assert stored is not None
            assert await store.find(creation.token) == stored.group
            plain = [str(thaw(stored.group.properties)), thaw(stored.group.mapping)]
            assert plain == [str(creation.draft.properties), creation.draft.mapping]
        assert len({each.group.team_id for each in done if each is not None}) == len(creations)

    async def test_many_groups_are_updated_together(self, store: Store) -> None:
        """An update with equal values adds no revision, no change and no audit entry."""
        production, made = await _made(store, "a", "b", "c")
        a, b, c = (each.group for each in made)
        before, entries = await store.changes(None), await store.audit.list()
        writes = [
            GroupUpdate(a, GroupChanges(properties=EXACT)),
            GroupUpdate(b, GroupChanges(name=b.name, properties=thaw(b.properties))),
            GroupUpdate(c, GroupChanges(name="New", mapping=None)),
        ]
        done = await store.groups.write_many(production, writes, author=Author("bulk", "r1"))
        groups = await _groups(store, production, "a", "b", "c")
        assert [each.group for each in done if each is not None] == groups
        assert [(each.name, each.revision) for each in groups] == [(a.name, 2), (b.name, 1), ("New", 2)]
        assert [str(thaw(each.properties)) for each in groups] == [str(EXACT), *2 * [str(thaw(b.properties))]]
        after = await store.changes(before.generation)
        assert [each.handle for each in after.changes] == [a.handle, c.handle]
        assert [each.generation for each in after.changes] == [before.generation + 1, before.generation + 2]
        noted = (await store.audit.list())[len(entries) :]
        assert [(each.action, each.subject, each.details) for each in noted] == [
            ("group.updated", "a", {"fields": "properties"}),
            ("group.updated", "c", {"fields": "name, mapping"}),
        ]
        assert {each.author for each in noted} == {Author("bulk", "r1")}

    async def test_one_of_many_that_is_not_as_expected_is_left_alone(self, store: Store) -> None:
        production, made = await _made(store, "updated", "rotated", "deleted", "again", "same")
        rotated = made[1]
        await store.groups.update(production, "updated", GroupChanges(name="x"))
        await store.groups.rotate(production, rotated.token, key_id="k1", nonce=bytes(16))
        for provided_id in ("deleted", "again"):
            await store.groups.delete(production, provided_id)
        await store.groups.get_or_create(production, GroupDraft("again", "Again"), make_token())
        expected = await _groups(store, production, "updated", "rotated", "again")
        writes: list[GroupWrite] = [GroupUpdate(each.group, GroupChanges(name="Late")) for each in made]
        done = await store.groups.write_many(
            production, [*writes, GroupCreation(GroupDraft("new", "New"), make_token())]
        )
        assert [each is not None for each in done] == [False, False, False, False, True, True]
        assert await _groups(store, production, "updated", "rotated", "again") == expected
        assert [each.name for each in await _groups(store, production, "same", "new")] == ["Late", "New"]
        assert await store.groups.get(production, "deleted") is None

    async def test_many_groups_are_rotated_together(self, store: Store) -> None:
        production, made = await _made(store, "a", "b", "rotated", "deleted", "suspended")
        await store.groups.rotate(production, made[2].token, key_id="k1", nonce=bytes(16))
        await store.groups.delete(production, "deleted")
        await store.groups.update(production, "suspended", GroupChanges(suspended=True))
        entries, before = await store.audit.list(), await store.changes(None)
        graces = (None, 60, None, None, None)
        rotations = [
            GroupRotation(issued, "k2", secrets.token_bytes(16), grace)
            for issued, grace in zip(made, graces, strict=True)
        ]
        done = await store.groups.write_many(production, rotations, author=Author("ann"))
        assert [each is not None for each in done] == [True, True, False, False, False]
        for rotation, issued, old in zip(rotations[:2], done[:2], made[:2], strict=True):
            assert issued is not None
            expected = replace(old.token, key_id="k2", nonce=rotation.nonce, version=2)
            assert issued.token == expected
            assert await store.find(expected) == issued.group
            assert (await store.groups.get(production, rotation.provided_id)) == issued
        assert [await store.find(each.token) is not None for each in made] == [False, True, False, False, True]
        assert [each.handle for each in (await store.changes(before.generation)).changes] == [
            each.group.handle for each in made[:2]
        ]
        noted = (await store.audit.list())[len(entries) :]
        assert [(each.action, each.subject, each.author.name) for each in noted] == [
            ("group.rotated", "a", "ann"),
            ("group.rotated", "b", "ann"),
        ]

    async def test_groups_are_listed_by_the_key_of_their_token(self, store: Store) -> None:
        production, made = await _made(store, "a", "b", "ab")
        await store.groups.rotate(production, made[0].token, key_id="k2", nonce=bytes(16), grace_seconds=60)
        for key_id, match, expected in (
            ("k1", "", ["b", "ab"]),
            ("k2", "", ["a"]),
            ("k1", "a", ["ab"]),
            ("k3", "", []),
        ):
            found = await store.groups.list(production, match=match, signed_by=key_id)
            assert [each.provided_id for each in found] == expected

    async def test_a_handle_that_is_taken_is_given_to_no_second_group(self, store: Store) -> None:
        production, (acme,) = await _made(store, "acme")
        taken, free = GroupCreation(GroupDraft("x", "X"), acme.token), GroupCreation(GroupDraft("y", "Y"), make_token())
        done = await store.groups.write_many(production, [taken, free])
        assert [each is not None for each in done] == [False, True]
        assert await store.groups.get(production, "x") is None

    async def test_the_trail_of_many_writes_is_in_their_order(self, store: Store) -> None:
        production, (acme,) = await _made(store, "acme")
        entries = await store.audit.list()
        ends = datetime(2031, 1, 1, tzinfo=UTC)
        drafts = GroupDraft("z", "z", expires_at=ends), GroupDraft("a", "a")
        writes: list[GroupWrite] = [GroupCreation(draft, make_token()) for draft in drafts]
        writes.insert(1, GroupUpdate(acme.group, GroupChanges(name="New")))
        await store.groups.write_many(production, writes)
        noted = (await store.audit.list())[len(entries) :]
        assert [(each.action, each.subject) for each in noted] == [
            ("group.created", "z"),
            ("group.updated", "acme"),
            ("group.created", "a"),
        ]
        assert [each.details.get("expires_at") for each in noted] == [write_moment(ends), None, None]

    async def test_many_writes_to_an_unknown_environment(self, store: Store) -> None:
        with pytest.raises(UnknownEnvironment):
            await store.groups.write_many(
                Environment(77, "x", Tag.CUSTOMER), [GroupCreation(GroupDraft("acme", "Acme"), make_token())]
            )

    async def test_racing_writers_of_many_make_each_group_once(self, store: Store) -> None:
        production = await store.environments.create("production", Tag.CUSTOMER)
        names = [f"g{number}" for number in range(30)]

        async def create(turned: int) -> Sequence[Issued | None]:
            order = names[turned:] + names[:turned]
            order = order if turned % 2 else order[::-1]
            return await store.groups.write_many(
                production, [GroupCreation(GroupDraft(name, name), make_token()) for name in order]
            )

        done = await asyncio.gather(*(create(turned) for turned in range(8)))
        created = [each.group.provided_id for answer in done for each in answer if each is not None]
        assert sorted(created) == sorted(names)


async def _made(store: Store, *names: str) -> tuple[Environment, list[Issued]]:
    production = await store.environments.create("production", Tag.CUSTOMER)
    drafts = [GroupDraft(name, f"The {name}", {"p": 1}, {"main": "eu"}) for name in names]
    return production, [await store.groups.get_or_create(production, draft, make_token()) for draft in drafts]


async def _groups(store: Store, environment: Environment, *names: str) -> list[Any]:
    found = await store.groups.get_many(environment, names)
    return [found[name].group for name in names]
