"""Outputs: what a site has beside its pages, made from what the pages say. Everything here takes and gives values."""

from tenantry.site.outputs.codes import CODES
from tenantry.site.outputs.digest import Part, digest
from tenantry.site.outputs.links import Linked, check, linked
from tenantry.site.outputs.llms import llms
from tenantry.site.outputs.places import places
from tenantry.site.outputs.redirects import Moved, Redirects, old_addresses, redirect
from tenantry.site.outputs.search import SearchIndex
from tenantry.site.outputs.sitemap import robots, sitemap
from tenantry.site.outputs.source import markdown

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
