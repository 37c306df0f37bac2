"""``tenantry api-token create`` with an end: how it is written, and what ``list`` shows of it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from tests.cli.conftest import Terminal


def test_an_end_from_now_and_an_end_at_a_time(ready: Terminal) -> None:
    """Both are stored and listed, beside a token without an end; nothing was used yet. Red when --expires-at takes a
    date for one of this host's zone."""
    before = datetime.now(UTC) - timedelta(seconds=1)
    made = ready("api-token", "create", "--expires-in", "90d", "--scope", "provision:read", "--json").json()
    end = datetime.fromisoformat(made["expires_at"])
    assert before + timedelta(days=90) <= end <= datetime.now(UTC) + timedelta(days=90)
    told = ready("api-token", "create", "--expires-at", "2099-12-31").err
    assert "expires at 2099-12-31T00:00:00+00:00" in told
    ready("api-token", "create", "--expires-at", "2099-12-31T09:00:00+02:00")
    ready("api-token", "create")
    rows = ready("api-token", "list", "--json").json()
    ends = [made["expires_at"], "2099-12-31T00:00:00+00:00", "2099-12-31T07:00:00+00:00", None]
    assert [row["expires_at"] for row in rows] == ends
    assert (rows[0]["scopes"], rows[0]["last_used_at"]) == (["provision:read"], None)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (("--expires-in", "90"), "write 30m, 12h, 90d or 8w"),
        (("--expires-in", "0d"), "between 1m and 36500d"),
        (("--expires-in", "99999999w"), "between 1m and 36500d"),
        (("--expires-at", "soon"), "write 2027-01-31"),
        (("--expires-at", "2099-12-31T09:00:00"), "has no time zone"),
        (("--expires-at", "2020-01-01"), "2020-01-01T00:00:00+00:00 is in the past"),
        (("--expires-at", "2099-12-31", "--expires-in", "1d"), "give only one"),
    ],
)
def test_an_end_that_cannot_be_used(ready: Terminal, given: tuple[str, ...], told: str) -> None:
    """The message has the option, the rule and an example, and no token is made."""
    result = ready("api-token", "create", *given, fails=2)
    assert told in " ".join(result.err.split())
    assert "--expires-" in result.err
    assert ready("api-token", "list", "--json").json() == []
