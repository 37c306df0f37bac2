"""``tenantry group sync``: the groups of an environment become those of a file, and none is deleted unasked."""

from __future__ import annotations

import ast
import asyncio
import inspect
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from engines.warm_python import Popen
from tenantry.backends.sql import SQLStore
from tenantry.cli import groups_file as module
from tenantry.groups import MOMENT_RULE
from tenantry.provisioning import limits as limits_module
from tenantry.provisioning.http.operations import MESSAGES
from tests.cli.conftest import Terminal
from tests.cli.test_bulk_serve import caller as caller

YAML = """\
# What we sell to whom.
groups:
  acme:
    name: Acme Ltd
    properties:
      region: eu
      plan: pro
  globex:
    properties: {region: us, seats: 5}
    expires_at: 2031-01-31T23:59:59Z
  initech:
"""


@pytest.fixture
def file(folder: Path) -> Path:
    path = folder / "groups.yaml"
    path.write_text(YAML)
    return path


def groups(terminal: Terminal) -> list[str]:
    return [group["id"] for group in terminal("group", "list", "--json").json()]


def test_a_file_becomes_groups(ready: Terminal, file: Path) -> None:
    """A dry run shows it and writes nothing; the sync does it; the same file again changes nothing. Red when the dry
    run uses the provisioner that writes."""
    tried = ready("group", "sync", str(file), "--dry-run")
    assert tried.out.splitlines() == ["+ acme", "+ globex", "+ initech"]
    assert tried.err == "3 to create, 0 to change, 0 unchanged\n"
    assert groups(ready) == []
    done = ready("group", "sync", str(file))
    assert done.out == tried.out
    assert done.err == "3 created, 0 changed, 0 unchanged\n"
    shown = ready("group", "get", "globex", "--json").json()
    assert shown["properties"] == {"region": "us", "seats": 5}
    assert shown["expires_at"] == "2031-01-31T23:59:59+00:00"
    entries = len(ready("audit", "--json").json())
    again = ready("group", "sync", str(file))
    assert (again.out, again.err) == ("", "0 created, 0 changed, 3 unchanged\n")
    assert len(ready("audit", "--json").json()) == entries


def test_what_differs_is_shown_field_by_field(ready: Terminal, file: Path) -> None:
    """Before and after, of each property; a field that the file does not name stays, and one that it names is replaced
    whole. Red when the file is merged."""
    ready("group", "create", "acme", "--name", "Acme", "--property", "plan=free", "--property", "old=1")
    ready("group", "create", "globex", "--property", "region=us", "--property", "seats=5", "--name", "Globex")
    tried = ready("group", "sync", str(file), "--dry-run", "--json").json()
    assert tried == {
        "create": ["initech"],
        "change": [
            {
                "id": "acme",
                "fields": {
                    "name": {"from": "Acme", "to": "Acme Ltd"},
                    "properties.plan": {"from": "free", "to": "pro"},
                    "properties.old": {"from": 1},
                    "properties.region": {"to": "eu"},
                },
            },
            {"id": "globex", "fields": {"expires_at": {"from": None, "to": "2031-01-31T23:59:59+00:00"}}},
        ],
        "unchanged": 0,
        "not_in_file": [],
        "data_sources": [],
        "dry_run": True,
        "deleted": 0,
        "failed": [],
    }
    lines = ready("group", "sync", str(file)).out.splitlines()
    assert lines[1] == (
        '~ acme  name: "Acme" -> "Acme Ltd"; properties.plan: "free" -> "pro"; '
        'properties.old: removed; properties.region: "eu", new'
    )
    assert ready("group", "get", "acme", "--json").json()["properties"] == {"region": "eu", "plan": "pro"}
    assert ready("group", "get", "globex", "--json").json()["name"] == "Globex"


