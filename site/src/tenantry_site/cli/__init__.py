"""The command line: ``tenantry-site …`` alone, ``tenantry site …`` by an entry point of tenantry's."""

from __future__ import annotations


def main() -> None:
    """The entry point of ``tenantry-site``."""
    from tenantry_site.cli.commands import site

    site(prog_name="tenantry-site")
