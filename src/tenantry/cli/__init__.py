"""The command line: ``tenantry`` (click). One module a noun; ``tenantry.cli.main`` gathers them."""

from __future__ import annotations

import sys


def main() -> None:
    """The entry point. Says which extra is missing where one is."""
    try:
        from tenantry.cli.main import commands
    except ModuleNotFoundError as missing:
        sys.exit(f"tenantry: the command line needs {missing.name}: pip install 'tenantry[server]'")
    commands(prog_name="tenantry")