def test_nothing_is_deleted_without_prune(ready: Terminal, file: Path) -> None:
    """The groups that the file does not have are named, and stay. With --prune it says how many and asks; no answer, as
    without a terminal, deletes and writes nothing. Red when the question comes after the writes."""
    for name in ("old", "older"):
        ready("group", "create", name)
    kept = ready("group", "sync", str(file))
    assert "  old  is not in the file and stays" in kept.out
    assert kept.err.endswith("2 not in the file: --prune deletes them\n")
    file.write_text(YAML.replace("Acme Ltd", "Acme Inc"))
    tried = ready("group", "sync", str(file), "--prune", "--dry-run")
    assert tried.out.splitlines() == ['~ acme  name: "Acme Ltd" -> "Acme Inc"', "- old", "- older"]
    assert "2 to delete" in tried.err
    for given in ("", "n\n"):
        refused = ready("group", "sync", str(file), "--prune", given=given, fails=1)
        assert "Delete 2 of the 5 user groups of production?" in refused.err
    assert ready("group", "get", "acme", "--json").json()["name"] == "Acme Ltd"
    assert {"old", "older"} <= set(groups(ready))
    done = ready("group", "sync", str(file), "--prune", "--yes")
    assert "2 deleted" in done.err
    assert sorted(groups(ready)) == ["acme", "globex", "initech"]
    assert (
        "Delete 1 of"
        in ready(
            "group",
            "sync",
            _lines(file, {"user_group_id": "acme"}, {"user_group_id": "globex"}),
            "--prune",
            given="y\n",
        ).err
    )
    assert sorted(groups(ready)) == ["acme", "globex"]


def test_many_that_stay_are_counted(ready: Terminal, file: Path) -> None:
    """Red when 10,000 groups that stay are 10,000 lines, and when --prune does not name each that it deletes."""
    lines = "".join(json.dumps({"user_group_id": f"old-{number:04}"}) + "\n" for number in range(1023))
    ready("group", "import", "-", given=lines)
    stay = [line for line in ready("group", "sync", str(file)).out.splitlines() if line.startswith("  ")]
    assert stay[:20] == [f"  old-{number:04}  is not in the file and stays" for number in range(20)]
    assert stay[20:] == ["  1,003 more user groups are not in the file and stay"]
    assert ready("group", "sync", str(file), "--prune", "--dry-run").out.count("- old-") == 1023


def test_what_is_refused_fails_alone_and_nothing_is_pruned(ready: Terminal, file: Path) -> None:
    """A data source that there is not: told in the dry run, too. The other groups are done, and what would be deleted
    stays. Red when the prune does not look at failures."""
    ready("group", "create", "old")
    file.write_text(YAML.replace("initech:", "initech: {mapping: {main: none}}"))
    tried = ready("group", "sync", str(file), "--dry-run", fails=1)
    assert "initech: mapping/main: there is no data source 'none'" in tried.err
    tried = ready("group", "sync", str(file), "--prune", "--dry-run", fails=1)
    assert tried.err.endswith("1 failed, 1 not to delete, because others failed\n"), "as the sync itself"
    done = ready("group", "sync", str(file), "--prune", "--yes", fails=1)
    assert done.err.endswith("2 created, 0 changed, 0 unchanged, 1 failed, 1 not deleted, because others failed\n")
    assert sorted(groups(ready)) == ["acme", "globex", "old"]


