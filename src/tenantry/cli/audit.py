from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from typing import Any, Final

import click
from click.core import ParameterSource

from tenantry.backends.audit import ChainCheck, read_head, write_head
from tenantry.cli.options import (
    PAGE,
    IntRange,
    database_option,
    environment_filter_option,
    get_environment,
    json_option,
    keys_option,
    settings,
    with_store,
)
from tenantry.cli.output import JsonLinePrinter, RowPrinter, print_note, print_record, print_value
from tenantry.errors import AuditBroken, StoreUnavailable
from tenantry.groups import AuditEntry, ChainHead
from tenantry.ports import AuditTrail, Store

FOLLOW_SECONDS: Final = 1.0
"""Seconds that ``--follow`` waits between two reads."""
_LOWEST: Final = -(2**63)
"""Lower than the number of any audit entry."""


def _as_head(value: str) -> ChainHead:
    head = read_head(value)
    if head is None:
        raise click.BadParameter(
            "write the head as `tenantry audit head` prints it: a number, a dash and 64 hexadecimal digits"
        )
    return head


@click.group(invoke_without_command=True)
@environment_filter_option
@click.option(
    "--after", type=IntRange(0, 2**63 - 1), default=0, metavar="N", help="Only entries with a number above N."
)
@click.option("--limit", type=IntRange(1), metavar="N", help="At most N entries; default: all.")
@click.option(
    "--follow",
    is_flag=True,
    help="After the existing entries, print new ones as they arrive. With --json, print one object per line.",
)
@json_option
@database_option
@click.pass_context
def audit(context: click.Context, /, **options: Any) -> None:
    """Show the audit trail, oldest entry first: who did what, and when. The output contains no secrets."""
    if context.invoked_subcommand is None:
        _show(**options)
    elif given := [name for name in options if context.get_parameter_source(name) is ParameterSource.COMMANDLINE]:
        name = given[0].replace("as_json", "json")
        raise click.UsageError(
            f"write --{name} after {context.invoked_subcommand}, not before it. If {context.invoked_subcommand} has no "
            f"such option, leave --{name} out"
        )


@with_store
async def _show(
    store: Store, environment: str | None, after: int, limit: int | None, follow: bool, as_json: bool
) -> None:
    name = settings(environment=environment).environment
    if name is not None:
        await get_environment(store, name)
    pages = _followed(store.audit, name, after, limit) if follow else _pages(store.audit, name, after, limit)
    printing = JsonLinePrinter() if follow and as_json else RowPrinter(as_json=as_json)
    with suppress(asyncio.CancelledError), printing as printer:  # Ctrl-C ends --follow
        async for page in pages:
            printer.add([_row(each) for each in page])


async def _pages(
    trail: AuditTrail, name: str | None, after: int, limit: int | None
) -> AsyncIterator[Sequence[AuditEntry]]:
    left = limit
    while left is None or left > 0:
        wanted = PAGE if left is None else min(PAGE, left)
        page = await trail.list(environment=name, after=after, limit=wanted)
        yield page
        if len(page) < wanted:
            return
        after = page[-1].number
        left = None if left is None else left - len(page)


async def _followed(
    trail: AuditTrail, name: str | None, after: int, limit: int | None
) -> AsyncIterator[Sequence[AuditEntry]]:
    """Yield pages of entries, then new entries as they are written. If the store is unavailable, retry."""
    # Entries are numbered in the order of their commits, so reading on after the last number misses none.
    left, away = limit, False
    while left is None or left > 0:
        try:
            async for page in _pages(trail, name, after, left):
                if page:
                    yield page
                    after = page[-1].number
                    left = None if left is None else left - len(page)
                if away:
                    away = False
                    print_note("The store answers again.")
        except StoreUnavailable as error:
            if not away:
                away = True
                print_note(f"The store does not answer; trying again: {error.message}")
        if left is None or left > 0:
            await asyncio.sleep(FOLLOW_SECONDS)


def _row(each: AuditEntry) -> dict[str, Any]:
    return {
        "number": each.number,
        "at": each.at.isoformat(timespec="seconds"),
        "author": each.author.name,
        "request_id": each.author.request_id,
        "environment": each.environment,
        "action": each.action,
        "subject": each.subject,
        "details": each.details,
    }


