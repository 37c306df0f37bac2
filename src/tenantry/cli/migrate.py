from __future__ import annotations

import sys

import click

from tenantry.cli.options import database_option, settings
from tenantry.cli.output import FAILED, print_note
from tenantry.errors import MigrationNeeded


@click.command()
@database_option
@click.option("--check", is_flag=True, help="Change nothing. Exit with 1 if the tables need a migration.")
def migrate(database: str | None, check: bool) -> None:
    """Bring the store's tables up to date. You can safely repeat this command, and run it on several hosts at once."""
    from tenantry.database.migrations import check as check_store
    from tenantry.database.migrations import migrate as migrate_store

    url = settings(database=database).database
    if not check:
        migrate_store(url)
        print_note("The store is up to date.")
        return
    try:
        check_store(url)
    except MigrationNeeded as needed:
        print_note(f"tenantry: {needed.message} [{needed.code}]")
        sys.exit(FAILED)
    print_note("The store is up to date.")