def _lines(file: Path, *lines: Any) -> str:
    path = file.with_name("groups.ndjson")
    path.write_text("".join((each if isinstance(each, str) else json.dumps(each)) + "\n" for each in lines))
    return str(path)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", ["groups.yaml:1:1: a file of groups needs the key `groups`", "fix: write `groups:`"]),
        ("groups:\n", ["groups.yaml:1:1: groups must be a mapping"]),
        ("group:\n  a: {}\n", ["a file of groups needs the key `groups`"]),
        ("groups: {}\nprune: true\n", ["groups.yaml:2:1: there is no key prune"]),
        ("groups: {}\ndata_source: {}\n", ["groups.yaml:2:1: there is no key data_source", "mean data_sources?"]),
        ("groups: {}\ndata_sources: [a]\n", ["groups.yaml:2:15: data_sources must be a mapping"]),
        ("groups: {}\ndata_sources: {a: {tables: {}}}\n", ["groups.yaml:2:19: a declares no table"]),
        ("groups: {}\ndata_sources: {a: {tables: {orders: 5}}}\n", ["groups.yaml:2:29: tables.orders: is not a rule"]),
        ("groups: {}\ndata_sources: {a: {uri: b}}\n", ["groups.yaml:2:20: uri: is not a key of a declaration"]),
        ("groups:\n  acme:\n    nam: x\n", ["groups.yaml:3:5: nam: there is no such field", "did you mean name?"]),
        ("groups:\n  acme:\n    name: 42\n", ["groups.yaml:3:11: name: this must be a string", "put it into quotes"]),
        ("groups:\n  acme: 5\n", ["groups.yaml:2:9: a group must be a mapping"]),
        ("groups:\n  acme:\n    properties: [1]\n", ["groups.yaml:3:17: properties: this must be an object"]),
        (
            "groups:\n  acme:\n    properties:\n      a: 1\n      b: .inf\n",
            ["groups.yaml:5:10: properties.b: this number is too large"],
        ),
        ("groups:\n  acme:\n    mapping: {main: 1}\n", ["groups.yaml:3:21: mapping.main: this must be a string"]),
        ("groups:\n  acme:\n    expires_at: soon\n", ["groups.yaml:3:17: expires_at: this must be an RFC 3339 time"]),
        (
            "groups:\n  acme: {}\n  acme: {}\n",
            ["groups.yaml:3:3: the key acme appears twice", "first at groups.yaml:2:3"],
        ),
        ('groups:\n  "": {}\n', ["groups.yaml:2:3: user_group_id: "]),
        ("groups:\n  acme: {user_group_id: b}\n", ["groups.yaml:2:10: the key above the group is already its id"]),
        ("groups:\n  acme: {name: [\n", ["this is not YAML"]),
        ("groups:\n\tacme: {}\n", ["indent with spaces"]),
        ("groups:\n  a: {nam: 1}\n  b: {}\n  c: {plan: 1}\n", ["groups.yaml:2:7", "groups.yaml:4:7"]),
    ],
)
def test_a_wrong_file_is_told_with_its_places(ready: Terminal, file: Path, text: str, told: list[str]) -> None:
    """File, line, column, field, rule and fix; all of them at once, and nothing is written."""
    file.write_text(text)
    done = ready("group", "sync", str(file), fails=1)
    for each in told:
        assert each in done.err.replace(f"{file.parent}/", ""), done.err
    assert "[invalid_groups_file]" in done.err
    assert groups(ready) == []


def test_a_wrong_line_of_a_file_of_lines(ready: Terminal, file: Path) -> None:
    """``.ndjson`` is a group a line; an id that comes twice is a mistake here, where the whole is declared."""
    lines = _lines(file, {"user_group_id": "a"}, "nonsense", {"user_group_id": "a"}, {"user_group_id": "b", "plan": 1})
    done = ready("group", "sync", lines, fails=1).err
    assert "groups.ndjson:2: the line is not JSON" in done
    assert "groups.ndjson:3: user_group_id: line 1 has the same id" in done
    assert "groups.ndjson:4: plan: there is no such field\n  fix: One of: name, " in done
    assert groups(ready) == []
    assert "not UTF-8 at byte 3" in _undecodable(ready, file)


