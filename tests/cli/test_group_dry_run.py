"""``tenantry group create|update|rotate|suspend|resume|delete|viewer revoke --dry-run``: what the command would do or
be refused for, and nothing written."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from tenantry.backends.sql import SQLStore
from tenantry.cli.group import group
from tenantry.tokens import TOKEN_PATTERN
from tests.cli.conftest import Terminal

NOTE = "dry run: nothing was changed"


def held(folder: Path) -> Any:
    """All that a write could leave: groups with their tokens and revisions, the audit trail, the list of changes."""

    async def read() -> Any:
        store = SQLStore(f"sqlite:///{folder / 'tenantry.db'}")
        try:
            environment = await store.environments.get("production")
            assert environment is not None
            groups = [
                await store.groups.get(environment, each.provided_id) for each in await store.groups.list(environment)
            ]
            return groups, await store.audit.list(), (await store.changes(None)).generation
        finally:
            await store.aclose()

    return asyncio.run(read())


def test_a_dry_run_shows_what_the_write_makes_and_writes_nothing(ready: Terminal, folder: Path) -> None:
    """Each is tried and then done: the group is the same but for the team_id and the token that there are not yet, and
    between the two the store holds what it held. Red when one writes, when one shows a token that was drawn for it, and
    when an update shows no group without --queries."""
    for given, unknown in (
        (("create", "acme", "--property", "region=eu", "--expires-at", "2099-01-31"), {"team_id": 0, "token": ""}),
        (("create", "acme", "--name", "Other"), {}),
        (("update", "acme", "--name", "Acme", "--property", "plan=pro", "--expires-at", "2099-12-31"), {}),
        (("update", "acme", "--property", "plan=null"), {}),
        (("update", "acme", "--property", "seats=5", "--replace", "--clear", "expires-at"), {}),
        (("rotate", "acme", "--grace-seconds", "60"), {"token": ""}),
        (("suspend", "acme"), {}),
        (("resume", "acme"), {}),
        (("delete", "acme"), {}),
    ):
        before = held(folder)
        tried = ready("group", *given, "--dry-run", "--json")
        plain = ready("group", *given, "--dry-run")
        assert held(folder) == before, given
        done = ready("group", *given, *(["--yes"] if given[0] == "delete" else []), "--json")
        assert tried.json() == {**done.json(), **unknown}
        assert tried.err.endswith(f"{NOTE}\n")
        assert plain.err.endswith(f"{NOTE}\n")
        assert NOTE not in done.err
        assert not TOKEN_PATTERN.search(plain.out + plain.err)
        shows_id = given[0] in {"suspend", "resume", "delete"}
        assert plain.out == "acme\n" if shows_id else "provided_id: acme\n" in plain.out


def test_each_command_that_writes_has_a_dry_run() -> None:
    """As docs/command-line.md says. Red for a new command of ``tenantry group`` without it."""
    found = {
        " ".join(path): "dry_run" in {each.name for each in command.params} for path, command in commands_of(group)
    }
    assert {name for name in found if not found[name]} == {"get", "list"}
    assert {"suspend", "viewer revoke", "import"} <= found.keys()


def commands_of(parent: click.Group) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    for name, command in parent.commands.items():
        if isinstance(command, click.Group):
            yield from (((name, *path), each) for path, each in commands_of(command))
        else:
            yield (name,), command


def test_a_dry_run_shows_from_when_a_viewer_is_revoked(ready: Terminal, folder: Path) -> None:
    ready("group", "create", "acme")
    before = held(folder)
    tried = ready("group", "viewer", "revoke", "acme", "ann", "--dry-run", "--json")
    assert tried.err.endswith(f"{NOTE}\n")
    assert held(folder) == before
    done = ready("group", "viewer", "revoke", "acme", "ann", "--json")
    assert tried.json().keys() == done.json().keys()
    assert tried.json()["revoked_before"] <= done.json()["revoked_before"]
    assert held(folder) != before


def test_a_dry_run_is_refused_as_the_write_is(ready: Terminal, folder: Path) -> None:
    """The same line on stderr and the same exit code. Red when a dry run passes over one of the checks."""
    ready("group", "create", "acme")
    before = held(folder)
    for given in (
        ("create", "new", "--map", "main=none"),
        ("create", "new", "--name", ""),
        ("update", "acme", "--map", "main=none"),
        ("update", "acme", "--name", ""),
        ("update", "nobody", "--name", "N"),
        ("rotate", "nobody"),
        ("suspend", "nobody"),
        ("resume", "nobody"),
        ("viewer", "revoke", "nobody", "ann"),
        ("delete", "nobody", "--yes"),
    ):
        tried, done = ready("group", *given, "--dry-run", fails=1), ready("group", *given, fails=1)
        assert (tried.out, tried.err) == (done.out, done.err), given
    assert held(folder) == before
    (folder / "tenantry.keys").unlink()
    for name in ("delete", "suspend"):
        assert ready("group", name, "acme", "--dry-run").out == "acme\n", "it needs no keys, as the write"
    assert "[invalid_keys]" in ready("group", "rotate", "acme", "--dry-run", fails=1).err
