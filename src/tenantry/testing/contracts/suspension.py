# ruff: noqa: S101 - tests, which third parties run too

from __future__ import annotations

from tenantry.groups import GroupChanges, GroupCreation, GroupDraft, Tag
from tenantry.ports import Store
from tenantry.testing import make_token


class SuspensionContract:
    async def test_a_suspension_is_kept(self, store: Store) -> None:
        """The store returns suspended groups too, with their tokens; callers check ``suspended``."""
        environment = await store.environments.create("production", Tag.CUSTOMER)
        issued = await store.groups.get_or_create(environment, GroupDraft("acme", "Acme"), make_token())
        assert issued.group.suspended is False
        suspended = await store.groups.update(environment, "acme", GroupChanges(suspended=True))
        same = await store.groups.update(environment, "acme", GroupChanges(suspended=True))
        assert [(each.group.suspended, each.group.revision) for each in (suspended, same)] == [(True, 2), (True, 2)]
        assert suspended.token == issued.token
        renamed = await store.groups.update(environment, "acme", GroupChanges(name="New"))
        assert await store.find(issued.token) == renamed.group
        assert list(await store.groups.list(environment)) == [renamed.group]
        assert renamed.group.suspended is True
        rotated = await store.groups.rotate(environment, issued.token, key_id="k1", nonce=bytes(16))
        assert rotated.group.suspended is True
        resumed = await store.groups.update(environment, "acme", GroupChanges(suspended=False))
        assert (resumed.group.suspended, resumed.token) == (False, rotated.token)
        draft = GroupDraft("b", "B", suspended=True)
        (made,) = await store.groups.write_many(environment, [GroupCreation(draft, make_token())])
        assert made is not None
        assert made.group.suspended is True

    async def test_a_suspension_is_in_the_audit_trail(self, store: Store) -> None:
        environment = await store.environments.create("production", Tag.CUSTOMER)
        await store.groups.get_or_create(environment, GroupDraft("acme", "Acme", suspended=True), make_token())
        await store.groups.update(environment, "acme", GroupChanges(suspended=False))
        await store.groups.update(environment, "acme", GroupChanges(name="New", suspended=True))
        noted = [each.details for each in await store.audit.list() if each.action.startswith("group.")]
        assert noted == [
            {"suspended": "yes"},
            {"fields": "suspended", "suspended": "no"},
            {"fields": "name, suspended", "suspended": "yes"},
        ]