def test_each_limit_has_a_fix(ready: Terminal, file: Path) -> None:
    """Each sentence that a group may be refused with, as the sources have it, leads to a fix of its own. Red when one
    is added or changed and the command would say no more than that something else is to be written."""
    limits = ast.parse(inspect.getsource(limits_module))
    raised = [each for each in ast.walk(limits) if isinstance(each, ast.Call) and "InvalidBody" in ast.dump(each.func)]
    sentences = ["".join(ast.literal_eval(part) for part in _texts(each.args[0])) for each in raised]
    assert len(sentences) > 12
    for sentence in (*sentences, *MESSAGES.values(), MOMENT_RULE):
        assert not sentence or module._fix(["properties", "a"], sentence) != module.OTHER_FIX, sentence
    lines = _lines(
        file,
        {"name": "A"},
        {"user_group_id": "a" * 256},
        {"user_group_id": "b", "expires_at": "2031-01-31"},
        "[]",
        "x" * 65537,
    )
    fixes = [line for line in ready("group", "sync", lines, fails=1).err.splitlines() if "fix:" in line]
    expected = [
        "give the group its id",
        "shorten it",
        "write a time such as",
        "write one JSON object",
        "remove values that no",
    ]
    assert len(fixes) == len(expected)
    for fix, wanted in zip(fixes, expected, strict=True):
        assert wanted in fix


def _texts(node: ast.expr) -> list[ast.expr]:
    """The texts in a literal, without what is filled in."""
    parts = node.values if isinstance(node, ast.JoinedStr) else [node]
    return [part for part in parts if isinstance(part, ast.Constant)]


@pytest.mark.parametrize("lines", [(), ("", "  ")])
def test_a_file_of_no_lines_is_an_export_that_failed(ready: Terminal, file: Path, lines: tuple[str, ...]) -> None:
    """It is refused, whatever it is asked for. Red when it declares that there is no group: ``--prune`` would delete
    each. In YAML ``groups: {}`` says that."""
    ready("group", "create", "old")
    done = ready("group", "sync", _lines(file, *lines), "--prune", "--yes", fails=1).err
    assert "groups.ndjson: the file has no group" in done
    assert "[invalid_groups_file]" in done
    assert groups(ready) == ["old"]
    file.write_text("groups: {}\n")
    ready("group", "sync", str(file), "--prune", "--yes")
    assert groups(ready) == []


def _undecodable(ready: Terminal, file: Path) -> str:
    file.write_bytes(b"a: \xff")
    return ready("group", "sync", str(file), fails=1).err


@pytest.mark.slow
def test_a_sync_that_was_killed_is_run_again(caller: str, folder: Path, terminal: Terminal) -> None:
    """kill -9 in the middle, on each store: what is there is whole, the next run makes the rest, and no group is there
    twice."""
    number = 4_000
    lines = _lines(folder / "x", *({"user_group_id": f"g{each}", "properties": {"n": each}} for each in range(number)))
    url, pruned = terminal_database(folder), 0
    nobody = folder / "nobody.yaml"
    nobody.write_text("groups: {}\n")
    for _ in range(5):  # on a busy machine it may be done with all of them before it is killed
        process = Popen(
            [sys.executable, "-m", "tenantry", "group", "sync", lines], cwd=folder, stdout=subprocess.DEVNULL
        )
        asyncio.run(wait_for_a_group(url, process))
        process.kill()
        process.wait(120)
        made = {group["id"]: group for group in terminal("group", "list", "--json").json()}
        if len(made) < number:
            break
        terminal("group", "sync", str(nobody), "--prune", "--yes")
        pruned += number
    assert 0 < len(made) < number
    assert {group["revision"] for group in made.values()} == {1}
    done = terminal("group", "sync", lines)
    assert done.err == f"{number - len(made)} created, 0 changed, {len(made)} unchanged\n"
    assert len(groups(terminal)) == number
    created = [entry for entry in terminal("audit", "--json").json() if entry["action"] == "group.created"]
    assert len(created) == pruned + number


def terminal_database(folder: Path) -> str:
    import os

    return os.environ.get("TENANTRY_DATABASE", f"sqlite:///{folder / 'tenantry.db'}")


async def wait_for_a_group(url: str, process: subprocess.Popen[bytes]) -> None:
    """Until the first is there, or the process has ended."""
    store = SQLStore(url)
    environment = await store.environments.get("production")
    assert environment is not None
    ends = time.monotonic() + 120
    while process.poll() is None and not await store.groups.list(environment, limit=1):
        assert time.monotonic() < ends
        await asyncio.sleep(0.01)
    await store.aclose()
