from __future__ import annotations

from typing import Any

import click

from tenantry.cli.options import (
    database_option,
    host_option,
    keys_option,
    port_option,
    queries_option,
    query_contract_option,
    setting_option,
    settings,
)


@click.command()
@database_option
@keys_option
@host_option
@port_option
@setting_option(
    "--redis",
    metavar="URL",
    help="Valkey or Redis server to which each write is published. Set it if apps use this server as a bus or cache.",
)
@setting_option(
    "--listen-database",
    metavar="URL",
    help="Direct URL of a PostgreSQL store that is behind a pooler. The server uses it to check that "
    "notifications of writes arrive.",
)
@setting_option("--workers", type=int, help="Number of worker processes; default 1.")
@setting_option(
    "--metrics/--no-metrics", default=None, help="Serve /metrics for Prometheus, without authentication; default: no."
)
@setting_option("--api-contact", metavar="URL|MAIL", help="Contact for the OpenAPI documents; default none.")
@setting_option(
    "--api-source-hosts",
    metavar="HOSTS",
    help="Allowed hosts in the URLs of data sources that are registered over HTTP, separated by commas, such as "
    "db.example.com; default none.",
)
@queries_option
@query_contract_option
@setting_option(
    "--log-format",
    metavar="text|json",
    help="Format of the log on stderr; default text. With json, each request is also logged.",
)
@setting_option(
    "--drain-seconds",
    type=int,
    help="How many seconds after SIGTERM the server still accepts requests, while /readyz answers 503; default 1.",
)
@setting_option(
    "--header-seconds",
    type=int,
    help="How many seconds a client may take to send the head of a request before it gets 408; default 10.",
)
@setting_option(
    "--min-rate",
    type=int,
    metavar="BYTES",
    help="Minimum rate, in bytes per second, at which a client must send a request body and read a response; default "
    "500. 0 means no minimum.",
)
@setting_option(
    "--max-connections",
    type=int,
    help="Maximum number of connections per process; default: as many as the process's limit on open files allows, "
    "but at most 4096.",
)
@setting_option(
    "--max-connections-per-address",
    type=int,
    help="Maximum number of connections per process from one address; default: half of --max-connections. 0 means no "
    "limit. Loopback addresses never have a limit.",
)
@setting_option(
    "--proxy-address",
    metavar="ADDRESSES",
    help="Addresses and networks of proxies, separated by commas. They are exempt from --max-connections-per-address.",
)
def serve(**given: Any) -> None:
    """Bring the store's tables up to date, then serve /api/user until Ctrl-C or SIGTERM."""
    from tenantry.database.migrations import migrate as migrate_store
    from tenantry.server import Drain, Supervisor, listen, make_app, make_reporter, serve_process

    chosen = settings(**given)
    drain = Drain(chosen.drain_seconds)
    # Each worker makes its own app. With workers, this app is made too, so that errors are reported once.
    app = make_app(chosen, drain)
    migrate_store(chosen.database)
    listener = listen(chosen.host, chosen.port)
    report = make_reporter(chosen.log_format)

    def announce(url: str) -> None:
        report(f"Tenantry serves {url}/api/user  (OpenAPI: {url}/openapi.json). Ctrl-C stops it.")

    if chosen.workers == 1:
        serve_process(chosen, listener, app, drain, announce)
    else:
        Supervisor(chosen, listener).run(announce=announce)
