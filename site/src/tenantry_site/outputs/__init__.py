"""Outputs: what a site has beside its pages, made from what the pages say. Everything here takes and gives values."""

from tenantry_site.outputs.codes import CODES
from tenantry_site.outputs.digest import Part, digest
from tenantry_site.outputs.links import Linked, check, linked
from tenantry_site.outputs.llms import llms
from tenantry_site.outputs.places import places
from tenantry_site.outputs.redirects import Moved, Redirects, old_addresses, redirect
from tenantry_site.outputs.search import SearchIndex
from tenantry_site.outputs.sitemap import robots, sitemap
from tenantry_site.outputs.source import markdown

__all__ = [
    "CODES",
    "Linked",
    "Moved",
    "Part",
    "Redirects",
    "SearchIndex",
    "check",
    "digest",
    "linked",
    "llms",
    "markdown",
    "old_addresses",
    "places",
    "redirect",
    "robots",
    "sitemap",
]
