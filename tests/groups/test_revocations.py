"""Revoked viewers of a group: what is refused, for how long, and how many."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from tenantry.errors import PassRevoked, TooManyRevokedViewers
from tenantry.groups import MAX_REVOKED_VIEWERS, Record, UserGroup, Viewer, revoking_changes
from tenantry.testing import make_group

NOW = datetime(2026, 11, 29, 12, 0, 0, 400_000, UTC)


def revoked(group: UserGroup, viewer_id: str, now: datetime = NOW) -> UserGroup:
    return replace(group, **revoking_changes(group, viewer_id, now).given())


def viewer(viewer_id: str | None, issued_at: datetime) -> Viewer:
    at = issued_at.replace(microsecond=0)  # as in a pass
    return Viewer(viewer_id, Record({}), (), at, at + timedelta(days=1), 1)


def test_earlier_passes_of_the_viewer_are_refused() -> None:
    """Those of the same second too, because a pass has whole seconds. Red when the time is rounded down."""
    group = revoked(make_group(), "ann")
    for seconds in (-86_400, -1, 0):
        with pytest.raises(PassRevoked):
            group.with_viewer(viewer("ann", NOW + timedelta(seconds=seconds)))
    for other in (viewer("ann", NOW + timedelta(seconds=1)), viewer("bob", NOW), viewer(None, NOW)):
        assert group.with_viewer(other).viewer is other


def test_a_revocation_is_kept_as_long_as_a_pass_may_last() -> None:
    """Red when it is dropped a second earlier, or never."""
    group = revoked(make_group(), "ann")
    before = group.revoked_before("ann")
    ends = datetime.fromtimestamp(before, UTC) + timedelta(days=1)
    assert revoked(group, "bob", ends - timedelta(seconds=1)).revoked_before("ann") == before
    assert list(revoked(group, "bob", ends).revoked_viewers or ()) == ["bob"]


def test_the_last_one_comes_last() -> None:
    """The audit trail takes the viewer from there. Red when a repeated revocation stays where it was."""
    group = revoked(revoked(make_group(), "ann"), "bob")
    again = revoked(group, "ann", NOW + timedelta(seconds=60))
    assert list(again.revoked_viewers or ()) == ["bob", "ann"]
    assert again.revoked_before("ann") == group.revoked_before("ann") + 60


def test_a_repeated_revocation_makes_nothing_good_again() -> None:
    """By a host whose clock is behind that of the first. Red when the later write sets an earlier time."""
    group = revoked(make_group(), "ann", NOW)
    again = revoked(group, "ann", NOW - timedelta(seconds=30))
    assert again.revoked_before("ann") == group.revoked_before("ann")


def test_there_are_at_most_so_many() -> None:
    """The error says what to do; a viewer who is among them is revoked again. Red without a maximum."""
    group = make_group(revoked_viewers={f"v{number}": int(NOW.timestamp()) for number in range(MAX_REVOKED_VIEWERS)})
    with pytest.raises(TooManyRevokedViewers, match="rotate its token"):
        revoked(group, "ann")
    assert len(revoked(group, "v7", NOW + timedelta(seconds=5)).revoked_viewers or ()) == MAX_REVOKED_VIEWERS
    later = revoked(group, "ann", NOW + timedelta(days=1))
    assert list(later.revoked_viewers or ()) == ["ann"]
