"""Building: the folder of a site on the disk, read without trust and written in one step."""

from tenantry_site.building.building import Built, OnProgress, build, diagnose, in_order
from tenantry_site.building.codes import CODES
from tenantry_site.building.reading import SiteFiles, open_entry
from tenantry_site.building.scanning import MARKER, Entry, Scan, scan

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
    "in_order",
    "open_entry",
    "scan",
]
