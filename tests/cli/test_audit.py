"""``tenantry audit``: who did what, and when."""

from __future__ import annotations

import json
import os
import pwd
import re
import signal
import socket
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from engines.warm_python import Popen
from tenantry.cli.output import RowPrinter
from tests.cli.conftest import Terminal
from tests.cli.test_workers import _wait


@pytest.mark.parametrize(("name", "says"), [("ann", " (sudo by ann)"), ("ann)\nroot", ""), ("", "")])
def test_whom_sudo_names(name: str, says: str, ready: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beside the user of the process, never in place of it. Red when two administrators cannot be told apart."""
    monkeypatch.setenv("SUDO_USER", name)
    ready("group", "create", "acme")
    user = pwd.getpwuid(os.geteuid()).pw_name
    assert ready("audit", "--json").json()[-1]["author"] == f"command line {user}@{socket.gethostname()}{says}"


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
    assert all(abs(datetime.now(UTC) - datetime.fromisoformat(entry["at"])) < timedelta(hours=1) for entry in entries)
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
    assert ready("audit", "--after", str(2**63 - 1), "--json").out == "[]\n"
    ready("audit", "--after", str(2**63), fails=2)


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


def test_a_trail_that_nobody_has_changed_is_proved(ready: Terminal) -> None:
    """With the key file and in the words of the terminal; from a head, and up to one that was printed before."""
    ready("group", "create", "acme")
    head = ready("audit", "head").out.strip()
    assert head.startswith("2-")
    ready("group", "rotate", "acme")
    report = ready("audit", "verify", "--expect", head, "--json").json()
    assert (report["proved"], report["sealed"], report["unsealed"], report["first_bad"]) == (True, 3, 0, None)
    assert report["head"] == ready("audit", "head", "--json").json()["head"]
    assert ready("audit", "verify", "--from", head, "--json").json()["sealed"] == 1
    assert "proved: true" in ready("audit", "verify").out
    for wrong in ("x", "2", head + "0"):
        assert "tenantry audit head" in ready("audit", "verify", "--expect", wrong, fails=2).err
    assert "write --json after verify" in ready("audit", "--json", "verify", fails=2).err


def test_a_change_of_the_trail_is_named(ready: Terminal, folder: Path) -> None:
    """The number of the first entry that does not fit, and exit code 1. So is an end that was cut off, if a head was
    printed before. Red when ``verify`` ends well whatever it finds."""
    for name in ("a", "b", "c"):
        ready("group", "create", name)
    head = ready("audit", "head").out.strip()
    whole = (folder / "tenantry.db").read_bytes()
    for forgery, number in (
        ("update audit set subject = 'x' where number = 3", 3),
        ("delete from audit where number = 2", 2),
        ("delete from audit where number > 2; update generation set audit_number = 0, audit_mac = null", 3),
    ):
        with closing(sqlite3.connect(folder / "tenantry.db")) as file:
            file.executescript(f"{_UNLOCK} {forgery}")
        result = ready("audit", "verify", "--expect", head, fails=1)
        assert f"entry {number}: " in result.err
        assert "[audit_broken]" in result.err
        assert f"first_bad: {number}" in result.out
        for rest in folder.glob("tenantry.db-*"):
            rest.unlink()
        (folder / "tenantry.db").write_bytes(whole)


_COLUMNS = "at, author, request_id, action, environment, subject, details"
_NESTED = '{"a": %s%s}'


@pytest.mark.parametrize(
    ("forgery", "number"),
    [
        ("update audit set at = 'noon' where number = 2", 2),
        ("update audit set at = 9223372036854775807 where number = 2", 2),
        ("update audit set details = 'no JSON' where number = 2", 2),
        ("update audit set details = '[1]' where number = 2", 2),
        ("update audit set author = x'ff' where number = 2", 2),
        ("update audit set seal = 5 where number = 2", 2),
        (f"update audit set seal = '{'x' * 42}' where number = 2", 2),
        (f"update audit set details = '{_NESTED % ('[' * 99_999, ']' * 99_999)}' where number = 2", 2),
        (f"insert into audit select -5, {_COLUMNS}, null from audit where number = 1", -5),
    ],
)
def test_an_entry_that_nobody_could_write_is_named(ready: Terminal, folder: Path, forgery: str, number: int) -> None:
    """Of what was changed by hand, values that cannot be read are a fault like any other, and the rest of the trail is
    shown; a number below 1 is one, too. Red when such a row is read as all others, or the check begins with 1."""
    ready("group", "create", "acme")
    with closing(sqlite3.connect(folder / "tenantry.db")) as file:
        file.executescript(f"{_UNLOCK} {forgery}")
    assert f"entry {number}: " in ready("audit", "verify", fails=1).err
    assert len(ready("audit", "--json").json()) == 2
    ready("group", "create", "next")


@pytest.mark.parametrize(
    ("details", "seal"),
    [("{}", f"'{'x' * 42}'"), (_NESTED % ("[" * 9_999, "]" * 9_999), "null"), (_NESTED % ("[", "]"), "null")],
)
def test_such_an_entry_at_the_end_stops_no_write(ready: Terminal, folder: Path, details: str, seal: str) -> None:
    """The next one is sealed over it, as over one without a seal. Red when a writer fails at what it reads there, and
    when details are read that are no texts: nested ones, which may be too deep to be written as JSON again."""
    with closing(sqlite3.connect(folder / "tenantry.db")) as file:
        columns = _COLUMNS.replace("details", f"'{details}', {seal}")
        file.executescript(f"{_UNLOCK} insert into audit select 2, {columns} from audit where number = 1")
    ready("group", "create", "acme")
    assert "entry 2: it has values that were never written" in ready("audit", "verify", fails=1).err


_UNLOCK = "pragma journal_mode = delete; drop trigger audit_is_not_updated; drop trigger audit_is_not_deleted;"


def test_entries_without_the_keys_are_told(ready: Terminal, folder: Path) -> None:
    """A user without the key file may write, and not verify. What he wrote is not proved, and fails unless it is
    allowed."""
    keys = folder / "tenantry.keys"
    keys.rename(folder / "away")
    ready("environment", "create", "staging", "--tag", "Testing")
    assert "there is no signing-key file" in ready("audit", "verify", fails=1).err
    (folder / "away").rename(keys)
    assert "entries without a seal: 1, the first is entry 2." in ready("audit", "verify", fails=1).err
    report = ready("audit", "verify", "--allow-unsealed", "--json").json()
    assert (report["proved"], report["sealed"], report["unsealed"]) == (False, 1, 1)


@pytest.mark.parametrize("taken", ["update audit set subject = 'x', seal = null", "delete from audit"])
def test_a_chain_that_was_begun_anew_is_not_proved(ready: Terminal, folder: Path, taken: str) -> None:
    """Who has no key sets the beginning of the chain behind what he changed, and the next honest write seals from
    there. It is right only where the operator knows that number. Red when ``verify`` takes it from the database."""
    ready("group", "create", "acme")
    with closing(sqlite3.connect(folder / "tenantry.db")) as file:
        file.executescript(f"{_UNLOCK} {taken}; update generation set audit_number = 2, audit_mac = null")
    ready("group", "create", "next")
    for options in ((), ("--allow-unsealed",), ("--begins-after", "1")):
        result = ready("audit", "verify", *options, fails=1)
        assert "proved: false" in result.out
        assert "the chain begins after entry 2, not after" in result.err
        assert "--begins-after 2" in result.err
    report = ready("audit", "verify", "--begins-after", "2", "--json").json()
    assert (report["proved"], report["begins_after"], report["sealed"]) == (True, 2, 1)
    assert report["before_the_chain"] == (0 if taken.startswith("delete") else 2)
    head = report["head"]
    assert ready("audit", "verify", "--from", head, "--json").json()["begins_after"] is None
    assert "give only one" in ready("audit", "verify", "--from", head, "--begins-after", "2", fails=2).err


def test_a_trail_without_a_seal_is_not_proved(ready: Terminal, folder: Path) -> None:
    """Also where entries without seals are allowed. Red when only those since the first seal count."""
    with closing(sqlite3.connect(folder / "tenantry.db")) as file:
        file.executescript(
            f"{_UNLOCK} update audit set seal = null; update generation set audit_number = 0, audit_mac = null"
        )
    assert "none of the 1 entries is sealed" in ready("audit", "verify", fails=1).err
    assert ready("audit", "verify", "--allow-unsealed", "--json").json()["proved"] is False


def test_the_key_file_of_an_option_seals(ready: Terminal, folder: Path) -> None:
    """Red when a command signs with the file that it was given and seals with none."""
    (folder / "tenantry.keys").rename(folder / "other.keys")
    ready("group", "create", "acme", "--keys", "other.keys")
    assert ready("audit", "verify", "--keys", "other.keys", "--json").json()["sealed"] == 2


def test_a_key_that_was_removed_proves_its_entries(ready: Terminal) -> None:
    """Red when its line is taken out of the file as a whole."""
    ready("group", "create", "acme")
    ready("keys", "rotate")
    ready("group", "rotate", "acme")
    ready("keys", "remove", "k1")
    assert [row["id"] for row in ready("keys", "list", "--json").json()] == ["k2"]
    assert ready("audit", "verify", "--json").json()["proved"]
    ready("keys", "rotate")
    assert [row["id"] for row in ready("keys", "list", "--json").json()] == ["k2", "k3"]


# --- --follow ---


_AT_A_TERMINAL = """
import signal
from tenantry.cli import main
signal.signal(signal.SIGINT, signal.default_int_handler)
main()
"""
"""As Ctrl-C reaches it: where these tests run in the background, their children begin with that signal ignored."""


@contextmanager
def following(folder: Path, *options: str) -> Iterator[tuple[subprocess.Popen[str], Path]]:
    """``tenantry audit --follow`` as a process; what it prints goes to a file."""
    out = folder / "followed"
    command = [sys.executable, "-c", _AT_A_TERMINAL, "audit", "--follow", *options]
    with out.open("w") as stdout, (folder / "told").open("w") as stderr:
        process = Popen(command, cwd=folder, stdout=stdout, stderr=stderr, text=True)
        try:
            yield process, out
        finally:
            process.kill()
            process.wait()


def test_following_shows_what_comes_through_an_outage(ready: Terminal, folder: Path) -> None:
    """In order and once each; an outage is told once on stderr, and its end. Ctrl-C ends it well and without a word.
    Red when the command ends with the store, or with a traceback."""
    with following(folder, "--json") as (process, out):
        _wait(lambda: out.read_text().count("\n") == 1)
        ready("group", "create", "a")
        _wait(lambda: out.read_text().count("\n") == 2)
        (folder / "tenantry.db").rename(folder / "away.db")
        _wait(lambda: "does not answer" in (folder / "told").read_text())
        (folder / "away.db").rename(folder / "tenantry.db")
        ready("group", "create", "b")
        ready("group", "create", "c")
        _wait(lambda: out.read_text().count("\n") == 4)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=120) == 0
        entries = [json.loads(line) for line in out.read_text().splitlines()]
        told = (folder / "told").read_text().splitlines()
    assert [entry["number"] for entry in entries] == [1, 2, 3, 4]
    assert [line.partition(";")[0] for line in told] == ["The store does not answer", "The store answers again."]


def test_following_up_to_a_limit_ends(ready: Terminal, folder: Path) -> None:
    """A table, from a number on. Red when the limit holds for each look."""
    with following(folder, "--after", "1", "--limit", "2", "--environment", "production") as (process, out):
        for name in ("a", "b", "c"):
            ready("group", "create", name)
        assert process.wait(timeout=120) == 0
        lines = out.read_text().splitlines()
    assert [line.split()[0] for line in lines] == ["number", "2", "3"]


WITHOUT_KEYS = (
    ("environment", "create", "staging", "--tag", "Testing"),
    ("environment", "set-grace", "staging", "5"),
    ("environment", "set-embedding", "staging", "https://app.example.com"),
    ("api-token", "create", "--environment", "production"),
    ("api-token", "revoke", "1", "--environment", "production"),
    ("data-source", "create", "w", "--environment", "production", "--no-check", "--url", "sqlite:///w.db"),
    ("data-source", "delete", "w", "--environment", "production"),
    ("dashboards", "preview", "orders", "--group", "acme", "--environment", "production"),
    ("environment", "set-viewer-usage", "staging", "on"),
    ("group", "suspend", "acme", "--environment", "production"),
    ("group", "resume", "acme", "--environment", "production"),
    ("editor", "link", "--author", "ann", "--url", "https://app.example.com/editor"),
    ("editor", "end", "--author", "ann"),
    ("usage", "--prune-before", "2026-01-01"),
    ("group", "delete", "acme", "--environment", "production", "--yes"),
)
"""Commands that write audit entries, and need the key file for nothing else."""


def test_an_empty_cell_is_a_dash(ready: Terminal) -> None:
    """Red when the entry of an author of all environments had a gap in place of its environment."""
    ready("editor", "link", "--author", "ann", "--url", "https://app.example.com/editor")
    assert re.split("  +", ready("audit").out.splitlines()[-1])[3:5] == [
        "-",
        "-",
    ]  # the request's id and the environment
    assert ready("audit", "--json").json()[-1]["environment"] == ""


def test_a_command_without_the_key_file_says_that_its_entry_has_no_seal(
    ready: Terminal, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where others are sealed, and only what writes. Red when a command that works without the keys adds an entry that
    ``audit verify`` will stop at, and says nothing."""
    note = "no key file: this command's audit entries are not sealed; set TENANTRY_KEYS, or give --keys"
    ready("group", "create", "acme")
    assert note not in ready("api-token", "create").err
    monkeypatch.setenv("TENANTRY_KEYS", str(folder / "none.keys"))
    for writes in WITHOUT_KEYS:
        done = ready(*writes)
        assert note in done.err, writes
        assert note not in done.out
    assert note not in ready("environment", "list").err
    (folder / "fresh").mkdir()
    monkeypatch.chdir(folder / "fresh")
    ready("migrate")
    assert note not in ready("environment", "create", "production", "--tag", "Customer").err, "nothing is sealed there"


def test_every_command_that_writes_takes_the_key_file(ready: Terminal, folder: Path) -> None:
    """And the chain holds. Red when ``editor link`` and others had no --keys."""
    (folder / "tenantry.keys").rename(folder / "other.keys")
    keys = ("--keys", "other.keys")
    ready("group", "create", "acme", *keys)
    for writes in WITHOUT_KEYS:
        assert "not sealed" not in ready(*writes, *keys).err, writes
    ready("audit", "verify", *keys)