@audit.command("head")
@json_option
@with_store
async def head(store: Store, as_json: bool) -> None:
    """Print the head of the audit trail: the number and the seal of the newest sealed entry. Keep the head on another
    machine. Then `verify --expect` can detect that somebody has cut off the end of the trail."""
    found = await store.audit.head()
    if found is None:
        raise AuditBroken("no entry is sealed yet: give the key file to the programs that write to this store")
    print_value(write_head(found), {"number": found.number}, field="head", as_json=as_json)


@audit.command("verify")
@keys_option
@click.option(
    "--expect",
    "expected",
    type=_as_head,
    multiple=True,
    metavar="HEAD",
    help="A head that `audit head` printed earlier; repeatable. The check fails if the trail does not contain it.",
)
@click.option(
    "--from",
    "start",
    type=_as_head,
    metavar="HEAD",
    help="Begin the check after this head. Use this option if older entries were deleted.",
)
@click.option(
    "--begins-after",
    type=IntRange(0, 2**63 - 1),
    metavar="N",
    help="Expect the chain of seals to begin after entry N, so the entries up to N have no seal. "
    "Default: 0, as in a new store.",
)
@click.option(
    "--allow-unsealed",
    is_flag=True,
    help="Accept entries without a seal, such as those that a program without the key file has added.",
)
@json_option
@with_store
async def verify(
    store: Store,
    keys: str | None,
    expected: tuple[ChainHead, ...],
    start: ChainHead | None,
    begins_after: int | None,
    allow_unsealed: bool,
    as_json: bool,
) -> None:
    """Check, with the key file, that no entry of the audit trail was changed, removed, inserted or moved. If the check
    fails, name the first entry that is wrong and exit with 1."""
    from tenantry.tokens.keys import SigningKeys

    if start is not None and begins_after is not None:
        raise click.UsageError("--from and --begins-after both set the start of the check: give only one")
    ring = SigningKeys.from_file(settings(keys=keys).keys)
    noted = await store.audit.head()
    heads = [each for each in (*expected, noted) if each is not None and each != start]
    check = ChainCheck(ring.audit_keys, heads, head=start)
    async for page in _pages(store.audit, None, _LOWEST if start is None else start.number, None):
        for entry in page:
            check.add(entry)
    check.finish()
    broken, not_proved = _broken(check, begins_after or 0), _not_proved(check)
    print_record(_report(check, proved=not broken and not not_proved), as_json=as_json)
    if broken is not None:
        raise AuditBroken(broken)
    if not_proved is not None and not allow_unsealed:
        raise AuditBroken(not_proved)


def _broken(check: ChainCheck, begins_after: int) -> str | None:
    if check.fault is not None:
        return f"entry {check.fault.number}: {check.fault.reason}"
    found = check.begins_after
    if found is None or found == begins_after:
        return None
    return (
        f"the chain begins after entry {found}, not after {begins_after}: earlier entries cannot be checked, and "
        "anyone with write access to the database can restart the chain to hide a change. If you know that the chain "
        f"began there, for example because the store is older than the chain, check with --begins-after {found}"
    )


def _not_proved(check: ChainCheck) -> str | None:
    if check.unsealed:
        return (
            f"entries without a seal: {check.unsealed}, the first is entry {check.first_unsealed}. They were added "
            "without the key file, or their seals were removed. If programs without the key file write to this store, "
            "check with --allow-unsealed"
        )
    if check.before and not check.sealed:
        return f"none of the {check.before} entries is sealed, so they cannot be checked"
    return None


def _report(check: ChainCheck, *, proved: bool) -> dict[str, Any]:
    return {
        "proved": proved,
        "sealed": check.sealed,
        "unsealed": check.unsealed,
        "covered_by_no_seal": check.left_out,
        "before_the_chain": check.before,
        "begins_after": check.begins_after,
        "head": None if check.head is None else write_head(check.head),
        "first_bad": None if check.fault is None else check.fault.number,
    }
