"""The command line: ``tenantry-site …``, and ``tenantry site …``, which tenantry finds by an entry point."""

from __future__ import annotations


def main() -> None:
    from tenantry_site.cli.commands import site

    site(prog_name="tenantry-site")
