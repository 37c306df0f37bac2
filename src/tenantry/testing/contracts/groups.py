# ruff: noqa: S101 - tests, which third parties run too

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from typing import Any

import pytest

from tenantry.errors import AlreadyExists, GroupChanged, UnknownEnvironment, UnknownGroup
from tenantry.groups import Environment, GroupChanges, GroupDraft, Issued, Tag, thaw
from tenantry.ports import Store
from tenantry.testing import make_token
from tenantry.testing.contracts.access import EndDateContract, SuspensionContract
from tenantry.testing.contracts.group_batches import GroupBatchContract
from tenantry.testing.contracts.rotation import IdempotencyContract, RotationContract

EXACT_NAMES = [
    "a",
    "A",
    "a ",
    " a",
    "\u00e9",  # é as one character
    "e\u0301",  # é as two
    "ß",
    "SS",
    "\u0131",  # i without its dot
    "\u0130",  # I with one
    "日本語",
    "👩\u200d👩\u200d👧",
    "👩",
    "%",
    "_",
    "'; drop table user_groups; --",
    "\\",
    "\n",
    "x" * 255,
    "😀" * 255,
]
NAMED = {
    "acme": "Widgets",
    "acme-eu": "Two",
    "Acme": "Three",
    "beta": "The ACME of beta",
    "straße": "\u0130stanbul STRASSE",
    "\U0010ffff\U0010ffff": "x",
    "100%": "a_b",
    "long" * 63: "%",
}
MATCHES: list[tuple[str, set[str]]] = [
    ("", set(NAMED)),
    ("acme", {"acme", "acme-eu", "beta"}),
    ("Acme", {"Acme", "beta"}),
    ("acme-", {"acme-eu"}),
    ("cme", {"beta"}),
    ("widgets", {"acme"}),
    ("stra\u00df", {"stra\u00dfe"}),
    ("strasse", {"stra\u00dfe"}),
    ("istanbul", set()),
    ("\u0130STANBUL", {"stra\u00dfe"}),
    ("\U0010ffff", {"\U0010ffff\U0010ffff"}),
    ("%", {"long" * 63}),
    ("_", {"100%"}),
    ("long" * 63, {"long" * 63}),
    ("nobody", set()),
]
EXACT_VALUES: list[dict[str, Any]] = [
    {"zero": 0, "one": 1, "one_point": 1.0, "minus_zero": -0.0, "yes": True, "no": False, "null": None},
    {"largest": 2**53 - 1, "smallest": -(2**53 - 1), "tenth": 0.1, "huge": 1.7976931348623157e308, "tiny": 5e-324},
    {"z": 1, "a": 2, "m": {"z": 1, "a": 2}},
    {"😀": "👩\u200d👩\u200d👧", "e\u0301": "\u00e9", "quote": "'\"\\", "escape": "\x01\x1f\x7f\u2028", "": "no name"},
    {f"{number:03}" + "k" * 125: number for number in range(256)},
    {"long": "x" * 32_000, "list": [[], {}, [1, [2, [3, [4, [5]]]]]]},
    {"items": 1, "keys": 2, "get": 3, "__class__": 4, "user_group": 5, "params": 6},
]


