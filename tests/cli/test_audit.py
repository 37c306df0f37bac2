"""``tenantry audit``: who did what, and when."""

from __future__ import annotations

import json
import os
import pwd
import socket
from datetime import UTC, datetime, timedelta

import pytest

from tenantry.cli.output import RowPrinter
from tests.cli.conftest import Terminal


def test_everything_that_was_done_is_told_in_its_order(ready: Terminal) -> None:
    """One entry for each write of the command line, with the user of the process; none for what only looks.

    Red when a command forgets to say who runs it.
    """
    ready("group", "create", "acme", "--property", "region=canary-eu")
    ready("group", "create", "acme")
    ready("group", "update", "acme", "--name", "Acme")
    ready("group", "rotate", "acme")
    ready("group", "get", "acme", "--token")
    token_id = ready("api-token", "create", "--label", "billing", "--json").json()["id"]
    ready("api-token", "revoke", str(token_id))
    ready("data-source", "create", "warehouse", "--url", "postgresql://u:canary-password@h/d", "--no-check")
    ready("data-source", "delete", "warehouse")
    ready("environment", "set-grace", "production", "5")
    ready("group", "delete", "acme", "--yes")
    result = ready("audit", "--json")
    entries = result.json()
    assert [entry["action"] for entry in entries] == [
        "environment.created",
        "group.created",
        "group.updated",
        "group.rotated",
        "api_token.created",
        "api_token.revoked",
        "data_source.created",
        "data_source.deleted",
        "environment.grace_set",
        "group.deleted",
    ]
    me = f"command line {pwd.getpwuid(os.geteuid()).pw_name}@{socket.gethostname()}"
    assert {entry["author"] for entry in entries} == {me}
    assert {entry["environment"] for entry in entries} == {"production"}
    assert [entry["number"] for entry in entries] == sorted(entry["number"] for entry in entries)
    assert all(abs(datetime.now(UTC) - datetime.fromisoformat(entry["at"])) < timedelta(minutes=5) for entry in entries)
    for canary in ("canary", "ugtc_", "ugkc_"):
        assert canary not in result.out


def test_one_page_or_one_environment(ready: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    """``--after`` and ``--limit`` cut, across the pages of the store too. Red when a page begins where the last did."""
    monkeypatch.setattr("tenantry.cli.audit.PAGE", 2)
    for number in range(4):
        ready("group", "create", f"g{number}")
    ready("environment", "create", "staging", "--tag", "Testing")
    whole = ready("audit", "--json").json()
    assert len(whole) == 6
    assert ready("audit", "--after", str(whole[1]["number"]), "--limit", "3", "--json").json() == whole[2:5]
    assert ready("audit", "--environment", "staging", "--json").json() == whole[5:]
    assert ready("audit", "--after", str(whole[-1]["number"])).err == "none\n"
    assert "[unknown_environment]" in ready("audit", "--environment", "nope", fails=1).err


def test_a_page_is_shown_before_the_next_is_read(ready: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    """A trail of years need not fit into memory, and its pages make one table and one array.

    Red when all is gathered before anything is shown.
    """
    for number in range(5):
        ready("group", "create", f"g{number}", "--property", 'x="a"')
    whole, table = ready("audit", "--json"), ready("audit").out
    monkeypatch.setattr("tenantry.cli.audit.PAGE", 4)
    assert (ready("audit", "--json").out, ready("audit").out) == (whole.out, table)
    assert whole.out == json.dumps(whole.json(), ensure_ascii=False, indent=2) + "\n"
    added: list[int] = []
    add = RowPrinter.add
    monkeypatch.setattr(RowPrinter, "add", lambda listing, rows: (added.append(len(rows)), add(listing, rows)))
    ready("audit")
    assert added == [4, 2]
    assert ready("audit", "--after", "99", "--json").out == "[]\n"


def test_a_name_cannot_forge_a_row(ready: Terminal) -> None:
    """Line breaks and terminal codes of a caller are shown, not obeyed."""
    ready("group", "create", "a\n7  forged\x1b[2J")
    result = ready("audit")
    assert len(result.out.splitlines()) == 3
    assert "\x1b" not in result.out


def test_the_user_is_the_one_of_the_process(ready: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the environment says. Red when LOGNAME is believed."""
    monkeypatch.setenv("LOGNAME", "somebody-else")
    monkeypatch.setenv("USER", "somebody-else")
    ready("group", "create", "acme")
    assert "somebody-else" not in ready("audit").out
