from __future__ import annotations

import asyncio
import logging
import sys
from contextlib import suppress

import click

from tenantry.cli.doctor_store import (
    CheckResult,
    CheckState,
    check_keys,
    check_missing_file,
    check_store,
    check_stored_keys,
)
from tenantry.cli.options import WrongSettings, database_option, json_option, keys_option, settings
from tenantry.cli.output import FAILED, print_note, print_rows
from tenantry.errors import InvalidSettings, TenantryError


@click.command()
@database_option
@keys_option
@json_option
def doctor(database: str | None, keys: str | None, as_json: bool) -> None:
    """Check everything that Tenantry needs, and show a fix for each problem. Run the command where the service runs, as
    the service's user and with its settings.

    The command checks the settings, keys, store, migrations, run folder, audit trail, buses, clock, data sources and
    embedding hosts. It changes nothing. It exits with 1 if a check fails; warnings do not count.
    """
    for name in ("tenantry.backends.buses.subscription", "tenantry.datasources.declared_tables"):
        logging.getLogger(name).addHandler(logging.NullHandler())  # the result of the check says the same
    found = asyncio.run(_check(database, keys))
    rows = [{"check": each.check, "state": each.state, "found": each.found, "fix": each.fix} for each in found]
    lines = [{"check": each.check, "state": each.state, "found": each.sentence} for each in found]
    print_rows(rows if as_json else lines, as_json=as_json)
    failed = sum(each.state is CheckState.FAILED for each in found)
    if failed:
        print_note(f"{failed} of {len(found)} checks failed.")
        sys.exit(FAILED)


async def _check(database: str | None, keys: str | None) -> list[CheckResult]:
    from tenantry.backends.sql import SQLStore  # both import SQLAlchemy, which `--help` does not need
    from tenantry.cli.doctor_servers import check_buses, check_clock, check_hosts, check_sources

    try:
        chosen = settings(database=database, keys=keys)
    except WrongSettings as error:
        return [CheckResult("settings", CheckState.FAILED, error.message, "Correct the setting")]
    key_file = check_keys(chosen.keys)
    try:
        store = SQLStore(chosen.database, deadline=_STORE_SECONDS, usage_seconds=None)
    except InvalidSettings as error:
        return [
            key_file,
            CheckResult("store", CheckState.FAILED, error.message, "Correct --database (TENANTRY_DATABASE)"),
        ]
    try:
        of_store = await check_store(store)
        check = check_stored_keys if key_file.state is CheckState.OK else check_missing_file
        with suppress(TenantryError):  # the store's own check says why it cannot be read
            key_file = await check(chosen.keys, store) or key_file
        found = [key_file, *of_store, *await check_buses(chosen), await check_clock(chosen)]
        try:
            return [*found, *await check_sources(chosen, store, key_file), *await check_hosts(store)]
        except TenantryError:
            skipped = "the store cannot be read"
            return [
                *found,
                *(CheckResult(each, CheckState.SKIPPED, skipped) for each in ("data sources", "embedding hosts")),
            ]
    finally:
        await store.aclose()


_STORE_SECONDS = 5.0
