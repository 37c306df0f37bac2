"""``commands``: the group of all commands, and the one place where an error becomes words and an exit code."""

from __future__ import annotations

import sys
from typing import Any

import click

from tenantry import __version__
from tenantry.cli.api_token import api_token
from tenantry.cli.audit import audit
from tenantry.cli.data_source import data_source
from tenantry.cli.environment import environment
from tenantry.cli.group import group
from tenantry.cli.keys import keys
from tenantry.cli.serve import demo, migrate, serve
from tenantry.cli.sql import sql
from tenantry.errors import StoreUnavailable, TenantryError

FAILED, UNAVAILABLE = 1, 3

_EXTRAS = {
    "alembic": "server",
    "asyncpg": "postgres",
    "duckdb": "duckdb",
    "prometheus_client": "metrics",
    "pydantic_settings": "server",
    "pymysql": "mysql",
    "redis": "redis",
    "uvicorn": "server",
}
"""Which extra brings a module that may be missing."""


class _Commands(click.Group):
    """Says what went wrong in one line on stderr. Exit codes: 1 refused, 2 wrong usage, 3 the store is unavailable."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except TenantryError as error:
            where = f"{error.field.strip('/')}: " if error.field else ""
            click.echo(f"tenantry: {where}{error.message} [{error.code}]", err=True)
            sys.exit(UNAVAILABLE if isinstance(error, StoreUnavailable) else FAILED)
        except ModuleNotFoundError as missing:
            extra = _EXTRAS.get((missing.name or "").partition(".")[0])
            if extra is None:
                raise
            click.echo(f"tenantry: this needs {missing.name}: pip install 'tenantry[{extra}]'", err=True)
            sys.exit(FAILED)


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, prog_name="tenantry")
def commands() -> None:
    """The tenancy layer of embedded dashboards.

    Settings come from options, then environment variables (TENANTRY_…), then the file that TENANTRY_CONFIG names
    (default ./tenantry.toml). Secrets and ids are printed alone on stdout, all other words go to stderr.
    """


for _command in (demo, serve, migrate, keys, environment, api_token, data_source, group, sql, audit):
    commands.add_command(_command)
