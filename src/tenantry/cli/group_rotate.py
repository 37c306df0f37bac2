from __future__ import annotations

import asyncio
import json
import signal
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import click

from tenantry.cli.group_import import failure, new_provisioner
from tenantry.cli.options import (
    PAGE,
    IntRange,
    as_name,
    author,
    choose_environment,
    dry_run_option,
    environment_option,
    grace_type,
    json_option,
    keys_option,
    settings,
    with_store,
)
from tenantry.cli.output import FAILED, note_dry_run, print_note, show_token
from tenantry.cli.progress import progress
from tenantry.cli.rotated_tokens import STDOUT, RotatedTokens, RotationStep, open_tokens
from tenantry.errors import GroupSuspended, TenantryError
from tenantry.groups import Environment
from tenantry.ports import Store
from tenantry.provisioning import MAX_ROTATED_TOGETHER, Rotated, RotationProvisioner, check_signed_by
from tenantry.tokens import mask_within
from tenantry.tokens.keys import SigningKeys

SUSPENDED_NOTE: Final = (
    "To rotate a suspended group, run `tenantry group resume ID --environment NAME` before, and `tenantry group "
    "suspend ID --environment NAME` after."
)


@click.command("rotate")
@click.argument("provided_id", type=as_name, metavar="[ID]", required=False)
@click.option("--all", "every", is_flag=True, help="Rotate all groups of the environment.")
@click.option(
    "--signed-by",
    metavar="KEY",
    help="Rotate all groups whose token the signing key KEY signed. Without --environment, this covers all "
    "environments.",
)
@click.option(
    "--after",
    type=IntRange(0),
    metavar="TEAM_ID",
    help="Rotate only groups whose team_id is higher than TEAM_ID. Use this option if the output of an interrupted run "
    "tells you to.",
)
@click.option(
    "--tokens-to",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Append the new tokens to FILE (mode 0600), one JSON object per line. '-' is stdout.",
)
@click.option("--yes", is_flag=True, help="Rotate many groups without asking.")
@click.option(
    "--grace-seconds",
    type=grace_type,
    help="How many seconds the old token stays valid; default: the grace period of the environment.",
)
@dry_run_option
@environment_option
@keys_option
@json_option
@with_store
async def rotate(
    store: Store,
    provided_id: str | None,
    every: bool,
    signed_by: str | None,
    after: int | None,
    tokens_to: Path | None,
    yes: bool,
    grace_seconds: int | None,
    dry_run: bool,
    environment: str | None,
    keys: str | None,
    as_json: bool,
) -> None:
    """Give a user group a new token, and print only that token on stdout. The old token is refused at once, or at the
    end of the grace period if there is one.

    With --all or --signed-by, give many groups new tokens. You can interrupt the command and continue later."""
    if (provided_id is not None) + every + (signed_by is not None) != 1:
        raise click.UsageError("give the ID of one group, --all or --signed-by KEY")
    if provided_id is None:
        ring = SigningKeys.from_file(settings(keys=keys).keys)
        check_signed_by(signed_by, ring)
        is_one = every or settings(environment=environment).environment is not None
        targets = [await choose_environment(store, environment)] if is_one else await store.environments.list()
        provisioner = new_provisioner(store, keys, dry_run=dry_run)
        run = _Rotations(store, provisioner, signed_by, grace_seconds, dry_run=dry_run, as_json=as_json)
        await run.rotate(targets, after or 0, tokens_to, ask=not (yes or dry_run), ring=ring)
        return
    if after is not None or tokens_to is not None or yes:
        raise click.UsageError("--after, --tokens-to and --yes need --all or --signed-by")
    target = await choose_environment(store, environment)
    made = await new_provisioner(store, keys, dry_run=dry_run).rotate_group(
        target, provided_id, grace_seconds=grace_seconds, author=author()
    )
    show_token(made, as_json=as_json, dry_run=dry_run)
    note_dry_run(dry_run)


