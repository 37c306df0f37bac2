"""``tenantry serve``, ``migrate`` and ``demo``: what starts something."""

from __future__ import annotations

import click

from tenantry.cli.options import database_option, keys_option, settings
from tenantry.cli.output import say

host_option = click.option(
    "--host", envvar="TENANTRY_HOST", show_envvar=True, help="Address to listen on; default 127.0.0.1."
)


@click.command()
@database_option
@keys_option
@host_option
@click.option("--port", type=int, envvar="TENANTRY_PORT", show_envvar=True, help="Default 8000; 0 takes a free one.")
def serve(database: str | None, keys: str | None, host: str | None, port: int | None) -> None:
    """Serve /api/user, after bringing the store's tables up to date."""
    from tenantry.app import create_app
    from tenantry.cli.server import listen, run
    from tenantry.keys import SigningKeys
    from tenantry.migrations import migrate as migrate_store

    chosen = settings(database=database, keys=keys, host=host, port=port)
    signing_keys = SigningKeys.from_file(chosen.keys)
    migrate_store(chosen.database)
    run(
        create_app(chosen.database, signing_keys),
        listen(chosen.host, chosen.port),
        announce=lambda url: say(f"Tenantry serves {url}/api/user  (OpenAPI: {url}/openapi.json). Ctrl-C stops it."),
    )


@click.command()
@database_option
def migrate(database: str | None) -> None:
    """Bring the store's tables up to date. Safe to run again, and at the same time from several hosts."""
    from tenantry.migrations import migrate as migrate_store

    migrate_store(settings(database=database).database)
    say("The store is up to date.")


@click.command()
@click.option(
    "--folder", type=click.Path(file_okay=False), default=".demo", show_default=True, help="Where its files go."
)
@host_option
@click.option(
    "--port",
    type=click.IntRange(0, 65_535),
    default=8000,
    show_default=True,
    help="Port to listen on; 0 takes a free one.",
)
def demo(folder: str, host: str | None, port: int) -> None:
    """Show one live dashboard as different customers: real data, two data sources, nothing to set up."""
    from tenantry.cli.server import listen, run
    from tenantry.demo.composition import prepare_demo

    with listen(host or "127.0.0.1", port) as listener:  # first: each start replaces the API token of the one before
        prepared = prepare_demo(folder)
        run(prepared.app, listener, announce=lambda url: say(prepared.addresses(url)))
