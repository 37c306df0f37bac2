"""``python -m tenantry``: the command line."""

from tenantry.cli import main

main()