class _Rotations:
    def __init__(
        self,
        store: Store,
        provisioner: RotationProvisioner,
        signed_by: str | None,
        grace_seconds: int | None,
        *,
        dry_run: bool,
        as_json: bool,
    ) -> None:
        self._store = store
        self._provisioner = provisioner
        self._signed_by = signed_by
        self._grace_seconds = grace_seconds
        self._dry_run = dry_run
        self._as_json = as_json
        self._counts = Counter[str](rotated=0, failed=0)
        self._is_suspended = False

    async def rotate(
        self, targets: Sequence[Environment], after: int, tokens_to: Path | None, *, ask: bool, ring: SigningKeys
    ) -> None:
        with open_tokens(None if self._dry_run else tokens_to) as tokens:
            step = tokens.unfinished
            by_name = {each.name: each for each in targets}
            begins = dict.fromkeys(by_name, after)
            if step is not None:
                if step.environment not in by_name or step.signed_by != self._signed_by:
                    which = "--all" if step.signed_by is None else f"--signed-by {step.signed_by}"
                    raise click.BadParameter(
                        f"an interrupted run was writing to {tokens_to}: finish that run first, with `tenantry group "
                        f"rotate {which}` and the same --tokens-to, for the environment {step.environment}, or name a "
                        "new file",
                        param_hint="--tokens-to",
                    )
                begins[step.environment] = max(after, step.last)
                print_note(f"This continues the run that was interrupted while it wrote {tokens_to}.")
            total = sum([await self._count(each, begins[each.name]) for each in targets])
            total += 0 if step is None else len(step.versions)
            if not total and not await self._is_known(ring):
                raise click.BadParameter(
                    f"the key file never had a key {self._signed_by}, and no user group has a token that "
                    f"{self._signed_by} signed: choose a key from `tenantry keys list`",
                    param_hint="--signed-by",
                )
            if ask and total:
                groups = "1 user group" if total == 1 else f"{total:,} user groups"
                ends = (
                    "the grace of their environment"
                    if self._grace_seconds is None
                    else f"{self._grace_seconds} seconds"
                )
                question = f"Give {groups} new tokens? The old tokens are refused after {ends}."
                click.confirm(question, abort=True, err=True)
            self._after = after
            try:
                with progress(total, "Groups") as advance, _cancelled_by_sigterm():
                    if step is not None:  # first, because the tokens of `step` must be written before `begin` is called
                        await self._rotate_step(by_name[step.environment], step, tokens)
                        advance(len(step.versions))
                    for target in targets:
                        await self._rotate_all(target, begins[target.name], tokens, advance)
                tokens.end()
            except BaseException:
                self._note_rest(tokens_to)
                raise
        self._end(is_in_file=self._signed_by in ring.ids)

    async def _is_known(self, ring: SigningKeys) -> bool:
        signed_by = self._signed_by
        if signed_by is None or signed_by in {*ring.ids, *ring.audit_keys}:
            return True
        return signed_by in await self._store.environments.count_tokens()

    async def _rotate_all(
        self, target: Environment, begin: int, tokens: RotatedTokens, advance: Callable[[int], None]
    ) -> None:
        while groups := await self._store.groups.list(
            target, after=begin, limit=MAX_ROTATED_TOGETHER, signed_by=self._signed_by
        ):
            begin = groups[-1].team_id
            versions = {each.provided_id: each.token_version for each in groups}
            step = RotationStep(target.name, self._signed_by, begin, versions)
            tokens.begin(step)
            await self._rotate_step(target, step, tokens)
            advance(len(groups))

    async def _rotate_step(self, target: Environment, step: RotationStep, tokens: RotatedTokens) -> None:
        rotations = await self._provisioner.rotate_groups(
            target, step.versions, signed_by=self._signed_by, grace_seconds=self._grace_seconds, author=author()
        )
        tokens.write("".join(line + "\n" for each in rotations if (line := self._report(each)) is not None))
        self._after = step.last

    def _note_rest(self, tokens_to: Path | None) -> None:
        in_file = tokens_to not in (None, STDOUT)
        how = "run the command again" if in_file or self._signed_by is not None else f"add --after {self._after}"
        print_note(f"{self._counts['rotated']:,} rotated. To continue, {how}.")
        if in_file:
            print_note(
                f"To continue in another folder, move {tokens_to} and {tokens_to}.unfinished there. A new file would "
                "not get all tokens of this run."
            )
        if tokens_to == STDOUT:
            print_note(
                "Append the output of the next run (>> FILE): it does not repeat the tokens that are already printed."
            )
            print_note("If the token of a rotated group is missing: tenantry group get ID --token")

    async def _count(self, target: Environment, after: int) -> int:
        counted = 0
        while page := await self._store.groups.list(target, after=after, limit=PAGE, signed_by=self._signed_by):
            counted, after = counted + len(page), page[-1].team_id
        return counted

    def _report(self, rotated: Rotated) -> str | None:
        group, result = rotated
        named = {"environment": group.environment.name, "team_id": group.team_id, "user_group_id": group.provided_id}
        if isinstance(result, TenantryError):
            self._counts["failed"] += 1
            self._is_suspended |= isinstance(result, GroupSuspended)
            error = {"code": result.code, "message": result.message}
            line = json.dumps({**named, "error": error}, ensure_ascii=False)
            if self._as_json:
                click.echo(mask_within(line))
            else:
                named_group = f"{mask_within(group.provided_id)} ({group.environment.name})"
                print_note(f"{named_group}: {failure(result)}")
            return None
        self._counts["rotated"] += 1
        return json.dumps({**named, "token": result.token}, ensure_ascii=False)

    def _end(self, *, is_in_file: bool) -> None:
        if self._as_json:
            click.echo(json.dumps({"success": 1, "summary": self._counts}))
        print_note(", ".join(f"{number:,} {name}" for name, number in self._counts.items()))
        note_dry_run(self._dry_run)
        if self._is_suspended and self._signed_by is not None:
            print_note(SUSPENDED_NOTE)
            if is_in_file:
                print_note(f"Or refuse all tokens of this key: tenantry keys remove {self._signed_by} --force")
        if self._counts["failed"]:
            sys.exit(FAILED)


@contextmanager
def _cancelled_by_sigterm() -> Iterator[None]:
    task, loop = asyncio.current_task(), asyncio.get_running_loop()
    if task is not None:
        loop.add_signal_handler(signal.SIGTERM, task.cancel)
    try:
        yield
    except asyncio.CancelledError:
        raise click.Abort from None
    finally:
        loop.remove_signal_handler(signal.SIGTERM)