class GroupContract(EndDateContract, SuspensionContract, GroupBatchContract, RotationContract, IdempotencyContract):
    async def test_a_new_group_is_created_once(self, store: Store) -> None:
        production = await store.environments.create("production", Tag.CUSTOMER)
        token = make_token()
        first = await store.groups.get_or_create(
            production, GroupDraft("acme", "Acme", {"a": 1}, {"main": "eu"}), token
        )
        second = await store.groups.get_or_create(production, GroupDraft("acme", "Other", {"a": 2}), make_token())
        assert first.created
        assert first.token == token
        assert (first.group.name, first.group.revision, first.group.token_version) == ("Acme", 1, 1)
        assert first.group.handle == token.handle
        assert first.group.environment == production
        assert not second.created
        assert (second.group, second.token) == (first.group, first.token)

    async def test_racing_creators_get_one_group_and_one_token(self, store: Store) -> None:
        production = await store.environments.create("production", Tag.CUSTOMER)
        draft = GroupDraft("acme", "Acme")
        issued = await asyncio.gather(*(store.groups.get_or_create(production, draft, make_token()) for _ in range(32)))
        assert sum(each.created for each in issued) == 1
        assert len({(each.group.team_id, each.token.handle, each.token.nonce) for each in issued}) == 1

    async def test_a_handle_is_unique(self, store: Store) -> None:
        issued = await _issued(store)
        for environment in (issued.group.environment, await store.environments.create("b", Tag.TESTING)):
            with pytest.raises(AlreadyExists):
                await store.groups.get_or_create(environment, GroupDraft("other", "Other"), issued.token)
        assert await store.groups.get(issued.group.environment, "other") is None

    async def test_a_group_is_found_by_its_handle(self, store: Store) -> None:
        issued = await _issued(store)
        environment, handle = issued.group.environment, issued.token.handle
        assert await store.groups.get(handle=handle) == replace(issued, created=False)
        rotated = await store.groups.rotate(environment, issued.token, key_id="k1", nonce=bytes(16))
        assert await store.groups.get(handle=handle) == rotated == await store.groups.get(environment, "acme")
        assert await store.groups.get(handle=make_token().handle) is None
        await store.groups.delete(environment, "acme")
        assert await store.groups.get(handle=handle) is None

    async def test_an_id_belongs_to_its_environment(self, store: Store) -> None:
        environments = [
            await store.environments.create(name, tag)
            for name, tag in [("a", Tag.CUSTOMER), ("b", Tag.CUSTOMER), ("c", Tag.TESTING), ("d", Tag.TESTING)]
        ]
        issued = [
            await store.groups.get_or_create(each, GroupDraft("acme", each.name), make_token(tag=each.tag))
            for each in environments
        ]
        assert len({each.group.team_id for each in issued}) == 4
        for environment, own in zip(environments, issued, strict=True):
            assert (await store.groups.get(environment, "acme")) == replace(own, created=False)
            assert list(await store.groups.list(environment)) == [own.group]
            found = await store.find(own.token)
            assert found is not None
            assert found.environment == environment
        await store.groups.update(environments[0], "acme", GroupChanges(name="changed"))
        await store.groups.delete(environments[2], "acme")
        names = [got.group.name if (got := await store.groups.get(each, "acme")) else None for each in environments]
        assert names == ["changed", "b", None, "d"]

    async def test_an_unknown_environment_takes_no_group(self, store: Store) -> None:
        with pytest.raises(UnknownEnvironment):
            await store.groups.get_or_create(
                Environment(77, "x", Tag.CUSTOMER), GroupDraft("acme", "Acme"), make_token()
            )

    async def test_similar_ids_are_distinct(self, store: Store) -> None:
        production = await store.environments.create("production", Tag.CUSTOMER)
        for name in EXACT_NAMES:
            issued = await store.groups.get_or_create(production, GroupDraft(name, name), make_token())
            assert issued.created, name
        for name in EXACT_NAMES:
            got = await store.groups.get(production, name)
            assert got is not None
            assert (got.group.provided_id, got.group.name) == (name, name)

    @pytest.mark.parametrize("values", EXACT_VALUES)
    async def test_properties_come_back_exactly(self, store: Store, values: dict[str, Any]) -> None:
        production = await store.environments.create("production", Tag.CUSTOMER)
        created = await store.groups.get_or_create(production, GroupDraft("a", "A", values, {"s": "d"}), make_token())
        await store.groups.get_or_create(production, GroupDraft("b", "B"), make_token())
        await store.groups.update(production, "b", GroupChanges(properties=values))
        found = [await store.groups.get(production, "a"), await store.groups.get(production, "b"), created]
        for each in found:
            assert each is not None
            assert json.dumps(thaw(each.group.properties)) == json.dumps(values)

    async def test_none_and_empty_are_different(self, store: Store) -> None:
        production = await store.environments.create("production", Tag.CUSTOMER)
        for name, value in (("none", None), ("empty", dict[str, Any]())):
            await store.groups.get_or_create(production, GroupDraft(name, name, value, value), make_token())
            got = await store.groups.get(production, name)
            assert got is not None
            assert _json(got) == [value, value]
        await store.groups.update(production, "empty", GroupChanges(properties=None, mapping=None))
        changed = await store.groups.update(production, "none", GroupChanges(properties={}, mapping={}))
        assert _json(changed) == [{}, {}]
        emptied = await store.groups.get(production, "empty")
        assert emptied is not None
        assert _json(emptied) == [None, None]

    async def test_an_update_keeps_what_it_does_not_name(self, store: Store) -> None:
        issued = await _issued(store, properties={"a": 1, "b": 2}, mapping={"main": "eu"})
        environment = issued.group.environment
        one = await store.groups.update(environment, "acme", GroupChanges(name="New"))
        two = await store.groups.update(environment, "acme", GroupChanges(properties={"c": 3}))
        same = await store.groups.update(environment, "acme", GroupChanges())
        assert (one.group.name, one.group.revision, _json(one)) == ("New", 2, [{"a": 1, "b": 2}, {"main": "eu"}])
        assert (two.group.name, two.group.revision, _json(two)) == ("New", 3, [{"c": 3}, {"main": "eu"}])
        assert two.token == issued.token
        assert same == two
        assert await store.find(issued.token) == two.group

    async def test_an_update_of_what_was_expected(self, store: Store) -> None:
        issued = await _issued(store, properties={"a": 1})
        environment = issued.group.environment
        one = await store.groups.update(environment, "acme", GroupChanges(name="One"), expected=issued.group)
        with pytest.raises(GroupChanged):
            await store.groups.update(environment, "acme", GroupChanges(name="Two"), expected=issued.group)
        assert await store.groups.get(environment, "acme") == replace(one, created=False)
        await store.groups.rotate(environment, one.token, key_id="k1", nonce=bytes(16))
        with pytest.raises(GroupChanged):
            await store.groups.update(environment, "acme", GroupChanges(name="Two"), expected=one.group)
        await store.groups.delete(environment, "acme")
        again = await store.groups.get_or_create(environment, GroupDraft("acme", "New"), make_token())
        assert again.group.revision == issued.group.revision
        with pytest.raises(GroupChanged):
            await store.groups.update(environment, "acme", GroupChanges(name="Two"), expected=issued.group)
        changed = await store.groups.update(environment, "acme", GroupChanges(name="Two"), expected=again.group)
        assert (changed.group.name, changed.group.revision) == ("Two", 2)

    async def test_of_racing_expectations_one_holds(self, store: Store) -> None:
        issued = await _issued(store)
        environment = issued.group.environment
        done = await asyncio.gather(
            *(
                store.groups.update(environment, "acme", GroupChanges(name=str(number)), expected=issued.group)
                for number in range(16)
            ),
            return_exceptions=True,
        )
        assert sorted(type(each).__name__ for each in done) == ["GroupChanged"] * 15 + ["Issued"]

    async def test_what_is_not_there_is_unknown(self, store: Store) -> None:
        production = await store.environments.create("production", Tag.CUSTOMER)
        with pytest.raises(UnknownGroup):
            await store.groups.update(production, "acme", GroupChanges(name="x"))
        with pytest.raises(UnknownGroup):
            await store.groups.delete(production, "acme")
        assert await store.groups.get(production, "acme") is None
        assert list(await store.groups.list(production)) == []

    async def test_a_deleted_group_is_never_revived(self, store: Store) -> None:
        issued = await _issued(store)
        environment = issued.group.environment
        assert await store.groups.delete(environment, "acme") == issued.group
        assert await store.find(issued.token) is None
        again = await store.groups.get_or_create(environment, GroupDraft("acme", "Acme"), make_token())
        assert again.created
        assert again.group.team_id > issued.group.team_id
        assert await store.find(issued.token) is None

    async def test_groups_are_listed_in_pages(self, store: Store) -> None:
        production = await store.environments.create("production", Tag.CUSTOMER)
        for number in range(7):
            await store.groups.get_or_create(production, GroupDraft(str(number), "x"), make_token())
        seen: list[str] = []
        after = 0
        while page := await store.groups.list(production, after=after, limit=3):
            assert len(page) <= 3
            seen += [group.provided_id for group in page]
            after = page[-1].team_id
        assert seen == [str(number) for number in range(7)]

    @pytest.mark.parametrize(("match", "expected"), MATCHES)
    async def test_groups_are_found_by_id_and_name(self, store: Store, match: str, expected: set[str]) -> None:
        production = await store.environments.create("production", Tag.CUSTOMER)
        other = await store.environments.create("other", Tag.CUSTOMER)
        await store.groups.get_or_create(other, GroupDraft("acme", "Acme Ltd"), make_token())
        for provided_id, name in NAMED.items():
            await store.groups.get_or_create(production, GroupDraft(provided_id, name), make_token())
        found = list(await store.groups.list(production, match=match))
        assert {group.provided_id for group in found} == expected
        assert found == [group for group in await store.groups.list(production) if group.provided_id in expected]
        first = await store.groups.list(production, match=match, limit=1)
        rest = await store.groups.list(production, match=match, after=first[0].team_id) if first else []
        assert [*first, *rest] == found


def _json(issued: Issued) -> list[Any]:
    return [thaw(issued.group.properties), thaw(issued.group.mapping)]


async def _issued(store: Store, **fields: Any) -> Issued:
    production = await store.environments.create("production", Tag.CUSTOMER)
    return await store.groups.get_or_create(production, GroupDraft("acme", "Acme", **fields), make_token())
