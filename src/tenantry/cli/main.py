"""``commands``: the group of all commands, and the one place where an error becomes words and an exit code."""

from __future__ import annotations

import sys
from collections.abc import Iterator, MutableMapping
from importlib import import_module
from typing import Any

import click

from tenantry import __version__
from tenantry.errors import StoreUnavailable, TenantryError
from tenantry.tokens import mask_within

FAILED, UNAVAILABLE = 1, 3

_EXTRAS = {
    "alembic": "server",
    "asyncpg": "postgres",
    "psycopg": "postgres",
    "duckdb": "duckdb",
    "h11": "site",
    "markdown_it": "site",
    "mdit_py_plugins": "site",
    "nh3": "site",
    "prometheus_client": "metrics",
    "pydantic_settings": "server",
    "pygments": "site",
    "pymysql": "mysql",
    "redis": "redis",
    "uvicorn": "server",
    "yaml": "site",
}
"""Which extra brings a module that may be missing."""


class _Commands(click.Group):
    """Says what went wrong in one line on stderr. Exit codes: 1 refused, 2 wrong usage, 3 the store is unavailable."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except TenantryError as error:
            where = f"{error.field.strip('/')}: " if error.field else ""
            # A message may name an id that was given, and a token may have been pasted for one.
            click.echo(mask_within(f"tenantry: {where}{error.message} [{error.code}]"), err=True)
            sys.exit(UNAVAILABLE if isinstance(error, StoreUnavailable) else FAILED)
        except ModuleNotFoundError as missing:
            extra = _EXTRAS.get((missing.name or "").partition(".")[0])
            if extra is None:
                raise
            click.echo(f"tenantry: this needs {missing.name}: pip install 'tenantry[{extra}]'", err=True)
            sys.exit(FAILED)


class _Homes(MutableMapping[str, click.Command]):
    """Commands by their names, each loaded from its module when it is first asked for: a build of a site needs no SQL
    parser, and a query no Markdown."""

    def __init__(self, homes: dict[str, str]) -> None:
        self._homes = homes
        self._loaded: dict[str, click.Command] = {}

    def __getitem__(self, name: str) -> click.Command:
        if name not in self._loaded:
            self._loaded[name] = getattr(import_module(self._homes[name]), name.replace("-", "_"))
        return self._loaded[name]

    def __setitem__(self, name: str, command: click.Command) -> None:
        self._loaded[name] = command
        self._homes.setdefault(name, "")

    def __delitem__(self, name: str) -> None:
        self._loaded.pop(name, None)
        del self._homes[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._homes)

    def __len__(self) -> int:
        return len(self._homes)


_HOMES = _Homes(
    {
        "api-token": "tenantry.cli.api_token",
        "audit": "tenantry.cli.audit",
        "data-source": "tenantry.cli.data_source",
        "demo": "tenantry.cli.serve",
        "environment": "tenantry.cli.environment",
        "group": "tenantry.cli.group",
        "keys": "tenantry.cli.keys",
        "migrate": "tenantry.cli.serve",
        "serve": "tenantry.cli.serve",
        "site": "tenantry.cli.site",
        "sql": "tenantry.cli.sql",
    }
)


@click.group(
    cls=_Commands, commands=_HOMES, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110}
)
@click.version_option(__version__, prog_name="tenantry")
def commands() -> None:
    """The tenancy layer of embedded dashboards.

    Settings come from options, then environment variables (TENANTRY_…), then the file that TENANTRY_CONFIG names
    (default ./tenantry.toml). Secrets and ids are printed alone on stdout, all other words go to stderr.
    """
