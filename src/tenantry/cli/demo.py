from __future__ import annotations

from pathlib import Path

import click

from tenantry.cli.options import host_option, port_option, settings
from tenantry.cli.output import print_note


@click.command()
@click.option(
    "--folder",
    type=click.Path(file_okay=False),
    default=".demo",
    show_default=True,
    help="Folder for the demo's files.",
)
@host_option
@port_option
def demo(folder: str, host: str | None, port: int | None) -> None:
    """Serve a sample product that embeds live dashboards for three customers, with real data and no setup."""
    from tenantry.demo import prepare_demo
    from tenantry.server import by_port, listen, listen_next, run, url_of

    # Listen first: if a demo is running here, fail before the preparation replaces its API token.
    chosen = settings(host=host, port=port)
    with listen(chosen.host, chosen.port) as listener, listen_next(listener) as next_port:
        print_note("Preparing the demo: data, dashboards, documentation …")
        prepared = prepare_demo(Path(folder), url_of(listener), url_of(next_port))
        run(
            by_port(prepared.app, {next_port: prepared.product}),
            listener,
            announce=lambda url: print_note(prepared.text),
            prepare=prepared.open_pages,
            further=[next_port],
        )
