"""The command line ``tenantry`` (click)."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any

import click

from tenantry import __version__
from tenantry.cli.extras import extra_of
from tenantry.cli.output import FAILED
from tenantry.cli.plugins import GroupCommands
from tenantry.errors import StoreUnavailable, TenantryError
from tenantry.tokens import mask_within

UNAVAILABLE = 3


class _Commands(click.Group):
    """The root command. For a TenantryError, a missing package or an OSError with a file name, it prints a message
    instead of a traceback. Exit codes: 1 failed, 2 incorrect usage, 3 store unavailable."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except TenantryError as error:
            field = f"{error.field.strip('/')}: " if error.field else ""
            # A message may quote an id, for which the user may have pasted a token.
            click.echo(mask_within(f"tenantry: {field}{error.message} [{error.code}]"), err=True)
            sys.exit(UNAVAILABLE if isinstance(error, StoreUnavailable) else FAILED)
        except ModuleNotFoundError as missing:
            extra = extra_of(missing.name or "")
            if extra is None:
                raise
            click.echo(f"tenantry: this needs {missing.name}: pip install 'tenantry[{extra}]'", err=True)
            sys.exit(FAILED)
        except OSError as error:
            if error.filename is None:  # not about a file
                raise
            click.echo(mask_within(f"tenantry: cannot use {error.filename}: {error.strerror}"), err=True)
            sys.exit(FAILED)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        try:
            return super().get_command(ctx, cmd_name)
        except ModuleNotFoundError:
            if not ctx.resilient_parsing:
                raise
            return None  # during shell completion; running the command prints the package to install


_MODULES = {
    "api-token": "tenantry.cli.api_token",
    "audit": "tenantry.cli.audit",
    "dashboards": "tenantry.cli.dashboards",
    "data-source": "tenantry.cli.data_source",
    "demo": "tenantry.cli.demo",
    "doctor": "tenantry.cli.doctor",
    "edit": "tenantry.cli.edit",
    "editor": "tenantry.cli.editor",
    "environment": "tenantry.cli.environment",
    "group": "tenantry.cli.group",
    "keys": "tenantry.cli.keys",
    "migrate": "tenantry.cli.migrate",
    "serve": "tenantry.cli.serve",
    "sql": "tenantry.cli.sql",
    "usage": "tenantry.cli.usage",
}


class _OwnCommands(Mapping[str, click.Command]):
    def __getitem__(self, name: str) -> click.Command:
        command: click.Command = getattr(import_module(_MODULES[name]), name.replace("-", "_"))
        return command

    def __iter__(self) -> Iterator[str]:
        return iter(_MODULES)

    def __len__(self) -> int:
        return len(_MODULES)


@click.group(
    cls=_Commands,
    commands=GroupCommands(_OwnCommands()),
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)
@click.version_option(__version__, prog_name="tenantry")
def commands() -> None:
    """Tenantry, the tenancy layer of embedded dashboards.

    Settings come from options, environment variables (TENANTRY_…) and the settings file (TENANTRY_CONFIG, default
    ./tenantry.toml). An option overrides a variable, and a variable overrides the file. A command prints its result on
    stdout, and everything else on stderr.
    """


def main() -> None:
    """Run the command ``tenantry``."""
    gc.set_threshold(10_000)  # a command mostly imports; with Python's default, garbage collection takes a tenth of it
    try:
        commands(prog_name="tenantry")
    finally:
        if "duckdb" not in sys.modules:  # it reports frozen objects as leaks
            gc.freeze()  # to free each object that is left takes a fifth of a command's time


__all__ = ["main"]
