"""``tenantry group suspend`` and ``resume``."""

from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import Terminal


def shown(ready: Terminal) -> object:
    """What list and get show of acme, which is the same."""
    (row,) = ready("group", "list", "--json").json()
    assert ready("group", "get", "acme", "--json").json()["suspended"] is row["suspended"]
    return row["suspended"]


def test_a_group_is_suspended_and_resumed(ready: Terminal) -> None:
    """No command gives a token in between, and ``group create`` gives the same one afterwards. Red when suspending
    makes a new token, when create or ``get --token`` returns the old one, or when rotate returns a new one."""
    token = ready("group", "create", "acme").out
    assert shown(ready) is False
    assert ready("group", "suspend", "acme").out == "acme\n"
    assert shown(ready) is True
    commands = "create", "create --dry-run", "get --token", "rotate", "rotate --grace-seconds 0", "rotate --dry-run"
    for command in commands:
        name, *options = command.split()
        refused = ready("group", name, "acme", *options, fails=1)
        assert refused.out == ""
        assert "resume it with `tenantry group resume` or" in refused.err
        assert "[group_suspended]" in refused.err
        assert token.strip() not in refused.err
    assert ready("group", "resume", "acme", "--json").json()["suspended"] is False
    assert ready("group", "create", "acme").out == ready("group", "get", "acme", "--token").out == token
    assert "[unknown_group]" in ready("group", "suspend", "globex", fails=1).err
    details = [row["details"] for row in ready("audit", "--json").json() if row["action"] == "group.updated"]
    assert [each["suspended"] for each in details] == ["yes", "no"]


def test_a_file_of_groups_suspends(ready: Terminal, folder: Path) -> None:
    """With ``suspended: true``; a file that does not name it leaves it. Red when sync drops the field."""
    file = folder / "groups.yaml"
    file.write_text("groups:\n  acme: {suspended: true}\n")
    ready("group", "sync", str(file))
    assert shown(ready) is True
    file.write_text("groups:\n  acme: {name: New}\n")
    ready("group", "sync", str(file))
    assert shown(ready) is True
    file.write_text("groups:\n  acme: {suspended: false}\n")
    assert ready("group", "sync", str(file)).out == "~ acme  suspended: true -> false\n"
    assert shown(ready) is False
    file.write_text("groups:\n  acme: {suspended: 'no'}\n")
    wrong = ready("group", "sync", str(file), fails=1).err
    assert "suspended: this must be true or false" in wrong
    assert "fix: write true or false" in wrong
