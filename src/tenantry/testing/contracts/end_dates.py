# ruff: noqa: S101 - tests, which third parties run too

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta, timezone

from tenantry.groups import GroupChanges, GroupDraft, Tag
from tenantry.ports import Store
from tenantry.testing import FrozenClock, make_token


class EndDateContract:
    async def test_an_end_date_is_kept(self, store: Store, clock: FrozenClock) -> None:
        """The store returns expired groups too. Its callers check the end date."""
        ends = clock() + timedelta(microseconds=1)
        environment = await store.environments.create("production", Tag.CUSTOMER)
        issued = await store.groups.get_or_create(
            environment, GroupDraft("acme", "Acme", expires_at=ends), make_token()
        )
        clock.advance(60)
        assert issued.group.expires_at == ends
        rotated = await store.groups.rotate(environment, issued.token, key_id="k1", nonce=bytes(16))
        found = [
            await store.groups.get(environment, "acme"),
            await store.groups.get(handle=issued.token.handle),
            rotated,
        ]
        assert found == [replace(rotated, created=False)] * 3
        assert await store.find(rotated.token) == rotated.group
        assert list(await store.groups.list(environment)) == [rotated.group]
        assert rotated.group.expires_at == ends
        renamed = await store.groups.update(environment, "acme", GroupChanges(name="New"))
        same = await store.groups.update(environment, "acme", GroupChanges(expires_at=ends))
        later = await store.groups.update(environment, "acme", GroupChanges(expires_at=ends + timedelta(days=1)))
        never = await store.groups.update(environment, "acme", GroupChanges(expires_at=None))
        changed = [(each.group.expires_at, each.group.revision) for each in (renamed, same, later, never)]
        assert changed == [(ends, 3), (ends, 3), (ends + timedelta(days=1), 4), (None, 5)]
        assert await store.find(rotated.token) == never.group
        assert (
            await store.groups.get_or_create(environment, GroupDraft("b", "B"), make_token())
        ).group.expires_at is None

    async def test_an_end_date_is_in_the_audit_trail(self, store: Store, clock: FrozenClock) -> None:
        environment = await store.environments.create("production", Tag.CUSTOMER)
        abroad = datetime(2027, 2, 1, 1, tzinfo=timezone(timedelta(hours=2)))
        await store.groups.get_or_create(environment, GroupDraft("acme", "Acme", expires_at=abroad), make_token())
        await store.groups.get_or_create(environment, GroupDraft("other", "Other"), make_token())
        await store.groups.update(environment, "acme", GroupChanges(name="New"))
        await store.groups.update(environment, "acme", GroupChanges(expires_at=None))
        await store.groups.update(environment, "acme", GroupChanges(name="Old", expires_at=abroad))
        noted = [each.details for each in await store.audit.list() if each.action.startswith("group.")]
        moment = "2027-01-31T23:00:00+00:00"
        assert noted == [
            {"expires_at": moment},
            {},
            {"fields": "name"},
            {"fields": "expires_at", "expires_at": "none"},
            {"fields": "name, expires_at", "expires_at": moment},
        ]
