"""The command line: ``tenantry`` (click). One module a noun; ``tenantry.cli.commands`` is the group of all commands."""

from tenantry.cli.commands import main

__all__ = ["main"]
