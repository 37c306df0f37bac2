"""``tenantry group rotate`` of one group, of all groups of an environment, and of all groups of a signing key."""

from __future__ import annotations

import json
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tenantry.backends.sql.groups import SQLGroups
from tenantry.errors import StoreUnavailable
from tenantry.groups import Environment, GroupWrite
from tests.cli.conftest import Terminal

SIGNED_BY_K1 = ("group", "rotate", "--signed-by", "k1", "--yes")


def token(ready: Terminal, name: str, environment: str = "production") -> str:
    return ready("group", "get", name, "--token", "--environment", environment).out.strip()


def create(ready: Terminal, *names: str, environment: str = "production") -> None:
    for name in names:
        ready("group", "create", name, "--environment", environment)


def lines(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


def test_all_groups_of_a_key_in_all_environments(ready: Terminal, folder: Path) -> None:
    """Red when only one environment is rotated, or a group of another key."""
    ready("environment", "create", "staging", "--tag", "Testing")
    create(ready, "acme", "globex")
    create(ready, "acme", environment="staging")
    ready("keys", "rotate")
    create(ready, "new")
    new = token(ready, "new")
    done = ready(*SIGNED_BY_K1, "--tokens-to", "tokens.ndjson")
    assert (done.out, done.err) == ("", "3 rotated, 0 failed\n")
    written = folder / "tokens.ndjson"
    assert stat.S_IMODE(written.stat().st_mode) == 0o600
    assert [(each["environment"], each["user_group_id"]) for each in lines(written)] == [
        ("production", "acme"),
        ("production", "globex"),
        ("staging", "acme"),
    ]
    for each in lines(written):
        assert each["token"].startswith("ugt")
        assert each["token"] == token(ready, each["user_group_id"], each["environment"])
    assert token(ready, "new") == new
    assert ready(*SIGNED_BY_K1).err == "0 rotated, 0 failed\n"
    ready("keys", "remove", "k1")


def test_a_named_environment_is_the_only_one(ready: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    ready("environment", "create", "staging", "--tag", "Testing")
    create(ready, "acme")
    create(ready, "acme", environment="staging")
    old = token(ready, "acme")
    assert "1 rotated" in ready("group", "rotate", "--all", "--environment", "staging", "--yes").err
    ready("keys", "rotate")
    monkeypatch.setenv("TENANTRY_ENVIRONMENT", "staging")
    assert "1 rotated" in ready(*SIGNED_BY_K1).err
    assert token(ready, "acme") == old
    monkeypatch.delenv("TENANTRY_ENVIRONMENT")
    ready("group", "rotate", "--all", "--yes", fails=1)  # which of the two?


def test_an_interrupted_run_continues(ready: Terminal, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each group is rotated once. Red when the note names the end of the page that failed."""
    groups = 501
    (folder / "groups.ndjson").write_text("".join(f'{{"user_group_id": "g{number}"}}\n' for number in range(groups)))
    ready("group", "import", "groups.ndjson")
    write_many, calls = SQLGroups.write_many, []

    async def fails_once(self: SQLGroups, environment: Environment, writes: Sequence[GroupWrite], **rest: Any) -> Any:
        calls.append(len(writes))
        if len(calls) == 2:
            raise StoreUnavailable("the store is away")
        return await write_many(self, environment, writes, **rest)

    monkeypatch.setattr(SQLGroups, "write_many", fails_once)
    rotate = ("group", "rotate", "--all", "--yes")
    stopped = ready(*rotate, fails=3)
    assert "500 rotated. To continue, add --after 500." in stopped.err
    assert ready(*rotate, "--after", "500").err == "1 rotated, 0 failed\n"
    versions = {row["token_version"] for row in ready("group", "list", "--json").json()}
    assert versions == {2}


def test_one_group_that_fails_does_not_stop_the_others(ready: Terminal) -> None:
    create(ready, "acme", "suspended", "globex")
    ready("group", "suspend", "suspended")
    done = ready("group", "rotate", "--all", "--yes", "--json", fails=1)
    failed, summary = [json.loads(line) for line in done.out.splitlines()]
    assert (failed["user_group_id"], failed["error"]["code"]) == ("suspended", "group_suspended")
    assert summary == {"success": 1, "summary": {"rotated": 2, "failed": 1}}
    assert "suspended: " in ready("group", "rotate", "--all", "--yes", fails=1).err


def test_a_suspended_group_and_its_key(ready: Terminal) -> None:
    """Both refusals name the way out, and it works. Red when each only named the other command, and without the
    environment: there are two, and the command asks for one."""
    ready("environment", "create", "staging", "--tag", "Testing")
    create(ready, "acme", "away")
    create(ready, "away", environment="staging")
    ready("keys", "rotate")
    for environment in ("production", "staging"):
        ready("group", "suspend", "away", "--environment", environment)
    failed = ready(*SIGNED_BY_K1, fails=1).err
    assert "\naway (staging): this user group is suspended" in failed
    refused = ready("keys", "remove", "k1", fails=1).err
    for said in (failed, refused):
        assert "`tenantry group resume ID --environment NAME`" in said
        assert "--force" in said
    for change in ("resume", "suspend"):
        for environment in ("production", "staging"):
            ready("group", change, "away", "--environment", environment)
        if change == "resume":
            ready(*SIGNED_BY_K1)
    ready("keys", "remove", "k1")


def test_a_key_that_was_removed_while_a_group_was_suspended(ready: Terminal) -> None:
    """Red when the way out is to remove the key once more."""
    create(ready, "away")
    ready("group", "suspend", "away")
    ready("keys", "rotate")
    assert "tenantry keys remove k1 --force" in ready(*SIGNED_BY_K1, fails=1).err
    ready("keys", "remove", "k1", "--force")
    failed = ready(*SIGNED_BY_K1, fails=1).err
    assert "tenantry group resume ID" in failed
    assert "--force" not in failed


def test_one_environment_after_the_other(ready: Terminal) -> None:
    """With a key that was removed. Red when the environment that is done ends with 2."""
    ready("environment", "create", "staging", "--tag", "Testing")
    create(ready, "acme")
    ready("keys", "rotate")
    ready("keys", "remove", "k1", "--force")
    for environment, rotated in (("staging", 0), ("production", 1), ("production", 0)):
        assert ready(*SIGNED_BY_K1, "--environment", environment).err == f"{rotated} rotated, 0 failed\n"


def test_many_groups_are_rotated_after_a_question(ready: Terminal) -> None:
    create(ready, "acme", "globex")
    old = token(ready, "acme")
    asked = ready("group", "rotate", "--all", given="n\n", fails=1)
    assert "Give 2 user groups new tokens?" in asked.err
    assert "2 rotated" in ready("group", "rotate", "--all", "--dry-run", "--tokens-to", "-").err
    assert token(ready, "acme") == old
    printed = ready("group", "rotate", "--all", "--tokens-to", "-", given="y\n")
    assert json.loads(printed.out.splitlines()[0])["token"] == token(ready, "acme") != old


def test_a_file_that_others_may_read_gets_no_token(ready: Terminal, folder: Path) -> None:
    """Red when the mode is not looked at, or only after the rotation."""
    create(ready, "acme")
    old = token(ready, "acme")
    shared, link = folder / "shared", folder / "link"
    shared.touch(0o644)
    assert (
        "is not a regular file that is private to you"
        in ready("group", "rotate", "--all", "--yes", "--tokens-to", "shared", fails=2).err
    )
    link.symlink_to(folder / "elsewhere")
    assert "link is a symbolic link" in ready("group", "rotate", "--all", "--yes", "--tokens-to", "link", fails=2).err
    assert token(ready, "acme") == old
    assert shared.read_text() == ""
    assert not (folder / "elsewhere").exists()


@pytest.mark.parametrize(
    ("words", "says", "code"),
    [
        ((), "give the ID of one group", 2),
        (("acme", "--all"), "give the ID of one group", 2),
        (("--all", "--signed-by", "k1"), "give the ID of one group", 2),
        (("acme", "--yes"), "need --all or --signed-by", 2),
        (("acme", "--after", "0"), "need --all or --signed-by", 2),
        (("--signed-by", "K1"), "such as k1", 1),
        (("--signed-by", "k1"), "is the active signing key", 1),
        (("--signed-by", "k9", "--yes"), "the key file never had a key k9, and no user group", 2),
    ],
)
def test_what_is_refused(ready: Terminal, words: tuple[str, ...], says: str, code: int) -> None:
    assert says in ready("group", "rotate", *words, fails=code).err
