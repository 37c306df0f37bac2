"""Builds a site on disk: reads its folder as untrusted input, and replaces the output folder in one step."""

from tenantry_site.building.builder import Built, OnProgress, build, diagnose, sort_diagnostics
from tenantry_site.building.git_remote import with_repository
from tenantry_site.building.site_files import CODES, MARKER, Entry, Scan, SiteFiles, open_entry, scan

__all__ = [
    "CODES",
    "MARKER",
    "Built",
    "Entry",
    "OnProgress",
    "Scan",
    "SiteFiles",
    "build",
    "diagnose",
    "open_entry",
    "scan",
    "sort_diagnostics",
    "with_repository",
]
