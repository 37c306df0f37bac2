from __future__ import annotations

from tenantry_site.cli import main

main()
