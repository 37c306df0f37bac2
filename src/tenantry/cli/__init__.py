"""The command line: ``tenantry`` (click). One module a noun; ``tenantry.cli.main`` gathers them."""

from __future__ import annotations


def main() -> None:
    """The entry point."""
    from tenantry.cli.main import commands

    commands(prog_name="tenantry")
