"""``tenantry group import``: lines as in a bulk over HTTP, against the store itself."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tenantry.tokens import TOKEN_PATTERN
from tests.cli.conftest import Terminal


def write(folder: Path, *groups: Any, name: str = "groups.ndjson") -> str:
    path = folder / name
    path.write_text("".join((each if isinstance(each, str) else json.dumps(each)) + "\n" for each in groups))
    return str(path)


def test_lines_create_and_merge(ready: Terminal, folder: Path) -> None:
    """The counts are on stderr, stdout has what failed; the same file again changes nothing."""
    file = write(
        folder,
        {"user_group_id": "acme", "name": "Acme", "properties": {"region": "eu"}},
        {"user_group_id": "beta", "expires_at": "2031-01-31T23:59:59Z"},
    )
    done = ready("group", "import", file)
    assert done.out == ""
    assert done.err.splitlines()[-1] == "2 created, 0 updated, 0 unchanged, 0 failed"
    assert "2 unchanged" in ready("group", "import", file).err
    more = write(folder, {"user_group_id": "acme", "properties": {"plan": "pro"}}, name="more.ndjson")
    ready("group", "import", more)
    assert ready("group", "get", "acme", "--json").json()["properties"] == {"region": "eu", "plan": "pro"}
    ready("group", "import", more, "--replace")
    shown = ready("group", "get", "acme", "--json").json()
    assert (shown["name"], shown["properties"]) == ("Acme", {"plan": "pro"})
    assert ready("group", "get", "beta", "--json").json()["expires_at"] == "2031-01-31T23:59:59+00:00"
    entries = ready("audit", "--json").json()
    assert entries[-1]["author"].startswith("command line ")


def test_a_line_that_fails_is_named(ready: Terminal, folder: Path) -> None:
    """With its number, field and code; the others are done, and the exit code says so."""
    file = write(folder, "nonsense", {"user_group_id": "a"}, "", {"user_group_id": "b", "mapping": {"main": "none"}})
    done = ready("group", "import", file, fails=1)
    first, second = done.out.splitlines()
    assert first.startswith("line 1: the line is not JSON")
    assert first.endswith("[bad_json]")
    assert second.startswith("line 4: mapping/main: there is no data source 'none'")
    assert "1 created, 0 updated, 0 unchanged, 2 failed" in done.err


def test_stdin_and_json(ready: Terminal) -> None:
    """``-`` reads stdin; ``--json`` is the report of the HTTP interface, its tokens only on request. Red when the token
    is always printed."""
    given = '{"user_group_id": "acme"}\n{"user_group_id": ""}'
    done = ready("group", "import", "-", "--json", given=given, fails=1)
    made, failed, last = [json.loads(line) for line in done.out.splitlines()]
    assert (made["line"], made["result"], made["user_group"]["provided_id"]) == (1, "created", "acme")
    assert "token" not in made["user_group"]
    assert failed["error"]["code"] == "invalid_body"
    assert last["success"] == 1
    assert last["summary"] == {"lines": 2, "created": 1, "updated": 0, "unchanged": 0, "failed": 1}
    shown = ready("group", "import", "-", "--json", "--tokens", given=given, fails=1).out
    assert (
        json.loads(shown.splitlines()[0])["user_group"]["token"] == ready("group", "get", "acme", "--token").out.strip()
    )
    assert "--json" in ready("group", "import", "-", "--tokens", given=given, fails=2).err
    assert not TOKEN_PATTERN.search(done.out + done.err)


def test_a_dry_run(ready: Terminal, folder: Path) -> None:
    """Says what each would be, and writes nothing. Red when one would "be failed"."""
    file = write(folder, {"user_group_id": "a"}, {"user_group_id": ""})
    tried = ready("group", "import", file, "--dry-run", fails=1)
    assert "line 2: user_group_id: this must not be empty [invalid_body]" in tried.out
    assert tried.err.endswith("1 would be created, 0 would be updated, 0 would be unchanged, 1 would fail\n")
    assert ready("group", "list", "--json").json() == []


@pytest.mark.parametrize("given", ["", "\n \n"])
def test_an_empty_file(ready: Terminal, given: str) -> None:
    """Is wrong usage: an export may have failed."""
    assert "one JSON object per line" in ready("group", "import", "-", given=given, fails=2).err
