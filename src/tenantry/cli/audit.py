"""``tenantry audit``: who did what, and when."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Any

import click

from tenantry.cli.options import environment_option, json_option, settings, with_store
from tenantry.cli.output import RowPrinter
from tenantry.errors import UnknownEnvironment
from tenantry.groups import AuditEntry
from tenantry.ports import AuditTrail, Store

PAGE = 500


@click.command()
@environment_option
@click.option(
    "--after", type=click.IntRange(0, 2**63 - 1), default=0, metavar="N", help="Only entries with a number above N."
)
@click.option("--limit", type=click.IntRange(1), metavar="N", help="At most N entries; default: all.")
@json_option
@with_store
async def audit(store: Store, environment: str | None, after: int, limit: int | None, as_json: bool) -> None:
    """Show who did what, and when: every provisioning action, oldest first. No secret is ever in it."""
    name = settings(environment=environment).environment
    if name is not None and await store.environment(name) is None:
        raise UnknownEnvironment(f"there is no environment {name!r}: see tenantry environment list")
    with RowPrinter(as_json=as_json) as printer:
        async for page in _pages(store, name, after, limit):
            printer.add([_row(each) for each in page])


async def _pages(
    trail: AuditTrail, name: str | None, after: int, limit: int | None
) -> AsyncIterator[Sequence[AuditEntry]]:
    left = limit
    while left is None or left > 0:
        wanted = PAGE if left is None else min(PAGE, left)
        page = await trail.audit(environment=name, after=after, limit=wanted)
        yield page
        if len(page) < wanted:
            return
        after = page[-1].number
        left = None if left is None else left - len(page)


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
