# ruff: noqa: S101 - tests, which third parties run too

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta, timezone

import pytest

from tenantry.errors import GroupSuspended, UnknownToken
from tenantry.groups import GroupChanges, GroupCreation, GroupDraft, GroupUpdate, IdempotencyKey, Tag
from tenantry.ports import Store
from tenantry.testing import FrozenClock, make_token


class EndDateContract:
    async def test_an_end_date_is_kept(self, store: Store, clock: FrozenClock) -> None:
        """The store returns expired groups too."""
        # Its callers check the end date.
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


class SuspensionContract:
    async def test_a_suspension_is_kept(self, store: Store) -> None:
        """The store returns suspended groups too, with their tokens. It refuses only ``rotate``."""
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
        with pytest.raises(UnknownToken):
            await store.groups.rotate(environment, make_token(), key_id="k1", nonce=bytes(16))
        with pytest.raises(GroupSuspended):
            await store.groups.rotate(environment, issued.token, key_id="k1", nonce=bytes(16))
        assert await store.find(issued.token) == renamed.group
        resumed = await store.groups.update(environment, "acme", GroupChanges(suspended=False))
        assert (resumed.group.suspended, resumed.token) == (False, issued.token)
        draft = GroupDraft("b", "B", suspended=True)
        (made,) = await store.groups.write_many(environment, [GroupCreation(draft, make_token())])
        assert made is not None
        assert made.group.suspended is True

    async def test_a_repeated_response_says_whether_the_group_is_suspended_now(self, store: Store) -> None:
        environment = await store.environments.create("production", Tag.CUSTOMER)
        draft, once = GroupDraft("acme", "Acme"), IdempotencyKey("a", (bytes(32),))
        for suspended in (False, True, False):
            issued = await store.groups.get_or_create(environment, draft, make_token(), once=once)
            assert issued.group.suspended is suspended
            await store.groups.update(environment, "acme", GroupChanges(suspended=not suspended))

    async def test_revoked_viewers_are_kept(self, store: Store) -> None:
        """A rotation without a grace period ends all passes, so it drops the revoked viewers. All other writes keep
        them."""
        environment = await store.environments.create("production", Tag.CUSTOMER)
        issued = await store.groups.get_or_create(environment, GroupDraft("acme", "Acme"), make_token())
        assert issued.group.revoked_viewers is None
        revoked = {"zoë": 1_900_000_001, "ann": 1_900_000_000}
        changed = await store.groups.update(environment, "acme", GroupChanges(revoked_viewers=revoked))
        same = await store.groups.update(environment, "acme", GroupChanges(revoked_viewers=revoked))
        assert [each.group.revision for each in (changed, same)] == [2, 2]
        renamed = await store.groups.update(environment, "acme", GroupChanges(name="New"))
        await store.groups.write_many(environment, [GroupUpdate(renamed.group, GroupChanges(properties={"a": 1}))])
        found = await store.find(issued.token)
        assert found is not None
        assert list(found.revoked_viewers or ()) == ["zoë", "ann"]
        assert found.revoked_viewers == revoked
        assert list(await store.groups.list(environment)) == [found]
        kept = await store.groups.rotate(environment, issued.token, key_id="k1", nonce=bytes(16), grace_seconds=60)
        assert kept.group.revoked_viewers == revoked
        last = await store.groups.rotate(environment, kept.token, key_id="k1", nonce=bytes(16))
        assert await store.find(last.token) == last.group
        assert last.group.revoked_viewers is None
        noted = [each.details for each in await store.audit.list() if "viewer" in each.details]
        assert noted == [{"fields": "revoked_viewers", "viewer": "ann"}]

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
