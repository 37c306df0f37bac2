"""``tenantry group``: the end date of a group, set, shown, moved and taken away."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from tests.cli.conftest import Terminal

PASSED = "The end date has passed"


def shown(ready: Terminal) -> object:
    """What list and get show of acme, which is the same."""
    (row,) = ready("group", "list", "--json").json()
    assert ready("group", "get", "acme", "--json").json()["expires_at"] == row["expires_at"]
    return row["expires_at"]


def test_an_end_date_of_a_group(ready: Terminal) -> None:
    """A day in UTC, a time with its zone, or from now; an update without it leaves it, and --clear takes it away. Red
    when ``update`` drops it, or ``create`` moves that of a group that is there."""
    before = datetime.now(UTC) - timedelta(seconds=1)
    made = ready("group", "create", "acme", "--expires-in", "90d", "--json").json()
    end = datetime.fromisoformat(made["expires_at"])
    assert before + timedelta(days=90) <= end <= datetime.now(UTC) + timedelta(days=90)
    ready("group", "create", "acme", "--expires-at", "2099-12-31")
    assert shown(ready) == made["expires_at"]
    changed = ready("group", "update", "acme", "--expires-at", "2099-12-31T09:00:00+02:00", "--json").json()
    assert changed["expires_at"] == "2099-12-31T07:00:00+00:00" == shown(ready)
    ready("group", "update", "acme", "--name", "Acme", "--property", "a=1", "--replace")
    assert shown(ready) == "2099-12-31T07:00:00+00:00"
    assert "2099-12-31T07:00:00+00:00" in ready("group", "list").out
    assert ready("group", "update", "acme", "--clear", "expires-at", "--json").json()["expires_at"] is None
    assert shown(ready) is None


def test_a_date_that_has_passed_cuts_off_and_is_said(ready: Terminal) -> None:
    """Beside each token that is printed, on stderr: it is of no use now. The same token is good again with a later
    date."""
    token = ready("group", "create", "acme").out
    assert PASSED in ready("group", "update", "acme", "--expires-at", "2020-01-01").err
    for given in (("create", "acme"), ("get", "acme", "--token")):
        again = ready("group", *given)
        assert again.out == token
        assert PASSED in again.err
    assert PASSED not in ready("group", "update", "acme", "--expires-in", "1d").err
    assert ready("group", "get", "acme", "--token").err == ""


def test_a_rehearsed_end_date_is_not_written(ready: Terminal, tmp_path: object) -> None:
    ready("group", "create", "acme")
    ready("group", "update", "acme", "--expires-at", "2020-01-01", "--dry-run", "--queries", str(tmp_path))
    assert shown(ready) is None


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("--expires-at", "soon"), "write 2027-01-31"),
        (("--expires-at", "2099-12-31T09:00:00"), "has no time zone"),
        (("--expires-at", "2099-12-31", "--expires-in", "1d"), "give only one"),
        (("--expires-in", "1d", "--clear", "expires-at"), "contradict each other"),
    ],
)
def test_an_end_date_that_cannot_be_used(ready: Terminal, given: tuple[str, ...], said: str) -> None:
    """The message has the option, the rule and an example, and nothing is changed."""
    ready("group", "create", "acme")
    assert said in " ".join(ready("group", "update", "acme", "--name", "New", *given, fails=2).err.split())
    assert ready("group", "get", "acme", "--json").json()["name"] == "acme"


def test_the_audit_trail_has_the_date(ready: Terminal) -> None:
    ready("group", "create", "acme", "--expires-at", "2099-12-31")
    ready("group", "update", "acme", "--clear", "expires-at")
    details = [row["details"] for row in ready("audit", "--json").json() if row["action"].startswith("group.")]
    assert details == [
        {"expires_at": "2099-12-31T00:00:00+00:00"},
        {"fields": "expires_at", "expires_at": "none"},
    ]
