"""``tenantry group rotate --tokens-to FILE``: no token is lost, wherever the command ends."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from engines.warm_python import run
from tenantry.cli import group_rotate, rotated_tokens
from tests.cli.conftest import Terminal

GROUPS = ("acme", "globex", "initech")
SELECTIONS = pytest.mark.parametrize("selection", [("--all",), ("--signed-by", "k1")], ids=["all", "signed-by"])
WRITES = pytest.mark.parametrize("at", [1, 2, 3, 4], ids=["first step", "first tokens", "second step", "last tokens"])
"""Two steps of two groups and one, each a note and then tokens."""

ENDS = """
import os, signal, sys
from tenantry.cli import group_rotate, main, rotated_tokens
group_rotate.MAX_ROTATED_TOGETHER = 2
write, left = os.write, [int(sys.argv.pop(1))]
name = sys.argv.pop(1)
def ends(file, data):
    left[0] -= 1
    if left[0] == 0:
        if name == "SIGKILL":
            write(file, data[:len(data) // 2])
        os.kill(os.getpid(), signal.Signals[name])
    return write(file, data)
rotated_tokens.os.write = ends
main()
"""


@pytest.fixture
def rotated(ready: Terminal) -> Terminal:
    for name in GROUPS:
        ready("group", "create", name)
    shutil.copy("tenantry.keys", "old.keys")
    ready("keys", "rotate")
    return ready


def rotate(*selection: str) -> tuple[str, ...]:
    return ("group", "rotate", *selection, "--yes", "--tokens-to", "tokens.ndjson")


def ended(at: int, name: str, *selection: str) -> subprocess.CompletedProcess[str]:
    """Send the command this signal in its write number ``at``."""
    command = [sys.executable, "-c", ENDS, str(at), name, *rotate(*selection)]
    return run(command, capture_output=True, text=True, timeout=60, check=False)


def check_whole(terminal: Terminal, folder: Path) -> None:
    """Each group was rotated once, and the file has each token once."""
    written = [json.loads(line) for line in (folder / "tokens.ndjson").read_text("utf-8").splitlines()]
    assert [each["user_group_id"] for each in written] == list(GROUPS)
    for each in written:
        assert each["token"] == terminal("group", "get", each["user_group_id"], "--token").out.strip()
    assert {row["token_version"] for row in terminal("group", "list", "--json").json()} == {2}
    assert not (folder / "tokens.ndjson.unfinished").exists()


@WRITES
def test_a_kill_loses_no_token(rotated: Terminal, folder: Path, at: int) -> None:
    """Red when the tokens of a committed step are not written by the next run, when it appends to half a line, or when
    it rotates a group again."""
    assert ended(at, "SIGKILL", "--all").returncode == -signal.SIGKILL
    assert ("continues the run" in rotated(*rotate("--all")).err) == (at > 1)
    check_whole(rotated, folder)


def test_a_terminated_command_says_how_to_continue(rotated: Terminal, folder: Path) -> None:
    """Red when SIGTERM ends the process at once."""
    done = ended(3, "SIGTERM", "--all")
    assert done.returncode == 1
    assert "To continue, run the command again." in done.stderr
    assert "Traceback" not in done.stderr
    rotated(*rotate("--all"))
    check_whole(rotated, folder)


def run_on_full_disk(terminal: Terminal, monkeypatch: pytest.MonkeyPatch, at: int, *selection: str) -> str:
    """Write number ``at`` of the command writes only half, and fails."""
    write, left = os.write, [at]

    def fails(file: int, data: bytes) -> int:
        left[0] -= 1
        if left[0] == 0:
            write(file, data[: len(data) // 2])
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return write(file, data)

    with monkeypatch.context() as patched:
        patched.setattr(group_rotate, "MAX_ROTATED_TOGETHER", 2)
        patched.setattr(rotated_tokens.os, "write", fails)
        stopped = terminal(*rotate(*selection), fails=1)
    assert "To continue, run the command again." in stopped.err
    assert "cannot use tokens.ndjson" in stopped.err
    assert "No space left on device" in stopped.err
    return stopped.err


@SELECTIONS
@WRITES
def test_a_full_disk_loses_no_token(
    rotated: Terminal, folder: Path, monkeypatch: pytest.MonkeyPatch, selection: tuple[str, ...], at: int
) -> None:
    """Red when the error of the write is a traceback, or as after a kill."""
    run_on_full_disk(rotated, monkeypatch, at, *selection)
    rotated(*rotate(*selection))
    check_whole(rotated, folder)


def test_a_group_that_was_suspended_after_the_kill(rotated: Terminal, folder: Path) -> None:
    """Red when its token, which the killed step made, is reported as failed and is missing from the file."""
    ended(2, "SIGKILL", "--all")
    rotated("group", "suspend", "acme")
    assert rotated(*rotate("--all")).err.endswith("3 rotated, 0 failed\n")
    rotated("group", "resume", "acme")
    check_whole(rotated, folder)


@SELECTIONS
def test_a_run_continues_on_another_disk(
    rotated: Terminal, folder: Path, monkeypatch: pytest.MonkeyPatch, selection: tuple[str, ...]
) -> None:
    """As the command says. Red when the file of notes has another name than in the sentence, or holds the old path."""
    said = run_on_full_disk(rotated, monkeypatch, 2, *selection)
    moved = re.findall(r"move (\S+) and (\S+) there. A new file would not get all tokens", said)
    (folder / "other").mkdir()
    for name in moved[0]:
        (folder / name).rename(folder / "other" / name)
    rotated("group", "rotate", *selection, "--yes", "--tokens-to", "other/tokens.ndjson")
    check_whole(rotated, folder / "other")


def test_a_disk_that_stays_full(rotated: Terminal, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Red when half a note stays in its file: the next note would be appended to it."""
    run_on_full_disk(rotated, monkeypatch, 3, "--all")
    run_on_full_disk(rotated, monkeypatch, 3, "--all")
    rotated(*rotate("--all"))
    check_whole(rotated, folder)


def test_the_interrupted_step_comes_first(rotated: Terminal, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also if an environment before its own has groups. Red when half a line is left between them."""
    rotated("environment", "create", "staging", "--tag", "Testing")
    rotated("group", "create", "acme", "--environment", "staging", "--keys", "old.keys")
    run_on_full_disk(rotated, monkeypatch, 6, "--signed-by", "k1")
    rotated("group", "create", "late", "--environment", "production", "--keys", "old.keys")
    rotated(*rotate("--signed-by", "k1"))
    written = [json.loads(line) for line in (folder / "tokens.ndjson").read_text("utf-8").splitlines()]
    assert [(each["environment"], each["user_group_id"]) for each in written[3:]] == [
        ("staging", "acme"),
        ("production", "late"),
    ]


def test_an_interrupted_run_is_finished_first(rotated: Terminal, folder: Path) -> None:
    """Red when another selection begins with the other one's groups: the rest of them would keep their tokens."""
    ended(2, "SIGKILL", "--all")
    refused = rotated(*rotate("--signed-by", "k1"), fails=2).err
    assert "with `tenantry group rotate --all` and the same --tokens-to, for the environment production" in refused
    rotated(*rotate("--all"))
    check_whole(rotated, folder)
    assert rotated(*rotate("--all")).err == "3 rotated, 0 failed\n"  # a new run


def test_files_that_get_no_token(rotated: Terminal, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file of another user, one with half a line, a damaged note, and a file that another command writes to. Red
    without the check of each."""
    file = folder / "tokens.ndjson"
    file.touch(0o600)
    with monkeypatch.context() as patched:
        user = os.geteuid() + 1
        patched.setattr(rotated_tokens.os, "geteuid", lambda: user)
        assert "belongs to another user" in rotated(*rotate("--all"), fails=2).err
    file.write_text('{"environment": "prod')
    assert "is cut off" in rotated(*rotate("--all"), fails=2).err
    file.write_text("")
    notes = folder / "tokens.ndjson.unfinished"
    notes.touch(0o600)
    notes.write_text("[1]\n")
    assert "is damaged" in rotated(*rotate("--all"), fails=2).err
    notes.unlink()
    with file.open("ab") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        assert "another command" in rotated(*rotate("--all"), fails=2).err
    assert {row["token_version"] for row in rotated("group", "list", "--json").json()} == {1}


def test_output_that_fails(rotated: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    """Red when the error is a traceback, or when the groups of the step are passed over."""

    def fails(lines: str) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patched:
        patched.setattr(rotated_tokens, "_print", fails)
        stopped = rotated("group", "rotate", "--all", "--yes", "--tokens-to", "-", fails=1)
    assert "To continue, add --after 0." in stopped.err
    assert "group get ID --token" in stopped.err
    assert "cannot use stdout: No space left on device" in stopped.err
