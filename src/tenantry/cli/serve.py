"""``tenantry serve``, ``migrate`` and ``demo``: what starts something."""

from __future__ import annotations

import click

from tenantry.cli.options import database_option, keys_option
from tenantry.cli.output import say
from tenantry.settings import load_settings

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
    from tenantry.cli.server import run
    from tenantry.keys import SigningKeys
    from tenantry.migrations import migrate as migrate_store

    settings = load_settings(database=database, keys=keys, host=host, port=port)
    signing_keys = SigningKeys.from_file(settings.keys)
    migrate_store(settings.database)
    run(
        create_app(settings.database, signing_keys),
        host=settings.host,
        port=settings.port,
        announce=lambda url: say(f"Tenantry serves {url}/api/user  (OpenAPI: {url}/openapi.json). Ctrl-C stops it."),
    )


@click.command()
@database_option
def migrate(database: str | None) -> None:
    """Bring the store's tables up to date. Safe to run again, and at the same time from several hosts."""
    from tenantry.migrations import migrate as migrate_store

    migrate_store(load_settings(database=database).database)
    say("The store is up to date.")


@click.command()
@click.option(
    "--folder", type=click.Path(file_okay=False), default=".demo", show_default=True, help="Where its files go."
)
@host_option
@click.option("--port", type=int, default=8000, show_default=True, help="Port to listen on; 0 takes a free one.")
def demo(folder: str, host: str | None, port: int) -> None:
    """Show one live dashboard as different customers: real data, two data sources, nothing to set up."""
    from tenantry.cli.server import run
    from tenantry.demo.composition import prepare_demo

    prepared = prepare_demo(folder)
    run(prepared.app, host=host or "127.0.0.1", port=port, announce=lambda url: say(prepared.addresses(url)))
