from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from io import UnsupportedOperation
from stat import S_ISREG
from typing import IO, TYPE_CHECKING, Any, Final

import click

from tenantry.cli.options import (
    author,
    choose_environment,
    environment_option,
    json_option,
    keys_option,
    queries_option,
    settings,
    with_store,
)
from tenantry.cli.output import FAILED, print_note, printable
from tenantry.cli.progress import progress
from tenantry.errors import StoreUnavailable, TenantryError
from tenantry.groups import Environment
from tenantry.ports import Store
from tenantry.provisioning import Deadline, RotationProvisioner, UpsertProvisioner
from tenantry.tokens import mask_within
from tenantry.tokens.keys import SigningKeys

if TYPE_CHECKING:
    from tenantry.provisioning.http import Line

_PART: Final = 64 * 1024
"""Bytes per read."""


@click.command("import")
@click.argument("file", type=click.File("rb"), metavar="FILE")
@click.option(
    "--replace",
    is_flag=True,
    help="Let the properties and the mapping in a line replace those of the group. Without this option, they are "
    "merged into those of the group.",
)
@click.option("--dry-run", is_flag=True, help="Change nothing; report what each line would do.")
@click.option("--tokens", is_flag=True, help="With --json: include the groups' tokens.")
@queries_option
@environment_option
@keys_option
@json_option
@with_store
async def import_(
    store: Store,
    file: IO[bytes],
    replace: bool,
    dry_run: bool,
    tokens: bool,
    queries: str | None,
    environment: str | None,
    keys: str | None,
    as_json: bool,
) -> None:
    """Create or change the user groups in FILE, which has one JSON object per line. If FILE is -, the groups are read
    from stdin. You can safely run the command again."""
    if tokens and not as_json:
        raise click.UsageError("--tokens needs --json")
    from tenantry.provisioning.http import LineSplitter  # imports pydantic, which other group commands do not need

    target = await choose_environment(store, environment)
    run = _Import(new_provisioner(store, keys, queries, dry_run=dry_run), target, replace, as_json, tokens)
    splitter = LineSplitter()
    size = _size(file)
    with progress(size, "Groups") as advance:
        while part := file.read(_PART):
            lines = 0
            for line in splitter.feed(part):
                await run.add(line)
                lines += 1
            advance(lines if size is None else len(part))
        for line in splitter.end():
            await run.add(line)
        await run.write()
    summary = run.counts.summary()
    if as_json:
        click.echo(json.dumps({"success": 1, "summary": summary}))
    print_note(
        ", ".join(f"{count} {_outcome_text(name, dry_run)}" for name, count in summary.items() if name != "lines")
    )
    if not summary["lines"]:
        raise click.UsageError("the file has no groups: write one JSON object per line")
    if summary["failed"]:
        sys.exit(FAILED)


def new_provisioner(
    store: Store, keys: str | None, queries: str | None = None, *, dry_run: bool, tries_queries: bool = False
) -> RotationProvisioner:
    """Return a provisioner with the keys of the settings. With ``dry_run``, it writes nothing. With ``tries_queries``,
    if the settings name a folder of queries, it refuses every update that breaks a saved query."""
    chosen = settings(keys=keys, queries=queries)
    signing = SigningKeys.from_file(chosen.keys)
    from tenantry.server import read_contract  # imports Starlette and SQLAlchemy, which `--help` does not need

    contract = read_contract(chosen, refuses=True if tries_queries and chosen.queries is not None else None)
    if not dry_run:
        return RotationProvisioner(store, signing, contract=contract)
    from tenantry.provisioning.http import DryRunProvisioner

    return DryRunProvisioner(store, signing, deadline=Deadline(), contract=contract)


def _outcome_text(outcome: str, dry_run: bool) -> str:
    if not dry_run:
        return outcome
    return "would fail" if outcome == "failed" else f"would be {outcome}"


class _Import:
    def __init__(
        self, provisioner: UpsertProvisioner, environment: Environment, replace: bool, as_json: bool, tokens: bool
    ) -> None:
        from tenantry.provisioning.http import UpsertBatch, UpsertCounts, read_line

        self._provisioner = provisioner
        self._environment = environment
        self._replace = replace
        self._as_json = as_json
        self._tokens = tokens
        self._author = author()
        self._read, self._new_batch = read_line, UpsertBatch
        self._batch = UpsertBatch()
        self.counts = UpsertCounts()

    async def add(self, line: Line) -> None:
        read = self._read(line, replace=self._replace)
        if not self._batch.takes(read):
            await self.write()
        self._batch.add(read)

    async def write(self) -> None:
        batch, self._batch = self._batch, self._new_batch()
        results = await batch.write(self._provisioner, self._environment, merge=not self._replace, author=self._author)
        self.counts.add(results)
        for line in batch.report(results):
            self._print(line)
        for each in results:
            if isinstance(each, StoreUnavailable):
                raise each

    def _print(self, line: Mapping[str, Any]) -> None:
        if self._as_json:
            if not self._tokens and "user_group" in line:
                shown = {name: value for name, value in line["user_group"].items() if name != "token"}
                line = {**line, "user_group": shown}
            text = json.dumps(line, ensure_ascii=False, separators=(",", ":"))
            click.echo(text if self._tokens else mask_within(text))
        elif "error" in line:
            click.echo(f"line {line['line']}: {failure(line['error'])}")


def failure(error: Mapping[str, Any] | TenantryError) -> str:
    if isinstance(error, TenantryError):
        error = {"code": error.code, "message": error.message, "field": error.field}
    field = f"{error['field'].strip('/')}: " if error.get("field") else ""
    return printable(mask_within(f"{field}{error['message']} [{error['code']}]"))


def _size(file: IO[bytes]) -> int | None:
    try:
        found = os.fstat(file.fileno())
    except (OSError, UnsupportedOperation):  # in tests, stdin has no file descriptor
        return None
    return found.st_size if S_ISREG(found.st_mode) else None
